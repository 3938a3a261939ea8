//! Redaction of content: what it replaces, and that the stream is judged the same.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::{
    Checker, Diagnostic, Observer, ProducerExit, Redactor, Rule, Severity, StreamSummary,
};

use serde_json::{Value, json};

use crate::streams::{checker, files, judge, root, run_on, shared, some_cases, text};

/// Observes for a redactor, and collects.
struct Observed {
    redactor: Redactor,
    found: Vec<Diagnostic>,
}

impl Observer for Observed {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.redactor.diagnostic(diagnostic);
        self.found.push(diagnostic.clone());
    }
}

/// Checks a stream, and redacts it in pieces.
pub(crate) fn redacted(
    checker: &mut Checker,
    stream: &[u8],
    size: usize,
) -> (Vec<u8>, Option<(StreamSummary, Vec<Diagnostic>)>) {
    let redactor = Redactor::content(checker, &[]);
    let mut observed = Observed { redactor, found: Vec::new() };
    let (mut out, mut first) = (Vec::new(), checker.stream("-"));
    let mut failed = false;
    for piece in stream.chunks(size) {
        failed |= first.feed(piece, &mut observed).is_err();
        observed.redactor.feed(piece, &mut out);
        if failed {
            break;
        }
    }
    let summary = first.finish(&ProducerExit::default(), &mut observed).ok();
    observed.redactor.finish(&mut out);
    (out, summary.map(|summary| (summary, observed.found)))
}

/// What must be the same in the copy.
fn judgement(of: &(StreamSummary, Vec<Diagnostic>)) -> String {
    let (summary, found) = of;
    let found: Vec<(Rule, Severity, Option<u64>)> =
        found.iter().map(|it| (it.rule, it.severity, it.line)).collect();
    let StreamSummary { profile, verdict, outcome, lines, events, bytes, .. } = summary;
    let facts = (&summary.facts.reason, &summary.facts.commands, &summary.facts.usage);
    let counts = (&summary.rule_counts, &summary.call_counts, &summary.text_bytes);
    format!(
        "{profile} {verdict:?} {outcome:?} {lines} {events} {bytes} {facts:?} {counts:?} {found:#?}"
    )
}

/// Some of the fixtures with their flags, and every recording.
fn streams() -> Vec<(String, Checker, Vec<u8>)> {
    let mut streams: Vec<_> = some_cases(2)
        .map(|case| (case.path.display().to_string(), case.checker(), case.bytes()))
        .collect();
    let mut folders = vec![root().join("lab/recordings")];
    folders.extend(shared("captures"));
    for path in folders.iter().flat_map(|folder| files(folder, "ndjson")) {
        streams.push((path.display().to_string(), checker([]), fs::read(&path).unwrap()));
    }
    streams
}

/// Goal: a copy without content is judged as the stream itself.
#[test]
fn redacted_streams_are_judged_the_same() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, mut checker, stream) in streams() {
        let (copy, summary) = redacted(&mut checker, &stream, 1 << 16);
        let mut found = Vec::new();
        let again = checker.check("-", &copy[..], &mut found).ok();
        let (first, again) =
            (summary.map(|it| judgement(&it)), again.map(|it| judgement(&(it, found))));
        checked += 1;
        if first != again || copy.len() != stream.len() {
            wrong.push(format!(
                "{name}\n{}\n{}",
                first.unwrap_or_default(),
                again.unwrap_or_default()
            ));
        }
    }
    assert!(wrong.is_empty() && checked > 600, "{checked}\n{}", wrong.join("\n"));
}

/// Words of the prose and paths of a stream: those in strings with a space or a slash.
fn words(value: &Value, key: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.contains([' ', '/', '\n']) && !is_name(key) => {
            let words = text.split(|it: char| !it.is_alphanumeric());
            into.extend(words.filter(|it| it.chars().count() > 4).map(str::to_owned));
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, key, into)),
        Value::Object(members) => members.iter().for_each(|(key, it)| words(it, key, into)),
        _ => {}
    }
}

fn is_name(key: &str) -> bool {
    key == "model" || key.ends_with("id") || key.ends_with("Id")
}

/// Words that may stay: those of the keys, of the profiles, and of strings that are one word.
fn structure(value: &Value, key: &str, into: &mut BTreeSet<String>) {
    let mut add = |text: &str| {
        into.extend(text.split(|it: char| !it.is_alphanumeric()).map(str::to_owned));
    };
    match value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => arguments.keys().for_each(|key| add(key)),
            _ if is_name(key) || !text.contains([' ', '/', '\n']) => add(text),
            _ => {}
        },
        Value::Array(items) => items.iter().for_each(|item| structure(item, key, into)),
        Value::Object(members) => {
            members.keys().for_each(|key| add(key));
            members.iter().for_each(|(key, it)| structure(it, key, into));
        }
        _ => {}
    }
}

