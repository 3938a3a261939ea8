//! Calls of which only the agent says how long they took: one event is the whole call.

use std::collections::BTreeMap;
use std::fs;

use ndjson_check::{Checker, Form, RunStats};
use serde_json::{Value, json};

use crate::arrays::{Layout, array, can_be_an_array};
use crate::streams::{converted, root, run_on, some_cases, text};
use crate::support::builder;

const PARALLEL: &str = "lab/recordings/opencode-1.18.33/parallel.ndjson";

fn opencode() -> Checker {
    Checker::builder().profile("opencode").stats(true).build().unwrap()
}

fn stats(checker: &mut Checker, stream: &[u8]) -> RunStats {
    *checker.check("-", stream, &mut ()).unwrap().stats.unwrap()
}

/// A stream with calls that each are one event: when it comes, when the call starts and ends.
fn stream(start: u64, calls: &[[u64; 3]], end: u64) -> String {
    let event = |kind: &str, at: u64, part: Value| {
        let event = json!({"type": kind, "timestamp": at, "sessionID": "ses_1", "part": part});
        format!("{event}\n")
    };
    let mut stream = event("step_start", start, json!({"type": "step-start"}));
    for (number, [at, start, end]) in calls.iter().enumerate() {
        let state = json!({"status": "completed", "input": {}, "output": "x",
            "time": {"start": start, "end": end}});
        let part = json!({"type": "tool", "tool": "bash", "callID": number.to_string(),
            "state": state});
        stream += &event("tool_use", *at, part);
    }
    stream + &event("step_finish", end, json!({"type": "step-finish", "reason": "stop"}))
}

/// Goal: time in which a call was open is no silence, also if that is only known later.
#[test]
fn the_time_of_a_call_is_no_silence() {
    for (calls, expected) in [
        (&[[1_000, 400, 1_000]][..], (600, 900, vec![500, 400])),
        // The second was open all the time.
        (&[[1_000, 900, 1_000], [1_050, 100, 1_050]], (950, 550, vec![450, 100])),
        (&[[1_000, 200, 1_000], [1_050, 600, 1_050]], (850, 650, vec![450, 200])),
        // The first began before the first event.
        (&[[1_000, 0, 1_000]], (1_000, 500, vec![500])),
    ] {
        let (calls_ms, other_ms, silences) = expected;
        let first = if calls[0][1] == 0 { 100 } else { 0 };
        let events = stream(first, calls, 1_500);
        let direct = stats(&mut opencode(), events.as_bytes());
        let normal = converted(events.as_bytes(), &mut opencode(), Form::Events);
        let mut again = Checker::builder().profile("events").stats(true).build().unwrap();
        for stats in [direct, stats(&mut again, normal.as_bytes())] {
            let parts = (stats.calls_ms, stats.other_ms);
            assert_eq!(parts, (Some(calls_ms), Some(other_ms)), "{calls:?}");
            assert_eq!(stats.elapsed_ms, Some(1_500), "{calls:?}");
            let found: Vec<u64> = stats.silences.iter().map(|it| it.duration_ms).collect();
            assert_eq!(found, silences, "{calls:?}");
        }
    }
}

/// Goal: every output says the same of a real run.
#[test]
fn each_output_has_the_duration() {
    let stream = fs::read(root().join(PARALLEL)).unwrap();
    let found = stats(&mut opencode(), &stream);
    let durations: Vec<u64> = found.slowest_calls.iter().map(|call| call.duration_ms).collect();
    assert_eq!(durations, [2_161, 1_211]);
    assert!(found.calls_ms >= Some(2_161) && found.elapsed_ms >= found.calls_ms, "{found:?}");
    let trace = converted(&stream, &mut opencode(), Form::ChromeTrace);
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let mut starts = BTreeMap::new();
    let mut found = Vec::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        let (id, at) = (event["id"].as_u64(), event["ts"].as_u64().unwrap_or_default());
        match event["ph"].as_str() {
            Some("b") => drop(starts.insert(id, at)),
            Some("e") => found.push((at - starts[&id]) / 1_000),
            _ => {}
        }
    }
    assert_eq!(found, [1_211, 2_161]);
    let spans = converted(&stream, &mut opencode(), Form::OtlpJson);
    let spans: Value = serde_json::from_str(&spans).unwrap();
    let spans = spans["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    let time = |span: &Value, key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
    let spans = spans
        .iter()
        .map(|span| (time(span, "endTimeUnixNano") - time(span, "startTimeUnixNano")) / 1_000_000);
    let mut spans: Vec<u64> = spans.collect();
    let run = spans.pop().unwrap();
    assert_eq!(spans, [1_211, 2_161]);
    assert!(run >= 2_161, "{run}");
}

/// Goal: a page is written, whatever times a stream has.
#[test]
fn no_time_is_too_large_for_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for first in
        [10_u64.pow(15), 10_u64.pow(17), 2 * 10_u64.pow(17), 10_u64.pow(18), u64::MAX - 5_000]
    {
        let stream = stream(0, &[[100, 50, 100], [first, first - 50, first]], first + 2_000);
        let target = format!("html={}", page.display());
        let output =
            run_on(&["--quiet", "--profile", "opencode", "--report", &target], stream.as_bytes());
        assert_eq!(text(&output.stderr), "", "{first}");
        let written = fs::read_to_string(&page).unwrap();
        assert!(written.contains("</html>") && written.len() < 100_000, "{first}");
    }
}

/// Goal: in an array on one line, too, a call takes as long as it does.
#[test]
fn calls_in_an_array_have_their_durations() {
    let mut timed = 0;
    for case in some_cases(3) {
        let bytes = case.bytes();
        let Some(stream) = can_be_an_array(&bytes) else { continue };
        let stats = |stream: &str| {
            let mut checker =
                builder(case.flags.iter().map(String::as_str)).stats(true).build().unwrap();
            let stats = stats(&mut checker, stream.as_bytes());
            stats.tools.iter().map(|it| (it.tool.clone(), it.total_ms)).collect::<Vec<_>>()
        };
        let expected = stats(stream);
        assert_eq!(stats(&array(stream, Layout::Minified)), expected, "{}", case.path.display());
        timed += u32::from(expected.iter().any(|(_, total)| total.is_some()));
    }
    assert!(timed > 30, "{timed}");
}
