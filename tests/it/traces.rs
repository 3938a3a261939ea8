//! The forms that other tools read: `chrome-trace`, `otlp-json`, `atif`. Their own readers
//! are run by `tests/validators`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use ndjson_check::{Checker, Converter, Form, FormStyle, ProducerExit, Written};
use serde_json::{Value, json};

use crate::streams::{cases, checker, converted, root, run_on, text};

const FORMS: [Form; 4] = [Form::Events, Form::ChromeTrace, Form::OtlpJson, Form::Atif];

fn values(text: &str) -> Vec<Value> {
    let value =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(value).collect()
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no string"))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// The number of calls in the normal form.
fn calls(events: &[Value]) -> usize {
    events.iter().filter(|it| it["type"] == "call_started").count()
}

/// Goal: halves of calls are pairs, and nothing lasts less than nothing.
fn check_chrome_trace(trace: &Value, calls: usize) {
    let mut open = BTreeMap::new();
    let mut pairs = 0;
    for event in array(&trace["traceEvents"]) {
        assert!(event["name"].is_string() && event["pid"] == 1 && event["args"].is_object());
        let at = event["ts"].as_u64();
        match string(&event["ph"]) {
            "M" => {}
            "X" => assert!(at.is_some() && event["dur"].is_u64(), "{event}"),
            "i" => assert!(at.is_some() && event["s"] == "p", "{event}"),
            "b" => assert!(open.insert(event["id"].as_u64(), at).is_none(), "{event}"),
            "e" => {
                let start = open.remove(&event["id"].as_u64()).unwrap();
                assert!(start.is_some() && start <= at, "{event}");
                pairs += 1;
            }
            _ => panic!("{event}"),
        }
    }
    assert_eq!((open.len(), pairs), (0, calls));
    assert!(trace["otherData"]["clock"].is_string());
}

/// Goal: one trace, in which every span but the last is a call of the run.
fn check_otlp(data: &Value, calls: usize) {
    let resource = &data["resourceSpans"][0];
    let spans = array(&resource["scopeSpans"][0]["spans"]);
    assert_eq!(spans.len(), calls + 1);
    let is_id = |id: &Value, length: usize| {
        let id = string(id);
        id.len() == length
            && id.bytes().all(|it| it.is_ascii_hexdigit())
            && id.contains(|it| it != '0')
    };
    let run = spans.last().unwrap();
    let nanoseconds = |time: &Value| string(time).parse::<u64>().unwrap();
    let mut ids = BTreeSet::new();
    for span in spans {
        assert!(is_id(&span["traceId"], 32) && is_id(&span["spanId"], 16), "{span}");
        assert!(ids.insert(string(&span["spanId"])), "{span}");
        assert_eq!(span["traceId"], run["traceId"]);
        let is_call = !std::ptr::eq(span, run);
        assert_eq!(span["parentSpanId"].is_string(), is_call);
        assert!(!is_call || span["parentSpanId"] == run["spanId"]);
        let name = if is_call { "execute_tool " } else { "invoke_agent " };
        assert!(string(&span["name"]).starts_with(name), "{span}");
        let [start, end] =
            ["startTimeUnixNano", "endTimeUnixNano"].map(|it| nanoseconds(&span[it]));
        assert!(start <= end && nanoseconds(&run["startTimeUnixNano"]) <= start, "{span}");
        assert!(end <= nanoseconds(&run["endTimeUnixNano"]), "{span}");
        for attribute in array(&span["attributes"]) {
            let value = attribute["value"].as_object().unwrap();
            assert!(attribute["key"].is_string() && value.len() == 1, "{attribute}");
        }
    }
    assert_eq!(resource["resource"]["attributes"][0]["key"], "service.name");
    let schema = string(&resource["scopeSpans"][0]["schemaUrl"]);
    assert!(schema.starts_with("https://opentelemetry.io/schemas/1."), "{schema}");
    assert!(!data.to_string().contains("gen_ai.provider.name"), "no stream names it");
}

/// Goal: steps are counted from 1, and a result belongs to a call of its step.
fn check_atif(trajectory: &Value, calls: usize) {
    assert_eq!(trajectory["schema_version"], "ATIF-v1.7");
    assert!(trajectory["agent"]["name"].is_string() && trajectory["agent"]["version"].is_string());
    let steps = array(&trajectory["steps"]);
    assert_eq!(trajectory["final_metrics"]["total_steps"], steps.len());
    assert!(!steps.is_empty());
    let mut found = 0;
    for (number, step) in (1..).zip(steps) {
        assert_eq!(step["step_id"], number);
        assert!(step["message"].is_string(), "{step}");
        let calls = step["tool_calls"].as_array().cloned().unwrap_or_default();
        assert!(step["source"] == "agent" || calls.is_empty());
        assert!(["agent", "system", "user"].contains(&string(&step["source"])), "{step}");
        let ids: BTreeSet<&str> = calls.iter().map(|it| string(&it["tool_call_id"])).collect();
        assert_eq!(ids.len(), calls.len(), "{step}");
        assert!(calls.iter().all(|it| it["arguments"].is_object()), "{step}");
        let results = step["observation"]["results"].as_array().cloned().unwrap_or_default();
        assert_eq!(results.len(), calls.len());
        for result in &results {
            assert!(ids.contains(string(&result["source_call_id"])), "{step}");
        }
        found += calls.len();
    }
    assert_eq!(found, calls);
}

/// Goal: a form has the times that only it and the figures ask for.
#[test]
fn forms_have_the_times_of_the_stream() {
    let stream = fs::read(root().join("fixtures/agents/gemini/tools.ndjson")).unwrap();
    for (form, expected) in [
        ("events", "\"time_ms\":17"),
        ("otlp-json", "the times in the stream"),
        ("chrome-trace", "the times in the stream"),
        ("atif", "\"timestamp\":\"20"),
    ] {
        let output = run_on(&["--quiet", "--to", form], &stream);
        assert!(text(&output.stdout).contains(expected), "{form}: {}", text(&output.stdout));
    }
}

/// Goal: a warning in front of the first event hides no times.
#[test]
fn lines_without_times_wait_for_the_first_time() {
    let stream = fs::read(root().join("fixtures/agents/gemini/tools.ndjson")).unwrap();
    let stream = [b"(node:1) Warning: old\n", &*stream].concat();
    for (form, clock) in
        [("otlp-json", "ndjson_check.clock"), ("chrome-trace", "\"otherData\":{\"clock\"")]
    {
        let output = text(&run_on(&["--quiet", "--to", form], &stream).stdout);
        let at = output.find(clock).unwrap_or_else(|| panic!("{form}: {output}"));
        assert!(output[at..].contains("the times in the stream"), "{form}: {output}");
        for time in ["\"ts\":", "\"timeUnixNano\":\""] {
            let mut times = output.match_indices(time).map(|(at, _)| &output[at + time.len()..]);
            assert!(times.all(|it| it.starts_with("17")), "{form}: {output}");
        }
    }
}

/// Goal: a store of spans keeps both runs of a session.
#[test]
fn runs_of_a_session_have_spans_of_their_own() {
    let stream = fs::read_to_string(root().join("fixtures/agents/gemini/tools.ndjson")).unwrap();
    let spans = |stream: &str| -> BTreeSet<String> {
        let output = run_on(&["--quiet", "--to", "otlp-json"], stream.as_bytes());
        let data: Value = serde_json::from_slice(&output.stdout).unwrap();
        let spans = array(&data["resourceSpans"][0]["scopeSpans"][0]["spans"]);
        spans.iter().map(|it| string(&it["spanId"]).to_owned()).collect()
    };
    let first = spans(&stream);
    assert_eq!(first, spans(&stream));
    let later = stream.replace("T10:", "T11:");
    assert!(first.is_disjoint(&spans(&later)));
}

/// Method: every fixture, in every form.
#[test]
fn every_fixture_has_the_structure_of_each_form() {
    let mut count = 0;
    for case in cases() {
        let (stream, mut checker) = (case.bytes(), case.checker());
        let mut form = |to: Form| values(&converted(&stream, &mut checker, to));
        let calls = calls(&form(Form::Events));
        let one = |values: Vec<Value>| {
            assert_eq!(values.len(), 1, "{}", case.path.display());
            values.into_iter().next().unwrap()
        };
        check_chrome_trace(&one(form(Form::ChromeTrace)), calls);
        check_otlp(&one(form(Form::OtlpJson)), calls);
        check_atif(&one(form(Form::Atif)), calls);
        count += 1;
    }
    assert!(count > 300, "only {count}");
}

/// Goal: no form loses the text that a cut run has begun.
#[test]
fn the_text_of_a_cut_run_is_kept() {
    let mut cut = 0;
    for case in cases() {
        let (stream, mut checker) = (case.bytes(), case.checker());
        let mut form = |to: Form| values(&converted(&stream, &mut checker, to));
        let events = form(Form::Events);
        if events.last().is_none_or(|last| last["type"] != "cut") {
            continue;
        }
        let of_segment = |segment: &Value| -> String {
            let deltas = events.iter().filter(|it| it["type"] == "text_delta");
            deltas.filter(|it| it["segment"] == *segment).map(|it| string(&it["text"])).collect()
        };
        let last = events.iter().rfind(|it| it["segment"].is_number());
        let Some(open) = last.filter(|it| it["type"] == "text_delta") else { continue };
        let open = of_segment(&open["segment"]);
        let trajectory = form(Form::Atif).remove(0);
        let messages = array(&trajectory["steps"]).iter().map(|step| string(&step["message"]));
        assert!(messages.into_iter().any(|it| it.ends_with(&open)), "{}", case.path.display());
        let trace = form(Form::ChromeTrace).remove(0);
        let spans = array(&trace["traceEvents"]).iter();
        let texts: Vec<_> = spans.filter(|it| it["name"] == "unfinished text").collect();
        assert_eq!(texts.len(), 1, "{}", case.path.display());
        assert_eq!(texts[0]["args"]["text"], open);
        cut += 1;
    }
    assert!(cut > 5, "only {cut}");
}

/// Goal: where an agent uses an id twice, each result belongs to one call.
#[test]
fn ids_of_a_step_differ() {
    let half = |subtype: &str, id: &str, path: &str| {
        let tool = json!({"readToolCall": {"args": {"path": path},
            "result": {"success": {"content": path}}}});
        let event = json!({"type": "tool_call", "subtype": subtype, "call_id": id,
            "tool_call": tool, "session_id": "s"});
        format!("{event}\n")
    };
    let both = |path: &str| half("started", "twice", path) + &half("completed", "twice", path);
    let inner = both("a") + &both("b");
    let stream = half("started", "around", "c") + &inner + &half("completed", "around", "c");
    let trajectory =
        converted(stream.as_bytes(), &mut checker(["--profile", "cursor"]), Form::Atif);
    let trajectory = values(&trajectory).remove(0);
    check_atif(&trajectory, 3);
    let step = &trajectory["steps"][0];
    let ids = |list: &Value, id: &str| -> Vec<String> {
        array(list).iter().map(|it| string(&it[id]).to_owned()).collect()
    };
    let expected = ["around", "twice", "twice#3"];
    assert_eq!(ids(&step["tool_calls"], "tool_call_id"), expected);
    assert_eq!(ids(&step["observation"]["results"], "source_call_id"), expected);
}

/// Goal: the bytes are the same however the input is cut, and in every run.
#[test]
fn forms_do_not_depend_on_how_the_stream_arrives() {
    let mut checked = 0;
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")).step_by(7) {
        let stream = case.bytes();
        for to in FORMS {
            let whole = converted(&stream, &mut case.checker(), to);
            for size in [1, 64] {
                let trickled = fed(&stream, size, &mut case.checker(), to);
                assert_eq!(trickled, whole, "{}, {to:?}", case.path.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 300, "only {checked}");
}

fn fed(stream: &[u8], size: usize, checker: &mut Checker, to: Form) -> String {
    let mut output = Written::new(
        Vec::new(),
        Box::new(Converter::new(to, FormStyle { is_raw: true, ..FormStyle::default() })),
    );
    let mut check = checker.stream("-");
    for piece in stream.chunks(size) {
        check.feed(piece, &mut output).unwrap();
    }
    check.finish(&ProducerExit::default(), &mut output).unwrap();
    text(output.writer().unwrap())
}

/// Goal: where a stream has no times, the forms say so and use none.
#[test]
fn times_are_those_of_the_stream_or_its_order() {
    let trace = |path: &str, profile: &str| {
        let stream = fs::read(root().join("fixtures/agents").join(path)).unwrap();
        let text = converted(&stream, &mut checker(["--profile", profile]), Form::ChromeTrace);
        values(&text).remove(0)
    };
    let start = |trace: &Value| {
        let calls = array(&trace["traceEvents"]).iter().filter(|it| it["ph"] == "b");
        calls.map(|it| it["ts"].as_u64().unwrap()).next().unwrap()
    };
    let timed = trace("cursor/plain.ndjson", "cursor");
    assert_eq!(timed["otherData"]["clock"], "the times in the stream");
    assert_eq!(start(&timed), 1_773_227_463_623_000);
    let untimed = trace("codex/tools.ndjson", "codex");
    assert!(string(&untimed["otherData"]["clock"]).starts_with("the order of the events: "));
    assert!(start(&untimed) < 1_000_000);
}
