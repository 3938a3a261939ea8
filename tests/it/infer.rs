//! Drafts of profiles from recordings of agents that have no profile yet.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::streams::{program, root, text};

/// The events of an invented agent: `calls` calls of two tools, and an answer.
fn agent(session: &str, calls: u64, failed: bool) -> String {
    let event = |kind: &str, step: Option<&str>, more: Value| {
        let mut event = json!({ "kind": kind, "run": session });
        event["step"] = step.into();
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        event
    };
    let says =
        |text: &str| event("says", None, json!({ "parts": [{ "kind": "prose", "words": text }] }));
    let time = |at: u64| 1_800_000_000_000_u64 + at;
    let mut events = vec![
        event("setting", Some("up"), json!({ "place": "/home/me/shop", "version": "3.1" })),
        event("asks", None, json!({ "parts": [{ "kind": "prose", "words": "Count the carts." }] })),
        says("I count them one by one.\n"),
    ];
    for number in 0..calls {
        let id = format!("{session}-c{number}");
        let (tool, asked) = match number % 2 {
            0 => ("peekJob", json!({ "file": format!("cart{number}.txt") })),
            _ => ("execJob", json!({ "line": "wc -l" })),
        };
        let job = |result: Value| json!({ tool: { "asked": asked, "got": result } });
        let (begun, over) = (time(number * 100), time(number * 100 + 50));
        events.push(event(
            "job",
            Some("begun"),
            json!({ "job_id": id, "job": job(Value::Null), "at": begun }),
        ));
        let result = json!({ "lines": number });
        events.push(event(
            "job",
            Some("over"),
            json!({ "job_id": id, "job": job(result), "at": over }),
        ));
    }
    events.push(says("There are three carts."));
    let answer = "I count them one by one.\nThere are three carts.";
    let outcome = if failed {
        json!({ "is_error": true, "why": "out of memory" })
    } else {
        json!({ "is_error": false, "answer": answer })
    };
    events.push(event("closing", Some("words"), outcome));
    events.into_iter().map(|event| event.to_string() + "\n").collect()
}

struct Drafted {
    profile: Value,
    file: PathBuf,
    evidence: String,
    _folder: TempDir,
}

/// Drafts a profile from recordings with these texts, and saves it.
fn drafted(recordings: &[String]) -> Drafted {
    let folder = TempDir::new().unwrap();
    for (number, recording) in recordings.iter().enumerate() {
        fs::write(folder.path().join(format!("{number}.ndjson")), recording).unwrap();
    }
    let output = program().args(["profiles", "draft"]).arg(folder.path()).output().unwrap();
    let evidence = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{evidence}");
    let file = folder.path().join("profile.json");
    fs::write(&file, &output.stdout).unwrap();
    let profile = serde_json::from_slice(&output.stdout).unwrap();
    Drafted { profile, file, evidence, _folder: folder }
}

impl Drafted {
    /// Checks recordings with the drafted profile; the report.
    fn check(&self, recordings: &[String], code: i32) -> String {
        let folder = TempDir::new().unwrap();
        for (number, recording) in recordings.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.ndjson")), recording).unwrap();
        }
        let output =
            program().arg("--profile").arg(&self.file).arg(folder.path()).output().unwrap();
        let report = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{report}\n{}", self.profile);
        report
    }
}

/// Goal: a draft contains what a reader of the recordings would find, and the evidence for it.
#[test]
fn a_draft_finds_the_parts_of_a_profile() {
    let recordings = [agent("r-81", 4, false), agent("r-82", 3, false), agent("r-83", 1, true)];
    let draft = drafted(&recordings);
    let profile = &draft.profile;
    assert_eq!(profile["tags"]["at"], json!(["/kind", "/step"]));
    let job = |step: &str| json!({ "/kind": "job", "/step": step });
    let start = json!([{ "when": { "/kind": "setting", "/step": "up" } }]);
    let session = json!({ "id": ["/run"], "start": start, "time": "/at" });
    assert_eq!(profile["session"], session);
    let calls = &profile["calls"];
    assert_eq!(calls["start"], json!([{ "when": job("begun"), "id": ["/job_id"] }]));
    assert_eq!(calls["completion"][0]["when"], job("over"));
    assert_eq!(calls["completion"][0]["id"], json!(["/job_id"]));
    assert_eq!(calls["tool"], json!([{ "key": "/job/*Job" }]));
    let words = json!({ "mode": "whole", "when": { "/kind": "says" }, "each": "/parts",
        "where": { "/kind": "prose" }, "value": "/words" });
    assert_eq!(profile["text"]["rules"][0], words);
    assert_eq!(profile["text"]["rules"][1]["value"], "/answer");
    let rules = profile["end"]["rules"].as_array().unwrap();
    assert_eq!(rules[0]["outcome"], "failure");
    assert_eq!(rules[0]["when"]["/is_error"], true);
    assert_eq!(rules[1]["outcome"], "success");
    for evidence in [
        "3 recordings, 31 events",
        "8 of 8 ids at `job/begun` `/job_id` occur again at `job/over` `/job_id`, which has 8 ids",
        "the last event in 3 of 3 recordings, and occurs nowhere else",
    ] {
        assert!(draft.evidence.contains(evidence), "{}", draft.evidence);
    }
}

