//! Secrets that are planted into the streams of every agent: in every place, in pieces, cut.

use std::collections::BTreeSet;
use std::fs;

use ndjson_check::{
    Checker, Event, EventKind, Form, Observer, ProducerExit, Redactor, StreamStart,
};
use serde_json::{Value, json};

use crate::streams::{cases, checker, files, program, root};

/// Observes for a redactor.
struct Redacting(Redactor);

impl Observer for Redacting {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), ndjson_check::Error> {
        self.0.begin(start)
    }
}

fn redacted(checker: &mut Checker, events: &[Value]) -> String {
    let lines: Vec<String> = events.iter().map(|event| format!("{event}\n")).collect();
    let (mut out, mut redacting) = (Vec::new(), Redacting(Redactor::secrets(&[])));
    let mut stream = checker.stream("-");
    for line in &lines {
        let is_checked = stream.feed(line.as_bytes(), &mut redacting).is_ok();
        redacting.0.feed(line.as_bytes(), &mut out);
        if !is_checked {
            break;
        }
    }
    let _ = stream.finish(&ProducerExit::default(), &mut ());
    redacting.0.finish(&mut out);
    String::from_utf8(out).unwrap()
}

/// Each with the size of what it begins with, which is no secret. Made at run time, so that this
/// file contains no secret.
fn secrets() -> [(String, usize); 3] {
    let body = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6";
    let key = format!("MIIEow{body}{body}\n").repeat(6);
    let label = "RSA PRIVATE KEY-----";
    let begins = [
        (["gh", "p_"].concat(), body.to_owned()),
        (["sk-", "ant-api03-"].concat(), body.repeat(2)),
        (format!("-----BEGIN {label}\n"), format!("{key}-----END {label}")),
    ];
    begins.map(|(begin, rest)| (format!("{begin}{rest}"), begin.len()))
}

/// Whether 12 characters in a row of a secret are there, behind what it begins with.
fn shows(out: &str, secret: &str, begin: usize) -> bool {
    let body: Vec<char> =
        secret.get(begin..).unwrap_or_default().replace('\n', "\\n").chars().collect();
    let body = body.split(|it| "\\ -".contains(*it)).flat_map(|run| run.windows(12));
    body.map(|part| part.iter().collect::<String>()).any(|part| out.contains(&part))
}

/// The streams of each agent that say most, and the longest recordings.
fn streams() -> Vec<(String, Vec<Value>)> {
    let mut paths: Vec<(String, std::path::PathBuf)> = Vec::new();
    for case in cases().iter().filter(|case| case.path.starts_with("fixtures/agents")) {
        paths.push((case.folder().to_owned(), root().join(&case.path)));
    }
    for path in files(&root().join("lab/recordings"), "ndjson") {
        let folder = path.parent().and_then(|it| it.file_name()).unwrap();
        let name = folder.to_str().unwrap();
        paths.push((name.rsplit_once('-').unwrap().0.to_owned(), path));
    }
    let mut streams: Vec<(String, Vec<Value>)> = Vec::new();
    for (agent, path) in paths {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let events: Option<Vec<Value>> =
            text.lines().map(|line| serde_json::from_str(line).ok()).collect();
        let Some(events) = events.filter(|events| (3..120).contains(&events.len())) else {
            continue;
        };
        let kinds = |events: &[Value]| events.iter().flat_map(shapes).collect::<BTreeSet<_>>();
        let seen: BTreeSet<String> =
            streams.iter().filter(|it| it.0 == agent).flat_map(|it| kinds(&it.1)).collect();
        let count = streams.iter().filter(|it| it.0 == agent).count();
        if count < 2 && kinds(&events).difference(&seen).count() > 5 {
            streams.push((agent, events));
        }
    }
    streams
}

/// The places of the strings of an event, with what its first members say.
fn shapes(event: &Value) -> Vec<String> {
    let tag: Vec<&str> = ["/type", "/subtype", "/method", "/role", "/event/type", "/payload_type"]
        .iter()
        .filter_map(|place| event.pointer(place)?.as_str())
        .collect();
    let mut places = Vec::new();
    strings(event, String::new(), &mut places);
    places.into_iter().map(|place| format!("{} {}", tag.join("/"), place)).collect()
}

/// JSON Pointers of all strings.
fn strings(value: &Value, place: String, into: &mut Vec<String>) {
    match value {
        Value::String(_) => into.push(place),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(3) {
                strings(item, format!("{place}/{index}"), into);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                strings(item, format!("{place}/{key}"), into);
            }
        }
        _ => {}
    }
}

