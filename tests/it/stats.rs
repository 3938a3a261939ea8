//! `--stats`: where the time went and what the tools did.

use std::collections::BTreeMap;
use std::fs;

use ndjson_check::internals::{REPORT_SCHEMA, satisfies};
use ndjson_check::{Checker, CheckerBuilder, RunStats, StreamSummary, Verdict};
use serde_json::{Value, json};

use crate::streams::{cases, files, misleads, program, root, run_on, text};

fn checked(builder: CheckerBuilder, stream: &[u8]) -> StreamSummary {
    builder.stats(true).build().unwrap().check("-", stream, &mut ()).unwrap()
}

fn stats(profile: &str, stream: &[u8]) -> RunStats {
    *checked(Checker::builder().profile(profile), stream).stats.unwrap()
}

/// A tool: its calls, the calls that failed, and the durations.
type Naive = BTreeMap<String, (u64, u64, Vec<u64>)>;

/// The milliseconds of a day in `2026-05-04T10:00:02.002Z`.
fn of_day(time: &str) -> u64 {
    let clock = time.split('T').nth(1).unwrap().trim_end_matches('Z');
    let parts: Vec<&str> = clock.split([':', '.']).collect();
    let part = |at: usize| parts[at].parse::<u64>().unwrap();
    ((part(0) * 60 + part(1)) * 60 + part(2)) * 1_000 + part(3)
}

