//! Both engines find the same, to the byte, in all test data here and next to the repository.

use std::collections::BTreeMap;
use std::fs;

use ndjson_check::internals::profile_names;
use ndjson_check::{AgentFormat, Form, Rule, StreamSummary};
use serde_json::{Value, json};

use crate::contracts::{agents, engines, of_profile, subjects};
use crate::differential::{Batch, Engines};
use crate::mutation::{Corpus, Mutator, Random, damage};
use crate::streams::{cases, files, root, run_on, shared, some_cases, takes_all_cases};
use crate::support::builder;

/// The summaries, where the engines agree; the smallest streams that show a difference, where not.
fn agree(engines: &Engines, batch: &Batch, name: &str) -> Vec<StreamSummary> {
    engines.compare(batch).unwrap_or_else(|difference| panic!("{name}: {difference}"))
}

/// How many bytes of a stream arrive at once; 0 is all.
const CHUNKS: [usize; 3] = [4_096, 0, 1];

/// The same streams in every conversion and in none, in chunks of several sizes.
fn agree_in_every_way(engines: &Engines, streams: &[Vec<u8>], name: &str) {
    agree_in_forms(engines, streams, name, &Form::ALL);
}

/// The same in these conversions only, and in none.
fn agree_in_forms(engines: &Engines, streams: &[Vec<u8>], name: &str, forms: &[Form]) {
    let forms = [None].into_iter().chain(forms.iter().map(|&form| Some((form, false))));
    for (to, bytes) in forms.zip(CHUNKS.into_iter().cycle()) {
        let streams = streams.to_vec();
        let batch = Batch { streams, to, read_bytes: bytes, feed_bytes: bytes };
        agree(engines, &batch, name);
    }
}