/// Goal: no word of a text, an argument, an output or a path is in the copy.
#[test]
fn no_word_of_the_content_is_left() {
    let mut known = BTreeSet::new();
    for path in files(&root().join("crates/core/src/profile"), "json") {
        let text = fs::read_to_string(path).unwrap();
        let text = text.replace("~1", "/");
        known.extend(text.split(|it: char| !it.is_alphanumeric()).map(str::to_owned));
    }
    let (mut left, mut gone) = (Vec::new(), 0);
    // The calls of go-test are packages and tests: their names are ids.
    for (name, mut checker, stream) in streams().into_iter().filter(|it| !it.0.contains("go-test"))
    {
        let (mut content, mut may_stay) = (BTreeSet::new(), BTreeSet::new());
        for line in stream.split(|byte| *byte == b'\n') {
            let event: Value = serde_json::from_slice(line).unwrap_or_default();
            words(&event, "", &mut content);
            structure(&event, "", &mut may_stay);
        }
        let (copy, _) = redacted(&mut checker, &stream, 1 << 16);
        let copy = String::from_utf8_lossy(&copy);
        let copy: BTreeSet<&str> = copy.split(|it: char| !it.is_alphanumeric()).collect();
        let is_word = |word: &str| word.contains(char::is_alphabetic);
        // The patterns of texts of providers ignore the case of letters.
        let is_known = |it: &str| known.contains(it) || known.contains(&it.to_lowercase());
        content.retain(|it| is_word(it) && !may_stay.contains(it) && !is_known(it));
        gone += content.len();
        content.retain(|word| copy.contains(&**word));
        left.extend((!content.is_empty()).then(|| format!("{name}: {content:?}")));
    }
    assert!(left.is_empty() && gone > 1_500, "{gone}\n{}", left.join("\n"));
}