/// Goal: a draft is a working profile: it accepts its recordings, and finds what is missing.
#[test]
fn a_draft_accepts_its_recordings_and_misses_what_is_missing() {
    let good = [agent("r-81", 4, false), agent("r-82", 3, false)];
    let draft = drafted(&good);
    let report = draft.check(&good, 0);
    assert!(report.contains("2 streams: 2 passed"), "{report}");
    let without = |wrong: &str| -> String {
        good[0]
            .lines()
            .filter(|line| !line.contains(wrong))
            .map(|line| line.to_owned() + "\n")
            .collect()
    };
    for (wrong, rule) in [
        (r#""step":"words""#, "missing-terminal-event"),
        (r#""step":"up""#, "missing-session-start"),
        ("There are three carts.\"}", "final-text-mismatch"),
    ] {
        let report = draft.check(&[without(wrong)], 1);
        assert!(report.contains(rule), "{report}");
    }
    let mut lines: Vec<&str> = good[0].lines().collect();
    lines.retain(|line| !(line.contains("c2") && line.contains("over")));
    let report = draft.check(&[lines.join("\n") + "\n"], 1);
    assert!(report.contains("unfinished-call"), "{report}");
    let other = good[0].replace(r#""lines":1"#, r#""lines":"one""#);
    assert!(draft.check(&[other], 1).contains("schema-violation"));
}

/// Goal: chunks are distinguished from the whole text that repeats them at the same path.
#[test]
fn a_draft_distinguishes_chunks_from_their_repeats() {
    let says = |text: &str, partial: bool| {
        let mut event = json!({ "kind": "says", "run": "r-9", "text": text });
        if partial {
            event["partial"] = true.into();
        }
        event.to_string() + "\n"
    };
    let stream = [
        json!({ "kind": "begins", "run": "r-9" }).to_string() + "\n",
        says("There are ", true),
        says("three carts", true),
        says(" in all.", true),
        says("There are three carts in all.", false),
        json!({ "kind": "ends", "run": "r-9", "answer": "There are three carts in all." })
            .to_string()
            + "\n",
    ];
    let recordings = [stream.concat()];
    let draft = drafted(&recordings);
    let rule = &draft.profile["text"]["rules"][0];
    assert_eq!(rule["mode"], "delta", "{}", draft.profile);
    assert_eq!(rule["when"], json!({ "/kind": "says", "/partial": { "exists": true } }));
    assert_eq!(draft.profile["text"]["rules"][1]["mode"], "whole");
    draft.check(&recordings, 0);
}

/// These events, one a line.
fn lines(events: &[Value]) -> String {
    events.iter().map(|event| event.to_string() + "\n").collect()
}

/// The first half of a recording.
fn half(recording: &str) -> String {
    let lines: Vec<&str> = recording.lines().collect();
    lines[..lines.len() / 2].join("\n") + "\n"
}

/// Goal: an event may be the end although it also occurs elsewhere; a cut stream is found.
#[test]
fn a_draft_has_an_end_that_occurs_elsewhere() {
    let begins = || json!({ "kind": "begins", "run": "r-1", "no": 1 });
    let pause = |reason: &str| json!({ "kind": "pause", "run": "r-1", "reason": reason });
    let says = || json!({ "kind": "says", "run": "r-1" });
    let distinct = lines(&[begins(), says(), pause("work"), begins(), says(), pause("over")]);
    let vague = lines(&[begins(), pause("work"), says(), says(), begins(), pause("work")]);
    let failed = lines(&[begins(), says(), json!({ "kind": "aborted", "run": "r-1" })]);
    for (stream, reason) in [(&distinct, Some("over")), (&vague, None)] {
        let draft = drafted(&[stream.clone(), stream.clone(), failed.clone()]);
        let rules = draft.profile["end"]["rules"].as_array().unwrap();
        assert_eq!(rules[0]["outcome"], "failure", "{rules:?}");
        assert_eq!(rules[1]["provisional"], true, "{rules:?}");
        assert_eq!(rules[1]["when"]["/reason"].as_str(), reason);
        for evidence in ["2 of 3 recordings, and occurs elsewhere 2 times", "every other end is"] {
            assert!(draft.evidence.contains(evidence), "{}", draft.evidence);
        }
        draft.check(std::slice::from_ref(stream), 0);
        draft.check(std::slice::from_ref(&failed), 3);
        assert!(draft.check(&[half(stream)], 1).contains("missing-terminal-event"));
    }
}

/// Goal: the last event of a killed run is no end, and neither is the one before half a line.
#[test]
fn a_draft_takes_no_killed_run_for_an_end() {
    let begins = || json!({ "kind": "begins", "run": "r-1" });
    let good = lines(&[begins(), json!({ "kind": "says" }), json!({ "kind": "finish" })]);
    let failed = lines(&[begins(), json!({ "kind": "says" }), json!({ "kind": "gaveUp.failed" })]);
    let killed = lines(&[begins(), json!({ "kind": "waiting_for_model" })]);
    let cut = format!("{killed}{{\"kind\":\"says");
    for recordings in [[&good, &good, &failed, &killed], [&good, &failed, &failed, &cut]] {
        let recordings = recordings.map(String::clone);
        let draft = drafted(&recordings);
        assert!(draft.evidence.contains("1 recording without one of these"), "{}", draft.evidence);
        draft.check(&recordings[..1], 0);
        draft.check(&recordings[2..3], if recordings[2] == good { 0 } else { 3 });
        draft.check(&recordings[3..], 1);
    }
    // Some agents write more behind the end.
    let more = format!("{good}{}", lines(&[json!({ "kind": "memory.saved" })]));
    let recordings = [good.clone(), good, more];
    drafted(&recordings).check(&recordings, 0);
}

/// Goal: texts one after the other are whole if the last of them is the answer; an event without
/// a tag is known; a call that was denied did not succeed.
#[test]
fn a_draft_accepts_whole_texts_and_events_without_a_tag() {
    let call = |kind: &str, status: Option<&str>| {
        let (id, tool) = ("call-1", "run");
        json!({ "kind": kind, "call_id": id, "tool": tool, "status": status })
    };
    let recording = lines(&[
        json!({ "kind": "boot" }),
        json!({ "beat": 1 }),
        call("call_begin", None),
        call("call_end", Some("denied")),
        json!({ "kind": "utter", "words": "Let me look." }),
        json!({ "kind": "utter", "words": "All is well." }),
        json!({ "kind": "finish", "answer": "All is well." }),
    ]);
    let recordings = [recording];
    let report = drafted(&recordings).check(&recordings, 0);
    assert!(report.contains("1 call (1 failed)") && !report.contains("warning"), "{report}");
}

/// Goal: if the start occurs again after an end, the draft has turns.
#[test]
fn a_draft_has_turns() {
    let begins = || json!({ "kind": "begins", "run": "r-1" });
    let says = |text: &str| json!({ "kind": "says", "run": "r-1", "text": text });
    let ends = |text: &str| json!({ "kind": "ends", "run": "r-1", "result": text });
    let turn = |text: &str| [begins(), says(text), says("..."), ends(text)];
    let stream = lines(&[turn("shop-1"), turn("cart-2"), turn("till-3")].concat());
    let draft = drafted(std::slice::from_ref(&stream));
    let start = json!([{ "when": { "/kind": "begins" } }]);
    assert_eq!(draft.profile["end"]["reopen"], start);
    assert_eq!(draft.profile["session"]["repeats"], "each_turn");
    assert_eq!(draft.profile["calls"], Value::Null, "{}", draft.evidence);
    draft.check(std::slice::from_ref(&stream), 0);
    draft.check(&[half(&stream)], 1);
}

/// Goal: values that occur again but are not ids of calls are not drafted as tool calls.
#[test]
fn a_draft_invents_no_calls() {
    let both = |key: &str, value: &str, tags: [&str; 2]| {
        let event = |tag: &str| json!({ "kind": tag, key: value });
        let (first, last) = (json!({ "kind": "begins" }), json!({ "kind": "ends" }));
        let stream = [first, event(tags[0]), json!({ "kind": "waits" }), event(tags[1]), last];
        drafted(&[lines(&stream)]).profile["calls"].clone()
    };
    let tags = ["asks", "answers"];
    assert_eq!(both("words", "a1 b2", tags), Value::Null);
    assert_eq!(both("words", "shop-1", tags), Value::Null);
    assert_eq!(both("model", "owl-3", ["tool_asks", "tool_answers"]), Value::Null);
    assert_eq!(both("message_id", "m-7", tags), Value::Null);
    assert_eq!(both("call_id", &"7".repeat(300), tags), Value::Null);
    assert_eq!(both("call_id", "c-7", tags)["start"][0]["id"], json!(["/call_id"]));
    let word = both("mark", "c-7", ["tool_asks", "tool_answers"]);
    assert_eq!(word["start"][0]["id"], json!(["/mark"]));
    let life = ["made", "seen", "taken", "begun", "done"];
    let life = (1..4)
        .flat_map(|no| life.map(|tag| json!({ "kind": tag, "job_id": no.to_string() + "-x" })));
    let first = [json!({ "kind": "begins" })];
    let stream: Vec<Value> =
        first.into_iter().chain(life).chain([json!({ "kind": "ends" })]).collect();
    assert_eq!(drafted(&[lines(&stream)]).profile["calls"], Value::Null);
}

/// Goal: a draft accepts its recordings, whatever they contain.
#[test]
fn a_draft_of_anything_accepts_it() {
    let streams: [&[&str]; 6] = [
        &["{}\n"],
        &["{\"a\":1}\n{\"a\":null}\n", "{\"b\":[[1],{}]}\n"],
        &["{\"*x\":{\"*y\":\"1\"},\"^z\":\"a\"}\n{\"*x\":{\"*y\":\"2\"},\"^z\":\"b\"}\n"],
        &["{\"t\":\"a\",\"x\":\"\\u001b[2J::set-env\"}\n{\"t\":\"b/c\"}\n{\"t\":\"~\"}\n"],
        &["{\"t\":\"a\",\"i\":\"x1y\"}\n{\"t\":\"b\",\"i\":\"x1y\"}\n\
             {\"t\":\"b\",\"i\":\"x1y\"}\n"],
        &["{\"t\":\"a\",\"s\":1.5}\n{\"t\":\"b\",\"s\":9007199254740993}\n{\"t\":\"a\"}\n"],
    ];
    for recordings in streams {
        let recordings: Vec<String> = recordings.iter().map(|text| (*text).to_owned()).collect();
        let draft = drafted(&recordings);
        draft.check(&recordings, 0);
        assert!(!draft.evidence.contains('\u{1b}'), "{}", draft.evidence);
    }
}

/// Goal: from its fixtures alone, a draft finds the outline of a built-in profile.
#[test]
fn a_draft_from_fixtures_accepts_them() {
    let names = ["plain", "partial", "parallel-calls", "thinking", "tools-shell", "tools-files"];
    let read = |name: &&str| {
        fs::read_to_string(root().join(format!("fixtures/agents/cursor/{name}.ndjson"))).unwrap()
    };
    let recordings: Vec<String> = names.iter().map(read).collect();
    let draft = drafted(&recordings);
    assert_eq!(draft.profile["tags"]["at"], json!(["/type", "/subtype"]));
    assert_eq!(draft.profile["session"]["id"], json!(["/session_id"]));
    assert_eq!(draft.profile["calls"]["start"][0]["id"], json!(["/call_id"]));
    assert_eq!(draft.profile["text"]["rules"].as_array().unwrap().len(), 3);
    draft.check(&recordings, 0);
}

/// Goal: unusable recordings are refused with one line.
#[test]
fn what_is_no_recording_is_refused() {
    let folder = TempDir::new().unwrap();
    let noise = folder.path().join("noise.ndjson");
    fs::write(&noise, "hello\n[1]\n").unwrap();
    let (noise, nowhere) = (noise.to_str().unwrap(), "/no/such/file");
    for files in [&["-"][..], &[nowhere], &[noise], &[], &[noise, "--to", "text"]] {
        let output = program().args(["profiles", "draft"]).args(files).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{files:?}");
        assert_eq!(
            (text(&output.stdout), text(&output.stderr).lines().count()),
            (String::new(), 1)
        );
    }
}

/// Goal: one wide event does not exhaust memory: a copy of its keys for each of its strings took
/// 2 GiB.
#[test]
#[cfg(target_os = "linux")]
fn a_draft_of_one_wide_event_needs_little_memory() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("wide.ndjson");
    let event: Value =
        (0..20_000).map(|key| (format!("m{key}"), json!(format!("v{key}")))).collect();
    fs::write(&file, event.to_string()).unwrap();
    let script = "ulimit -v 524288 && exec \"$P\" profiles draft \"$0\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).arg(&file).env("P", crate::streams::PROGRAM);
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let evidence = text(&output.stderr);
    assert!(evidence.contains("1 recording, 1 event"), "{evidence}");
}