fn events(stream: &str) -> Vec<Value> {
    stream.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Each event that is half of a call: its id, its tool, whether it failed if it completes the call,
/// and when it came.
type Half = (String, Option<String>, Option<bool>, u64);

fn gemini(event: &Value) -> Option<Half> {
    let id = event["tool_id"].as_str()?.to_owned();
    let last = event["output"].as_str().unwrap_or_default().lines().last().unwrap_or_default();
    let is_red = last.strip_prefix("Command exited with code: ").is_some_and(|code| code != "0")
        || last.starts_with("Command terminated by signal")
        || last.starts_with("Command was automatically cancelled");
    let ends = (event["type"] == "tool_result")
        .then(|| event["status"] != "success" || event["error"].is_object() || is_red);
    let time = of_day(event["timestamp"].as_str()?);
    Some((id, event["tool_name"].as_str().map(str::to_owned), ends, time))
}

fn cursor(event: &Value) -> Option<Half> {
    let id = event["call_id"].as_str()?.to_owned();
    let (tool, call) =
        event["tool_call"].as_object()?.iter().find(|(key, _)| key.ends_with("ToolCall"))?;
    let ends = (event["subtype"] == "completed").then(|| {
        let success = &call["result"]["success"];
        !success.is_object() || success["isError"] == true
    });
    let tool = tool.strip_suffix("ToolCall").map(str::to_owned);
    Some((id, tool, ends, event["timestamp_ms"].as_u64()?))
}

fn naive(stream: &str, half: fn(&Value) -> Option<Half>) -> Naive {
    let mut tools = Naive::new();
    let mut open: BTreeMap<String, (String, u64)> = BTreeMap::new();
    for (id, tool, ends, time) in events(stream).iter().filter_map(half) {
        match ends {
            None => {
                let tool = tool.unwrap();
                tools.entry(tool.clone()).or_default().0 += 1;
                open.insert(id, (tool, time));
            }
            Some(is_failed) => {
                let (tool, start) = open.remove(&id).unwrap();
                let (_, failed, durations) = tools.get_mut(&tool).unwrap();
                *failed += u64::from(is_failed);
                durations.push(time - start);
            }
        }
    }
    tools
}

/// Goal: the figures of the tools are right.
/// Method: for streams of two agents that write their times in different forms, count again from
/// the raw JSON, and compare.
#[test]
fn figures_equal_those_of_a_naive_reading() {
    let mut compared = 0;
    let of_gemini = ["fixtures/agents/gemini", "lab/recordings/gemini-0.61.0"];
    let folders = of_gemini.map(|folder| (folder, "gemini", gemini as fn(&Value) -> Option<Half>));
    let cursors = ("fixtures/agents/cursor", "cursor", cursor as fn(&Value) -> Option<Half>);
    for (folder, profile, half) in folders.into_iter().chain([cursors]) {
        for path in files(&root().join(folder), "ndjson") {
            let stream = fs::read_to_string(&path).unwrap();
            let summary = checked(Checker::builder().profile(profile), stream.as_bytes());
            let halves = events(&stream).iter().filter_map(half).count() as u64;
            let all = summary.call_counts;
            // What is odd has its own tests.
            let is_plain = summary.verdict == Verdict::Conforming
                && all.denied + all.rejected + all.unknown == 0
                && halves == 2 * all.total - all.unfinished;
            if !is_plain || halves == 0 {
                continue;
            }
            let expected = naive(&stream, half);
            let stats = summary.stats.unwrap();
            assert_eq!(stats.tools.len(), expected.len(), "{}", path.display());
            for tool in &stats.tools {
                let (calls, failed, mut durations) = expected[tool.tool.as_ref().unwrap()].clone();
                durations.sort_unstable();
                let middle = durations.len() / 2;
                let median = match durations.len() {
                    0 => None,
                    count if count % 2 == 1 => Some(durations[middle]),
                    _ => Some(durations[middle - 1].midpoint(durations[middle])),
                };
                let total = (!durations.is_empty()).then(|| durations.iter().sum());
                let found = (tool.calls, tool.failed, tool.timed, tool.total_ms, tool.median_ms);
                let wanted = (calls, failed, durations.len() as u64, total, median);
                assert_eq!(found, wanted, "{}: {tool:?}", path.display());
                assert_eq!(tool.longest_ms, durations.last().copied());
            }
            compared += 1;
        }
    }
    assert!(compared >= 12, "only {compared}");
}

/// Goal: nothing is counted twice or lost, and both engines agree.
#[test]
fn tools_add_up_to_the_calls_of_the_stream() {
    let (mut with_calls, mut checkers) = (0, BTreeMap::new());
    for case in cases() {
        if case.flags.iter().any(|flag| !flag.starts_with("--profile") && flag.starts_with('-')) {
            continue;
        }
        let profile = case.flags.get(1).map_or("auto", String::as_str);
        let (fast, plain) = checkers.entry(profile.to_owned()).or_insert_with(|| {
            let builder = Checker::builder().profile(profile).stats(true);
            (builder.clone().build().unwrap(), builder.plain(true).build().unwrap())
        });
        let Ok(summary) = fast.check("-", &*case.bytes(), &mut ()) else { continue };
        let stats = summary.stats.unwrap();
        let sum = |count: fn(&ndjson_check::ToolStats) -> u64| -> u64 {
            stats.tools.iter().map(count).sum()
        };
        let all = summary.call_counts;
        let found = [
            sum(|it| it.calls),
            sum(|it| it.succeeded),
            sum(|it| it.failed),
            sum(|it| it.rejected),
            sum(|it| it.denied),
            sum(|it| it.unknown),
            sum(|it| it.unfinished),
        ];
        let wanted = [
            all.total,
            all.succeeded,
            all.failed,
            all.rejected,
            all.denied,
            all.unknown,
            all.unfinished,
        ];
        assert_eq!(found, wanted, "{}", case.path.display());
        let plain = plain.check("-", &*case.bytes(), &mut ()).unwrap();
        assert_eq!(plain.stats.unwrap(), stats, "{}", case.path.display());
        with_calls += u64::from(all.total > 0);
    }
    assert!(with_calls > 200, "only {with_calls}");
}

fn cursor_event(at: u64, mut event: Value) -> String {
    event["session_id"] = json!("s");
    event["timestamp_ms"] = json!(at);
    format!("{event}\n")
}

fn call(at: u64, subtype: &str, id: &str) -> String {
    let result = if subtype == "completed" { json!({"success": {}}) } else { json!(null) };
    let tool = json!({"shellToolCall": {"args": {"command": "make"}, "result": result}});
    cursor_event(
        at,
        json!({"type": "tool_call", "subtype": subtype, "call_id": id,
        "tool_call": tool}),
    )
}

/// Goal: time with an open call, time without, and silences are what the times say, also where
/// calls overlap, a clock goes back, or a new turn begins.
#[test]
fn time_is_divided_by_open_calls() {
    let user = |at| {
        cursor_event(
            at,
            json!({"type": "user", "message": {"role": "user",
        "content": [{"type": "text", "text": "x"}]}}),
        )
    };
    let stream = [
        user(1_000),
        call(4_000, "started", "a"),
        call(4_500, "started", "b"),
        call(6_000, "completed", "a"),
        call(9_000, "completed", "b"),
        // The clock is set back: no time passes until it is where it was.
        user(2_000),
        user(2_100),
    ]
    .concat();
    let stats = stats("cursor", stream.as_bytes());
    assert_eq!(
        (stats.elapsed_ms, stats.calls_ms, stats.other_ms),
        (Some(8_000), Some(5_000), Some(3_000))
    );
    let silences: Vec<_> =
        stats.silences.iter().map(|it| (it.duration_ms, it.after_line, it.before_line)).collect();
    assert_eq!(silences, [(3_000, 1, 2)]);
    let slow: Vec<_> = stats
        .slowest_calls
        .iter()
        .map(|it| (it.duration_ms, it.id.as_str(), it.started_line, it.completed_line))
        .collect();
    assert_eq!(slow, [(4_500, "b", 3, 5), (2_000, "a", 2, 4)]);
    assert_eq!(stats.slowest_calls[0].detail.as_deref(), Some("make"));
}

/// Goal: the parts of the time are known for all streams of a row, or for none.
#[test]
fn a_sum_of_unknown_times_is_unknown() {
    let parts = |files: &[&str]| {
        let report = json_report(&[&["--stats"], files].concat());
        let last: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
        let stats = &last["stats"];
        assert!(stats["elapsed_ms"].as_u64() > Some(0), "{last}");
        stats["calls_ms"].clone()
    };
    let unknown = "lab/recordings/gptme-0.35.1/tool.ndjson";
    let known = "fixtures/agents/gemini/tools.ndjson";
    assert_eq!(parts(&[known]), json!(6_006));
    assert_eq!(parts(&[unknown]), Value::Null);
    assert_eq!(parts(&[known, unknown]), Value::Null);
}

/// Goal: what is not known is absent, not zero.
#[test]
fn a_stream_without_times_has_no_durations() {
    let path = root().join("fixtures/agents/codex");
    let mut calls = 0;
    for stream in files(&path, "ndjson") {
        let stats = stats("codex", &fs::read(stream).unwrap());
        assert_eq!((stats.timed_events, stats.elapsed_ms, stats.calls_ms), (0, None, None));
        assert!(stats.slowest_calls.is_empty() && stats.silences.is_empty());
        for tool in &stats.tools {
            assert_eq!(
                (tool.timed, tool.total_ms, tool.median_ms, tool.longest_ms),
                (0, None, None, None)
            );
            calls += tool.calls;
        }
    }
    assert!(calls > 10);
    let codex = "fixtures/agents/codex/command-goes-on.ndjson";
    let output = program().args(["--stats", codex]).output().unwrap();
    assert!(
        text(&output.stdout).contains("; the stream has no times; 1 text, 33 bytes\n"),
        "{output:?}"
    );
}

fn json_report(arguments: &[&str]) -> String {
    let mut command = program();
    command.args(["--no-config", "--report", "json"]).args(arguments);
    text(&command.output().unwrap().stdout)
}

/// Goal: the json report is valid, the same for any number of jobs, and survives `merge`.
#[test]
fn the_json_report_has_the_figures_and_merge_keeps_them() {
    let folders = ["fixtures/agents/cursor", "fixtures/agents/gemini", "fixtures/agents/droid"];
    let whole = json_report(&[&["--stats", "--jobs", "1"], &folders[..]].concat());
    assert!(whole == json_report(&[&["--stats", "--jobs", "4"], &folders[..]].concat()));
    for line in whole.lines() {
        assert!(satisfies(REPORT_SCHEMA, line).unwrap(), "{line}");
    }
    let without = json_report(&folders);
    assert!(!without.contains("\"stats\""));
    // The rest of the report is the same.
    let stripped = whole.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("stats");
        line
    });
    assert!(stripped.eq(without.lines().map(|line| serde_json::from_str::<Value>(line).unwrap())));

    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<_> = folders
        .iter()
        .enumerate()
        .map(|(number, streams)| {
            let path = folder.path().join(number.to_string());
            fs::write(&path, json_report(&["--stats", streams])).unwrap();
            path
        })
        .collect();
    let merge = |reports: &[&std::path::PathBuf]| {
        text(&program().arg("merge").args(reports).output().unwrap().stdout)
    };
    let joined = folder.path().join("joined");
    fs::write(&joined, merge(&[&parts[2], &parts[0]])).unwrap();
    let merged = merge(&[&parts[1], &joined]);
    assert_eq!(merged.lines().last(), whole.lines().last());
    assert_eq!(merged.lines().count(), whole.lines().count());

    let totals: Value = serde_json::from_str(whole.lines().last().unwrap()).unwrap();
    let agents = totals["stats"]["agents"].as_array().unwrap();
    let sum: u64 = agents.iter().map(|agent| agent["calls"]["total"].as_u64().unwrap()).sum();
    assert!(sum > 50 && totals["stats"]["calls"]["total"] == sum, "{totals}");
}