/// Goal: a word that a rule of the profile reads stays, also in a half of a call without an id.
#[test]
fn what_a_rule_reads_of_a_call_stays() {
    let profile = json!({
        "name": "x", "title": "x",
        "tags": { "at": ["/k"], "documented": ["call"] },
        "calls": { "completion": [{ "when": { "/k": "call" }, "id": ["/id"],
            "outcomes": [{ "outcome": "failed", "when": { "/state": "broken" } }] }] }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.json");
    fs::write(&path, profile.to_string()).unwrap();
    let mut checker = Checker::builder().profile(path.to_str().unwrap()).build().unwrap();
    for event in [
        json!({"k": "call", "state": "broken", "note": "secret"}),
        json!({"k": "call", "id": "1", "state": "broken", "note": "secret"}),
    ] {
        let copy = text(&redacted(&mut checker, format!("{event}\n").as_bytes(), 64).0);
        assert!(copy.contains("broken") && !copy.contains("secret"), "{copy}");
    }
}

/// Goal: the copy does not depend on how the stream is cut, and is its own copy.
#[test]
fn the_copy_is_always_the_same() {
    for (name, mut checker, stream) in streams().into_iter().step_by(5) {
        let (copy, _) = redacted(&mut checker, &stream, 1 << 16);
        for size in [1, 7, 4_093] {
            assert_eq!(redacted(&mut checker, &stream, size).0, copy, "{name} {size}");
        }
        assert_eq!(redacted(&mut checker, &copy, 1 << 16).0, copy, "{name}, once more");
    }
}

/// Goal: every output of the program is made from the copy; the judgement is that of the stream.
#[test]
fn no_output_of_the_program_has_content() {
    let path = root().join("fixtures/agents/cursor/plain.ndjson");
    let stream = fs::read(path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tee = folder.path().join("tee");
    let tee = tee.to_str().unwrap();
    for flags in [
        &["--tee", tee][..],
        &["--report", "json"],
        &["--to", "stream-json"],
        &["--to", "text"],
        &["--to", "transcript"],
        &["--to", "answer"],
        &["--to", "json"],
        &["--timeout", "60s", "--to", "transcript"],
    ] {
        let plain = run_on(flags, &stream);
        let output = run_on(&[flags, &["--redact", "content,secrets"]].concat(), &stream);
        assert_eq!(output.status.code(), plain.status.code(), "{flags:?}");
        let (out, report) = (text(&output.stdout), text(&output.stderr));
        let tee = fs::read_to_string(tee).unwrap_or_default();
        for word in ["discount", "cart", "passing", "npm"] {
            assert!(text(&stream).contains(word));
            assert!(![&out, &report, &tee].iter().any(|it| it.contains(word)), "{flags:?}: {out}");
        }
        assert_eq!(out.lines().count(), text(&plain.stdout).lines().count(), "{flags:?}: {out}");
        let shown = out.contains("xxx") || tee.contains("xxx");
        assert!(shown || flags.contains(&"json"), "{flags:?}: {out}");
    }
}

/// Goal: equal calls in a row are still equal, and different ones of the same form are not.
#[test]
fn calls_stay_equal_and_different() {
    let call = |id: usize, path: &str| {
        let args = json!({ "path": path });
        let event = |subtype: &str, call: Value| {
            json!({"type": "tool_call", "subtype": subtype, "call_id": format!("c{id}"),
                "tool_call": {"readToolCall": call}, "session_id": "s", "timestamp_ms": 5})
        };
        let end = json!({"args": args, "result": {"success": {"content": "a"}}});
        format!("{}\n{}\n", event("started", json!({"args": args})), event("completed", end))
    };
    let repeated = |paths: [&str; 6]| {
        let stream: String = (0..).zip(paths).map(|(id, path)| call(id, path)).collect();
        let mut checker = checker(["--profile", "cursor"]);
        let (copy, first) = redacted(&mut checker, stream.as_bytes(), 1 << 16);
        let again = judge(&copy[..], &mut checker).1.contains(&Rule::RepeatedCall);
        let first = first.unwrap().1.iter().any(|it| it.rule == Rule::RepeatedCall);
        assert_eq!(again, first, "{}", text(&copy));
        first
    };
    assert!(repeated(["/a/b"; 6]) && !repeated(["/a", "/b", "/c", "/d", "/e", "/f"]));
    assert!(repeated(["/a", "/b", "/b", "/b", "/b", "/b"]));
    assert!(!repeated(["/a", "/a", "/a", "/b", "/a", "/a"]));
}

/// Goal: expectations ask for content, and are those of the stream as it came.
#[test]
fn expectations_are_judged_by_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("ndjson-check.toml");
    let stream = fs::read(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    for (pattern, code) in [("All four cart tests", 0), ("All five cart tests", 1)] {
        fs::write(&config, format!("[expect]\nanswer = {{ matches = \"{pattern}\" }}\n")).unwrap();
        let flags = ["--config", config.to_str().unwrap(), "--redact", "content"];
        let output = run_on(&flags, &stream);
        let out = text(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{out}{}", text(&output.stderr));
        assert_eq!(out.contains("expectation-failed"), code == 1, "{out}");
    }
}

#[test]
fn the_standard_error_of_a_command_is_redacted() {
    let agent = ["stderr", "oops: Peter, 42", "exit", "3"];
    let output = crate::fake_agent::run(&["--redact", "content"], &agent);
    let (out, passed_on) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(passed_on, "xxxx: xxxxx, 00\n", "{out}");
    assert!(out.contains("event: xxxx: xxxxx, 00 (exit status 3)"), "{out}");
}

/// Goal: a line above the limit has no content left.
/// Method: the line comes in pieces of several sizes, with both line ends.
#[test]
fn lines_above_the_limit_are_filled() {
    let good = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let text = "TOPSECRETWORDS ".repeat(150_000);
    for (limit, end) in [(64 << 10, "\n"), (1 << 20, "\r\n"), (2 << 20, "\n")] {
        let long = json!({"type": "assistant", "text": text}).to_string();
        let mut lines: Vec<&str> = good.lines().collect();
        lines.insert(2, &long);
        let stream = lines.join(end) + end;
        for size in [1 << 12, 1 << 16, 1 << 20, usize::MAX] {
            let mut checker = Checker::builder().max_line_bytes(limit).build().unwrap();
            let (copy, _) = redacted(&mut checker, stream.as_bytes(), size);
            assert_eq!(copy.len(), stream.len(), "{limit}, {size}");
            let copy = String::from_utf8_lossy(&copy);
            let left = ["TOPSECRET", "SECRETWORDS"].iter().filter(|it| copy.contains(**it)).count();
            assert_eq!(left, 0, "{limit}, {size}");
        }
    }
}

/// Goal: a path is no name, also as a key of arguments that are JSON in a string.
#[test]
fn keys_that_are_paths_are_replaced_in_arguments_too() {
    let path = root().join("fixtures/agents/codex-rollout/good.ndjson");
    let stream = fs::read_to_string(path).unwrap();
    let secret = r#"\"/home/alice/SECRETPLAN.txt\":1,\"mail alice@corp.example\":2,"#;
    let planted = stream.replacen(r#""arguments":"{"#, &format!(r#""arguments":"{{{secret}"#), 1);
    assert_ne!(planted, stream);
    let mut checker = checker([]);
    let (copy, _) = redacted(&mut checker, planted.as_bytes(), 1 << 16);
    let copy = String::from_utf8_lossy(&copy);
    for word in ["alice", "SECRETPLAN", "corp"] {
        assert!(!copy.contains(word), "{word}: {copy}");
    }
}