/// The first string of each shape: the number of its event, and its place.
fn places(events: &[Value]) -> Vec<(usize, String)> {
    let mut seen = BTreeSet::new();
    let mut places = Vec::new();
    for (number, event) in events.iter().enumerate() {
        for shape in shapes(event) {
            let place = shape.rsplit_once(' ').unwrap().1.to_owned();
            if seen.insert(shape) {
                places.push((number, place));
            }
        }
    }
    places
}

fn set(event: &mut Value, place: &str, change: impl FnOnce(&str) -> String) {
    if let Some(Value::String(text)) = event.pointer_mut(place) {
        *text = change(text);
    }
}

/// The events that have a whole message, or the end of a call.
struct WholeEvents<'e> {
    events: &'e [Value],
    numbers: BTreeSet<usize>,
}

impl Observer for WholeEvents<'_> {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            let Some(line) = event.at.line else { continue };
            let number = usize::try_from(line - 1).unwrap();
            let is_whole = match &event.kind {
                EventKind::Text(segment) => {
                    let text = Value::from(&*segment.beginning).to_string();
                    self.events[number].to_string().contains(&text)
                }
                EventKind::CallCompleted(_) => true,
                _ => false,
            };
            self.numbers.extend(is_whole.then_some(number));
        }
    }
}

fn whole_events(checker: &mut Checker, events: &[Value]) -> BTreeSet<usize> {
    let mut whole = WholeEvents { events, numbers: BTreeSet::new() };
    let mut stream = checker.stream("-");
    for event in events {
        stream.feed(format!("{event}\n").as_bytes(), &mut whole).unwrap();
    }
    stream.finish(&ProducerExit::default(), &mut whole).unwrap();
    whole.numbers
}

/// Goal: a secret is found in every string of every agent's events.
#[test]
fn no_planted_secret_survives_in_any_place() {
    let mut count = 0;
    let mut agents = BTreeSet::new();
    for (agent, events) in streams() {
        let mut checker = checker(["--profile", &agent]);
        for (index, (number, place)) in places(&events).into_iter().enumerate() {
            let (secret, begin) = &secrets()[index % 3];
            let mut planted = events.clone();
            set(&mut planted[number], &place, |text| format!("{text} {secret}"));
            let out = redacted(&mut checker, &planted);
            assert!(!shows(&out, secret, *begin), "{agent} {number}{place}\n{out}");
            count += 1;
        }
        agents.insert(agent);
    }
    assert!(count > 1_000 && agents.len() >= 27, "{count} {agents:?}");
}

/// Goal: nor in two strings at the same place of neighbouring events, wherever it is cut.
#[test]
fn no_planted_secret_survives_in_two_events() {
    let mut count = 0;
    for (agent, events) in streams() {
        let mut checker = checker(["--profile", &agent]);
        let mut seen = BTreeSet::new();
        let whole = whole_events(&mut checker, &events);
        for number in 1..events.len() {
            let (first, second) = (&events[number - 1], &events[number]);
            // Strings of two calls are two texts, and so are two messages.
            let is_whole = [number - 1, number].iter().any(|it| {
                let event = &events[*it];
                whole.contains(it) || event["type"] == "assistant" || event["done"] == true
            });
            // So are a thought and the message behind it.
            let kind = |event: &Value| event.pointer("/data/update/sessionUpdate").cloned();
            if first["tool_id"] != second["tool_id"] || kind(first) != kind(second) || is_whole {
                continue;
            }
            let common = shapes(first).into_iter().filter(|it| shapes(second).contains(it));
            for shape in common.filter(|shape| seen.insert(shape.clone())).collect::<Vec<_>>() {
                let place = shape.rsplit_once(' ').unwrap().1;
                // What names an event or its kind is no text that goes on in the next one.
                if ["/type", "/kind", "/id"].iter().any(|end| place.ends_with(end)) {
                    continue;
                }
                let (secret, begin) = &secrets()[count / 4 % 3];
                for at in [5, 20, secret.len() / 2, secret.len() - 5] {
                    let mut planted = events.clone();
                    set(&mut planted[number - 1], place, |text| {
                        format!("{text} {}", &secret[..at])
                    });
                    set(&mut planted[number], place, |text| format!("{}{text}", &secret[at..]));
                    let out = redacted(&mut checker, &planted);
                    assert!(!shows(&out, secret, *begin), "{agent} {number} {shape} {at}\n{out}");
                    // The end of the stream cuts it.
                    planted.truncate(number);
                    let out = redacted(&mut checker, &planted);
                    assert!(
                        !shows(&out, &secret[..at], *begin),
                        "{agent} {number} {shape} {at}\n{out}"
                    );
                    count += 1;
                }
            }
        }
    }
    assert!(count > 250, "{count}");
}