fn streams(paths: &[std::path::PathBuf]) -> Vec<Vec<u8>> {
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Method: some of the fixtures, twice, by one checker for all that have the same flags; as each
/// format, and in one conversion. To build a checker takes longer than to check a fixture.
#[test]
fn engines_agree_on_the_fixtures() {
    let mut groups: BTreeMap<Vec<String>, Vec<Vec<u8>>> = BTreeMap::new();
    for case in some_cases(6) {
        let bytes = case.bytes();
        groups.entry(case.flags).or_default().extend([bytes.clone(), bytes]);
    }
    for ((flags, streams), forms) in groups.into_iter().zip(Form::ALL.chunks(1).cycle()) {
        let name = format!("{flags:?}");
        let built = || builder(flags.iter().map(String::as_str));
        agree_in_forms(&Engines::new(built()).unwrap(), &streams, &name, forms);
        for format in [AgentFormat::Json, AgentFormat::StreamJson] {
            let engines = Engines::new(built().format(format)).unwrap();
            agree(&engines, &Batch { streams: streams.clone(), ..Batch::default() }, &name);
        }
    }
}

/// Method: long lines that the tape refuses, of which no tree is built; each also as the last line
/// without its end, behind a byte order mark, broken, and in an array.
#[test]
fn engines_agree_on_long_lines_with_duplicate_keys() {
    let long = format!("\"long\":\"{}\"", "x".repeat(70_000));
    let many: Vec<String> = (0..40).map(|it| format!("\"k{it}\":{{\"a\":[1,{{}}]}},")).collect();
    let many = many.concat();
    let bodies = [
        r#""a":[1,{"b":[]}],"result":5,"a":{"c":[{},2]}"#.to_owned(),
        r#""y":[{"a":{},"b":[[1],2],"a":[{"z":1,"z":[2]}],"\u0061":3},{"c":1}]"#.to_owned(),
        format!(r#"{many}"k7":[{{}}],"k\u0038":2,"result":"b","k7":[{{"k7":1,"k7":2}}]"#),
    ];
    let mut streams = Vec::new();
    for body in bodies {
        let line = format!(
            r#"{{"type":"result",{long},{body},"subtype":"success","result":"","type":"result"}}"#
        );
        let forms = [
            format!("{line}\n"),
            line.clone(),
            format!("\u{feff}{line} \r\n{line}"),
            format!("{line}x\n"),
            format!("[{line}]"),
            line[..line.len() - 1].to_owned(),
        ];
        streams.extend(forms.map(String::into_bytes));
    }
    let engines = Engines::new(builder(["--profile", "cursor"])).unwrap();
    agree_in_every_way(&engines, &streams, "long lines");
}

/// Method: one checker takes some of the fixtures, one after the other, under contracts that read
/// much and little; then all recordings, of every agent. Half of the streams are converted, the
/// other half under the next contract. Each conversion is tried under one or two of the contracts.
#[test]
fn engines_agree_on_streams_in_a_row() {
    let mut paths: Vec<_> = some_cases(6).map(|case| root().join(case.path)).collect();
    if let Some(folder) = shared("captures") {
        let recordings = files(&folder, "ndjson");
        assert!(recordings.len() >= 50, "only {} recordings", recordings.len());
        paths.extend(recordings);
    }
    let streams = streams(&paths);
    let (odd, even): (Vec<_>, Vec<_>) =
        streams.into_iter().zip(0..).partition(|(_, at)| at % 2 == 1);
    let halves = [odd, even].map(|half| half.into_iter().map(|(stream, _)| stream).collect());
    for ((at, subject), form) in subjects().iter().enumerate().zip(Form::ALL.into_iter().cycle()) {
        let [plain, converted]: [&Vec<Vec<u8>>; 2] = [&halves[at % 2], &halves[(at + 1) % 2]];
        let whole = Batch { streams: plain.clone(), ..Batch::default() };
        agree(&subject.engines, &whole, &subject.name);
        let bytes = CHUNKS[at % CHUNKS.len()];
        let to = Some((form, false));
        let cut = Batch { streams: converted.clone(), to, read_bytes: bytes, feed_bytes: bytes };
        agree(&subject.engines, &cut, &subject.name);
    }
}

/// Method: one checker takes all streams of an agent, under its own profile, with and without its
/// schema, in none and in one conversion (in all, if tests take all cases); its recordings, in all.
#[test]
fn engines_agree_on_the_streams_of_each_agent() {
    for (subject, forms) in agents().iter().zip(Form::ALL.chunks(1).cycle()) {
        let agent = subject.name.split(' ').next().unwrap();
        let fixtures = files(&root().join("fixtures/agents").join(agent), "ndjson");
        let forms = if takes_all_cases() { &Form::ALL } else { forms };
        agree_in_forms(&subject.engines, &streams(&fixtures), &subject.name, forms);
    }
    let Some(folder) = shared("captures/other-agents") else { return };
    let mut recordings: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    for path in files(&folder, "ndjson") {
        let file = path.file_stem().unwrap().to_str().unwrap();
        // `kimi` begins `kimi-code`, too.
        let own = profile_names().filter(|&agent| file.starts_with(agent));
        let agent = own.max_by_key(|agent| agent.len()).unwrap_or_else(|| panic!("{file}"));
        recordings.entry(agent).or_default().push(fs::read(&path).unwrap());
    }
    assert!(recordings.len() >= 14, "only {:?}", recordings.keys());
    for (agent, streams) in recordings {
        agree_in_every_way(&Engines::new(of_profile(agent)).unwrap(), &streams, agent);
    }
}

/// Method: recordings whose lines are damaged, varied and mixed.
#[test]
fn engines_agree_on_damaged_recordings() {
    let Some(folder) = shared("captures") else { return };
    let corpus = Corpus::new(streams(&files(&folder, "ndjson")), false);
    let mut damaged = 0;
    for (seed, subject) in (1..).zip(subjects().iter().chain(agents())) {
        let mut mutator = Mutator::new(&corpus, seed);
        let streams = (0..20).map(|_| mutator.stream()).collect();
        agree(&subject.engines, &Batch { streams, ..Batch::default() }, &subject.name);
        damaged += mutator.made().damaged;
    }
    assert!(damaged > 2_000, "only {damaged}");
}

/// Goal: it does not matter how the bytes arrive.
/// Method: damaged and varied streams, byte by byte and in other small chunks.
#[test]
fn engines_agree_however_a_stream_arrives() {
    for (seed, subject) in (1..).zip(subjects().iter().chain(agents())) {
        let mut mutator = Mutator::new(&subject.corpus, seed);
        for bytes in [1, 63] {
            let streams = (0..4).map(|_| mutator.stream()).collect();
            let batch = Batch { streams, to: None, read_bytes: bytes, feed_bytes: bytes };
            agree(&subject.engines, &batch, &subject.name);
        }
    }
}

/// Goal: arguments that are too large to be kept are compared by value, however they are written.
/// Method: four calls are open at once whose halves write the same in two ways; then one of them
/// writes something else.
#[test]
fn engines_agree_on_large_calls() {
    let half = |half: &str, id: usize, args: &str, result: &str| {
        let call = format!(r#"{{"readToolCall":{{"args":{args}{result}}}}}"#);
        let head = format!(r#""type":"tool_call","subtype":"{half}","call_id":"{id}""#);
        format!(r#"{{{head},"tool_call":{call},"session_id":"s"}}"#)
    };
    let args = |escapes: [&str; 4], last: &str| {
        let [slash, line, accent, quote] = escapes;
        let text = format!("a{slash}b{line}{accent}{quote}").repeat(10_000);
        (format!(r#""path":"{text}""#), format!(r#""n":[1,"{last}"]"#))
    };
    let plain = ["/", r"\n", "é", r#"\""#];
    let other_way = [r"\/", r"\u000a", r"\u00E9", r"\u0022"];
    let stream = |changed: &str| {
        let (path, n) = args(plain, "x");
        let starts = format!("{{{path},{n}}}");
        let mut lines: Vec<String> = (0..4).map(|id| half("started", id, &starts, "")).collect();
        for id in 0..4 {
            let (path, n) = args(other_way, if id == 2 { changed } else { "x" });
            let ends = format!("{{{n},{path}}}");
            lines.push(half("completed", id, &ends, r#","result":{"success":{}}"#));
        }
        lines.into_iter().flat_map(|line| (line + "\n").into_bytes()).collect::<Vec<u8>>()
    };
    let engines =
        Engines::new(of_profile("cursor").severity(Rule::MissingSessionStart, None)).unwrap();
    for (changed, expected) in [("x", None), ("y", Some(1)), (r"\u0078", None)] {
        let batch = Batch { streams: vec![stream(changed)], ..Batch::default() };
        assert!(batch.streams[0].len() > 8 * 100_000);
        let summaries = agree(&engines, &batch, changed);
        assert_eq!(
            summaries[0].rule_counts.get(&Rule::CallMismatch),
            expected.as_ref(),
            "{changed}"
        );
    }
}

/// Method: each text of the suite as a line, as a member and as one item of many, between good
/// lines that are alike.
#[test]
fn engines_agree_on_the_json_test_suite() {
    let Some(folder) = shared("data/JSONTestSuite/test_parsing") else { return };
    let engines = Engines::new(of_profile("cursor")).unwrap();
    let good = br#"{"type":"system","x":[1,{"a":"b"}]}"#;
    let mut checked = 0;
    for path in files(&folder, "json") {
        let text = fs::read(&path).unwrap();
        let member = [br#"{"type":"system","x":"#, &text[..], b"}"].concat();
        let item = [br#"{"type":"system","x":[1,{"a":"#, &text[..], b"}]}"].concat();
        let lines = [good, good, good, &text[..], &member, good, &item, good, &member, &text];
        for end in [&b"\n"[..], b"\r\n", b""] {
            let stream = [&lines.join(&b'\n'), end].concat();
            agree(&engines, &Batch { streams: vec![stream], ..Batch::default() }, "suite");
        }
        checked += 1;
    }
    assert_eq!(checked, 318);
}

/// Method: the program, with its flag, and what only it does: a filter, and the human report. One
/// stream in six is enough: the tests above compare what both engines find in all of them.
#[test]
fn the_program_prints_the_same_with_both_engines() {
    let cases = cases();
    let chosen = cases.iter().filter(|case| case.is_good_run() || case.flags.len() > 1);
    for case in chosen.step_by(6) {
        let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
        let only_valid = ["--to", "stream-json", "--only-valid"];
        let outputs = ["fast", "reference"].map(|engine| {
            let flags = [&flags[..], &only_valid, &["--engine", engine]].concat();
            run_on(&flags, &case.bytes())
        });
        assert_eq!(outputs[0], outputs[1], "{}", case.path.display());
    }
}

/// Goal: the cache of shapes hides nothing that a schema reads.
/// Method: every test of the suite through a user schema, as an event if it is an object and as
/// the member of one; then damaged. A schema that refers to another document is left out.
#[test]
fn engines_agree_on_the_json_schema_test_suite() {
    let Some(folder) = shared("data/JSON-Schema-Test-Suite/tests/draft2020-12") else { return };
    let (mut decided, mut left_out, mut random) = (0, 0, Random::new(1));
    // A built-in profile takes longer to load than all of its tests.
    let profile = json!({
        "name": "suite",
        "title": "Events of the suite",
        "tags": {"at": ["/type"]},
        "text": {"rules": [{"when": {"/type": "text"}, "mode": "delta", "value": "/text"}]}
    });
    for path in files(&folder, "json") {
        let groups: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let Ok(whole) = engines(Some(&profile), Some(&group["schema"])) else {
                left_out += 1;
                continue;
            };
            let tests = group["tests"].as_array().unwrap();
            // What is optional may be decided either way, but by both engines in the same way.
            let optional = path.components().any(|it| it.as_os_str() == "optional");
            let expected = |test: &Value| test["valid"].as_bool().filter(|_| !optional);
            let members: Vec<Test> =
                tests.iter().map(|test| (json!({"data": test["data"]}), expected(test))).collect();
            let wrapped = engines(Some(&profile), Some(&wrapped(&group["schema"]))).unwrap();
            decided += suite_group(&wrapped, &members, &mut random);
            let objects = tests.iter().filter(|test| test["data"].is_object());
            let objects: Vec<Test> =
                objects.map(|test| (test["data"].clone(), expected(test))).collect();
            decided += suite_group(&whole, &objects, &mut random);
        }
    }
    assert!(decided > 1_600, "only {decided}");
    assert!(left_out < 40, "{left_out} groups were refused");
}

/// An event, and whether it is valid, if that is certain.
type Test = (Value, Option<bool>);

/// Tests of one schema: each by itself, all in a row, and damaged.
fn suite_group(engines: &Engines, tests: &[Test], random: &mut Random) -> usize {
    let lines: Vec<Vec<u8>> = tests.iter().map(|(data, _)| format!("{data}\n").into()).collect();
    let mut streams: Vec<Vec<u8>> = lines.iter().map(|line| line.repeat(3)).collect();
    streams.push(lines.concat().repeat(2));
    let mut damaged = Vec::new();
    for line in lines.iter().cycle().take(lines.len() * 4) {
        let mut line = line[..line.len() - 1].to_vec();
        if random.chance(70) {
            damage(&mut line, random);
        }
        damaged.extend(line);
        damaged.push(b'\n');
    }
    streams.push(damaged);
    let summaries = agree(engines, &Batch { streams, ..Batch::default() }, "suite");
    let mut decided = 0;
    for ((data, expected), summary) in tests.iter().zip(&summaries) {
        let valid = !summary.rule_counts.contains_key(&Rule::SchemaViolation);
        assert_eq!(valid, expected.unwrap_or(valid), "{data}");
        decided += usize::from(expected.is_some());
    }
    decided
}

/// The schema for the member `data`. It stays a document, so that its references to
/// `#` keep their meaning.
fn wrapped(schema: &Value) -> Value {
    let mut inner = schema.clone();
    let mut reference = json!("#/$defs/suite");
    if let Some(inner) = inner.as_object_mut() {
        let own = json!("https://suite.example/root");
        reference = inner.entry("$id").or_insert(own).clone();
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"data": {"$ref": reference}},
        "$defs": {"suite": inner}
    })
}