/// Goal: a reader of a terminal or of a comment is not misled by names from a stream.
#[test]
fn tables_show_no_control_characters() {
    let nasty = "\u{1b}[31m|`\u{202e}\n::error::x";
    let tool = json!({format!("{nasty}ToolCall"): {"args": {"command": nasty}, "result":
        {"success": {}}}});
    let half = |at, subtype: &str| {
        cursor_event(
            at,
            json!({"type": "tool_call",
        "subtype": subtype, "call_id": nasty, "tool_call": tool}),
        )
    };
    let stream = half(1, "started") + &half(5_000, "completed");
    for format in ["human", "markdown", "json"] {
        let arguments = ["--stats", "--profile", "cursor", "--report", format];
        let report = text(&run_on(&arguments, stream.as_bytes()).stdout);
        assert!(
            report.contains(if format == "json" { "4999" } else { "5.00" })
                || report.contains("4.99"),
            "{report}"
        );
        let bad: Vec<char> =
            report.chars().filter(|it| misleads(*it) && !['\n', '\u{a0}'].contains(it)).collect();
        assert!(bad.is_empty(), "{bad:?} in {report}");
        assert!(!report.lines().any(|line| line.starts_with("::")), "{report}");
    }
}

/// Goal: memory does not grow with the stream: names and durations beyond the bounds are counted
/// together, and the totals stay exact.
#[test]
fn many_tools_are_counted_together() {
    let mut stream = String::new();
    for number in 0..1_000_u64 {
        let tool = json!({format!("t{number}ToolCall"): {"args": {}, "result": {"success": {}}}});
        for (at, subtype) in [(10, "started"), (10 + number, "completed")] {
            stream += &cursor_event(
                number * 10_000 + at,
                json!({"type": "tool_call",
                "subtype": subtype, "call_id": number.to_string(), "tool_call": tool}),
            );
        }
    }
    let stats = stats("cursor", stream.as_bytes());
    let sum: u64 = stats.tools.iter().map(|tool| tool.calls).sum();
    assert_eq!((stats.tools.len(), sum), (201, 1_000));
    assert_eq!((stats.tools[0].tool.as_ref(), stats.tools[0].calls), (None, 800));
    assert_eq!(stats.tools[0].longest_ms, Some(999));
    assert_eq!((stats.slowest_calls.len(), stats.silences.len()), (10, 10));
    let slowest: Vec<u64> = stats.slowest_calls.iter().map(|it| it.duration_ms).collect();
    assert_eq!(slowest, (990..1_000).rev().collect::<Vec<_>>());
}

/// Goal: a secret in a command is in no table.
#[test]
fn figures_are_made_from_the_redacted_copy() {
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let tool = json!({"shellToolCall": {"args": {"command": format!("push {secret}")},
        "result": {"success": {}}}});
    let half = |at, subtype: &str| {
        cursor_event(
            at,
            json!({"type": "tool_call",
        "subtype": subtype, "call_id": "c", "tool_call": tool}),
        )
    };
    let stream = half(1, "started") + &half(5_001, "completed");
    for format in ["human", "markdown", "json"] {
        let arguments =
            ["--stats", "--profile", "cursor", "--redact", "secrets", "--report", format];
        let report = text(&run_on(&arguments, stream.as_bytes()).stdout);
        assert!(report.contains("[REDACTED:") && !report.contains(&secret), "{report}");
    }
}