/// Goal: no output of the program has a secret of the stream.
/// Method: secrets in every text of a run that fails, and every report, form and command.
#[test]
fn no_output_of_the_program_has_a_planted_secret() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let fixture = root().join("fixtures/agents/claude/failed-tool.ndjson");
    let lines = fs::read_to_string(fixture).unwrap();
    let secrets = secrets();
    let mut planted = String::new();
    for (number, line) in lines.lines().enumerate() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        let mut texts = Vec::new();
        strings(&event, String::new(), &mut texts);
        for (index, place) in texts.iter().enumerate() {
            let names_a_kind = ["type", "role", "id", "uuid", "name"];
            if !names_a_kind.iter().any(|name| place.ends_with(name)) {
                let (secret, _) = &secrets[(number + index) % 3];
                set(&mut event, place, |text| format!("{text} {secret}"));
            }
        }
        planted.extend([event.to_string(), "\n".to_owned()]);
    }
    let stream = at("stream.ndjson");
    fs::write(&stream, planted.replace("\"is_error\":false", "\"is_error\":true")).unwrap();
    let file = |kind: &str| format!("--report={kind}={}", at(kind));
    let mut commands: Vec<Vec<String>> = Vec::new();
    for report in ["human", "json", "junit", "sarif", "markdown", "github"] {
        commands.push(vec![format!("--report={report}"), stream.clone()]);
    }
    for form in Form::ALL.map(Form::name) {
        commands.push(vec![format!("--to={form}"), stream.clone()]);
    }
    commands.push(vec![file("html"), file("json"), format!("--tee={}", at("tee")), stream.clone()]);
    commands.push(vec![format!("--write-baseline={}", at("baseline")), stream.clone()]);
    commands.push(vec!["diff".to_owned(), stream.clone(), stream.clone()]);
    commands.push(vec!["drift".to_owned(), stream.clone()]);
    let run = format!("cat {stream}; cat {stream} >&2; exit 1");
    commands.push(["--", "sh", "-c", &run].map(str::to_owned).to_vec());
    let mut written = 0;
    for command in commands {
        let (flags, rest) =
            command.split_at(usize::from(["diff", "drift"].contains(&&*command[0])));
        let mut program = program();
        program
            .args(flags)
            .args(["--redact=secrets"])
            .args(rest)
            .stdin(std::process::Stdio::null());
        let output = program.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!error.contains("usage:") && !error.contains("unexpected"), "{command:?}: {error}");
        let mut outputs = vec![String::from_utf8_lossy(&output.stdout).into_owned(), error];
        for name in ["html", "json", "tee", "baseline"] {
            outputs.extend(fs::read_to_string(at(name)).ok());
        }
        for (out, (secret, begin)) in
            outputs.iter().flat_map(|out| secrets.iter().map(move |secret| (out, secret)))
        {
            assert!(!shows(out, secret, *begin), "{command:?}\n{out}");
        }
        written += usize::from(outputs.iter().any(|out| out.contains("[REDACTED")));
    }
    assert!(written > 15, "{written}");
}

/// Goal: a text that ends like the start of a secret does not take the next messages with it.
#[test]
fn whole_messages_do_not_go_on() {
    let mut checker = checker(["--profile", "codex"]);
    for end in ["I search for ghp_", "AUTH=oauth2", "grep -r eyJ", "pk.eyJ", "--password"] {
        let texts = [end, "README", "SK1234", "npm_config_registry_default_value_setting_2", "v1"];
        for kind in ["agent_message", "command_execution"] {
            let mut events = vec![json!({"type": "thread.started", "thread_id": "t"})];
            events.extend(texts.iter().enumerate().map(|(number, text)| {
                json!({"type": "item.completed", "item": {"id": format!("item_{number}"),
                    "type": kind, "text": text, "command": "ls", "aggregated_output": text,
                    "exit_code": 0, "status": "completed"}})
            }));
            let stream = events.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n";
            assert_eq!(redacted(&mut checker, &events), stream, "{kind}: {end}");
        }
    }
}
