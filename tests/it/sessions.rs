//! Several sessions in one stream, each judged on its own.

use std::fs;

use ndjson_check::{Checker, Diagnostic, Observer, ProducerExit, Rule, StreamSummary};
use serde_json::Value;

use crate::bytes::Pieces;
use crate::streams::{Case, cases, root, run_on, text};

/// The summaries of sessions, and their diagnostics.
#[derive(Default)]
struct Sessions {
    summaries: Vec<StreamSummary>,
    found: Vec<Vec<Diagnostic>>,
    open: Vec<Diagnostic>,
}

impl Observer for Sessions {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.open.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.summaries.push(summary.clone());
        self.found.push(std::mem::take(&mut self.open));
    }
}

/// Everything that is known about a session, but for its place in the stream.
fn reported(summary: &StreamSummary, found: &[Diagnostic], before: (u64, u64)) -> String {
    let (lines, offset) = before;
    let found = found.iter().map(|it| {
        let place = (it.line.map(|line| line - lines), it.offset.map(|at| at - offset));
        let related = it.related_line.map(|line| line - lines);
        format!("{} {:?} {place:?} {related:?}\n", it.rule, it.severity)
    });
    let found: String = found.collect();
    let mut summary = summary.clone();
    summary.name = String::new();
    summary.last_event_line -= lines;
    summary.cut_line = summary.cut_line.map(|line| line - lines);
    for call in &mut summary.tool_calls {
        call.started_line = call.started_line.map(|line| line - lines);
        call.completed_line = call.completed_line.map(|line| line - lines);
    }
    for unknown in &mut summary.unknown {
        unknown.line -= lines;
    }
    // Notes name lines.
    summary.notes.clear();
    format!("{found}{summary:?}")
}

/// Goal: a session is judged as if it were alone, wherever it is in the stream.
/// Method: all fixtures of four agents that begin with the start of a session and end with a line
/// feed, joined per agent, and a run whose last line only a later event would contradict; whole
/// and cut at every few bytes.
#[test]
fn a_session_is_judged_as_if_it_were_alone() {
    let starts = [
        ("cursor", "\"subtype\":\"init\""),
        ("claude", "\"subtype\":\"init\""),
        ("codex", "\"thread.started\""),
        ("gemini", "\"init\""),
    ];
    for (agent, start) in starts {
        let builder = || Checker::builder().profile(agent);
        let mut checker = builder().build().unwrap();
        let mut splitting = builder().many_sessions(true).build().unwrap();
        let (mut joined, mut expected, mut before) = (Vec::new(), Vec::new(), (0, 0));
        let mut last_id = None;
        let is_of_agent = |case: &Case| match &case.flags[..] {
            [] => agent == "cursor",
            flags => flags == ["--profile", agent],
        };
        let mut streams: Vec<_> =
            cases().into_iter().filter(is_of_agent).map(|it| it.bytes()).collect();
        if agent == "cursor" {
            let last = "RetriableError: [resource_exhausted] Error\n";
            let id = "\"session_id\":\"";
            let begun = text(&streams[0]).lines().take(3).collect::<Vec<_>>().join("\n");
            let begun = begun.replace(id, &format!("{id}failed-"));
            streams.insert(1, format!("{begun}\n{last}").into_bytes());
        }
        for bytes in streams {
            let first = bytes.split(|it| *it == b'\n').next().unwrap_or_default();
            let is_start = first.windows(start.len()).any(|it| it == start.as_bytes());
            if !(is_start && bytes.starts_with(b"{") && bytes.ends_with(b"\n")) {
                continue;
            }
            let mut alone = Sessions::default();
            let summary = checker.check("", &bytes[..], &mut alone).unwrap();
            let mut split = Sessions::default();
            splitting.check("", &bytes[..], &mut split).unwrap();
            if split.summaries.len() > 1
                || summary.session_id.is_none()
                || summary.session_id == last_id
            {
                continue;
            }
            last_id = summary.session_id.clone();
            expected.push((reported(&summary, &alone.found[0], (0, 0)), before));
            before = (before.0 + summary.lines, before.1 + summary.bytes);
            joined.extend(bytes);
        }
        assert!(expected.len() > 3, "{agent}: {}", expected.len());
        for size in [usize::MAX, 1000, 7] {
            let mut sessions = Sessions::default();
            let mut stream = splitting.stream("all");
            let pieces = Pieces { bytes: &joined, sizes: &[size.min(joined.len())], next: 0 };
            stream.read(pieces, &mut sessions).unwrap();
            stream.finish(&ProducerExit::default(), &mut sessions).unwrap();
            assert_eq!(sessions.summaries.len(), expected.len(), "{agent}");
            for (at, (expected, before)) in expected.iter().enumerate() {
                let summary = &sessions.summaries[at];
                assert_eq!(summary.name, format!("all#{}", at + 1));
                assert_eq!(
                    &reported(summary, &sessions.found[at], *before),
                    expected,
                    "{agent}, {at}"
                );
            }
        }
    }
}

/// Goal: a session may come back after another.
/// Method: deltas, the whole run of another session, and more deltas of the same shape.
#[test]
fn a_session_begins_without_its_start() {
    let read = |name: &str| {
        fs::read_to_string(root().join(format!("fixtures/agents/cursor/{name}.ndjson"))).unwrap()
    };
    let (deltas, id) = (read("partial"), "\"session_id\":\"");
    let other = read("tools-files").replace(id, &format!("{id}other-"));
    let rest = deltas.split_inclusive('\n').skip(2).collect::<String>();
    let mut checker = Checker::builder().profile("cursor").many_sessions(true).build().unwrap();
    let mut sessions = Sessions::default();
    let joined = format!("{deltas}{other}{rest}");
    checker.check("all", joined.as_bytes(), &mut sessions).unwrap();
    let raised = |at: usize| sessions.summaries[at].rule_counts.keys().next().copied();
    assert_eq!([0, 1, 2].map(raised), [None, None, Some(Rule::MissingSessionStart)]);
}

/// Goal: the end of a run, whose other events have no id, is not a run.
#[test]
fn an_end_begins_no_session() {
    let path = root().join("fixtures/agents/copilot/tools.ndjson");
    let first = fs::read_to_string(path).unwrap();
    let id = "\"sessionId\":\"";
    let other = first.replace(id, &format!("{id}f"));
    assert_eq!(first.matches(id).count(), 1);
    let mut checker = Checker::builder().profile("copilot").many_sessions(true).build().unwrap();
    let mut sessions = Sessions::default();
    checker.check("all", format!("{first}{other}").as_bytes(), &mut sessions).unwrap();
    assert_eq!(sessions.summaries.len(), 1);
    assert!(sessions.summaries[0].rule_counts.contains_key(&Rule::EventAfterTerminal));
}

/// Goal: on the command line each session has its line, and counts.
/// Method: a cut session between two good ones, as a file, several files, and standard input with
/// a report file.
#[test]
fn each_session_has_its_verdict() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let good = read("fixtures/agents/cursor/plain.ndjson");
    let cut = read("fixtures/rules/missing-terminal-event/open-calls.ndjson");
    let other = read("fixtures/agents/cursor/partial.ndjson");
    let all = format!("{good}{cut}{other}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.ndjson");
    fs::write(&file, &all).unwrap();
    let (file, report) = (file.to_str().unwrap(), folder.path().join("report"));
    let to_file = format!("json={}", report.display());
    for (arguments, name, times) in [
        (vec!["--report", "json", "-"], "-", 1),
        (vec!["--report", "json", file], file, 1),
        (vec!["--report", "json", "--jobs", "2", file, file], file, 2),
        (vec!["--report", &to_file, "-"], "-", 1),
    ] {
        let arguments = [&["--sessions", "many"], &arguments[..]].concat();
        let output = run_on(&arguments, all.as_bytes());
        let json = if arguments.contains(&to_file.as_str()) {
            fs::read_to_string(&report).unwrap()
        } else {
            text(&output.stdout)
        };
        assert_eq!(output.status.code(), Some(1), "{json}");
        let lines: Vec<Value> = json.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        let of = |kind: &str| lines.iter().filter(|it| it["type"] == *kind).collect::<Vec<_>>();
        let outcomes: Vec<_> = of("stream").iter().map(|it| it["outcome"].clone()).collect();
        assert_eq!(outcomes, ["succeeded", "truncated", "succeeded"].repeat(times), "{json}");
        assert_eq!(of("stream")[2]["path"], format!("{name}#3"));
        assert_eq!(of("stream")[0].get("sha256"), None);
        let missing = of("diagnostic");
        let line = (good.clone() + &cut).lines().count();
        assert_eq!(
            (&missing[0]["path"], &missing[0]["line"]),
            (&format!("{name}#2").into(), &line.into())
        );
        assert_eq!((&of("summary")[0]["streams"], missing.len()), (&(3 * times).into(), times));
    }
}

/// Goal: what is about one run cannot be asked of many.
#[test]
fn many_sessions_are_of_recordings() {
    for (arguments, option) in [
        (vec!["--timeout", "1s"], "--timeout"),
        (vec!["--call-timeout", "1s"], "--call-timeout"),
        (vec!["--exit-status", "0"], "--exit-status"),
        (vec!["--redact", "secrets"], "--redact"),
        (vec!["--redact-env", "PATH"], "--redact-env"),
        (vec!["--", "true"], "a command"),
    ] {
        let arguments = [&["--sessions", "many"], &arguments[..]].concat();
        let output = run_on(&arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let expected = format!("ndjson-check: --sessions many cannot be used with {option}\n");
        assert_eq!(text(&output.stderr), expected, "{arguments:?}");
    }
}

/// Goal: a run that goes on with an earlier session is a run of its own.
/// Method: two runs of one id, of an agent that starts each of them once.
#[test]
fn a_resumed_session_is_judged_again() {
    let run = fs::read_to_string(root().join("fixtures/agents/cursor/plain.ndjson")).unwrap();
    let output = run_on(&["--sessions", "many"], run.repeat(2).as_bytes());
    let report = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{report}");
    assert!(report.contains("2 streams: 2 passed"), "{report}");
    // Without the flag, the headline names it; also for an agent that may start each turn.
    let claude = fs::read_to_string(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let id = "\"session_id\":\"";
    let other = claude.replace(id, &format!("{id}other-"));
    for two in [run.repeat(2), format!("{claude}{other}")] {
        let report = text(&run_on(&[], two.as_bytes()).stdout);
        assert!(report.contains("more than one run: `--sessions many` judges"), "{report}");
    }
}

/// Goal: events before the one that starts a session belong to it, so that they join no two
/// sessions.
#[test]
fn hooks_belong_to_the_session_that_they_precede() {
    let read = |name: &str| {
        fs::read_to_string(root().join(format!("fixtures/agents/claude/{name}.ndjson"))).unwrap()
    };
    let joined = ["failed-run", "hooks-first", "plain"].map(read).concat();
    let mut checker = Checker::builder().profile("claude").many_sessions(true).build().unwrap();
    let mut sessions = Sessions::default();
    checker.check("all", joined.as_bytes(), &mut sessions).unwrap();
    let reported: Vec<_> =
        sessions.summaries.iter().map(|it| (it.outcome.name(), it.lines)).collect();
    let lines = |name: &str| read(name).lines().count() as u64;
    let expected = [
        ("failed", lines("failed-run")),
        ("succeeded", lines("hooks-first")),
        ("succeeded", lines("plain")),
    ];
    assert_eq!(reported, expected);
    assert!(sessions.found.iter().flatten().all(|it| it.rule.name() != "session-id-changed"));
}

/// Goal: an end without an id is of the session before it, unless that one has ended. Method: a run
/// and a message that cannot be sent, one after the other; how many sessions there are.
#[test]
fn an_end_without_an_id_is_of_an_open_session() {
    let read = |name: &str| {
        fs::read_to_string(root().join(format!("fixtures/agents/letta/{name}.ndjson"))).unwrap()
    };
    let (sent, lost) = (read("cloud-send"), read("cloud-send-failed"));
    let open = read("cloud-send-failed-after-init");
    for (stream, sessions) in [
        (open.clone(), 1),
        (format!("{sent}{open}"), 1),
        (format!("{open}{sent}"), 2),
        (format!("{sent}{lost}"), 2),
        (format!("{lost}{lost}"), 2),
        (format!("{lost}{sent}"), 2),
    ] {
        let flags = ["--sessions", "many", "--report", "json"];
        let output = run_on(&flags, stream.as_bytes());
        let report = text(&output.stdout);
        let found = report.lines().filter(|line| line.starts_with("{\"type\":\"stream\""));
        assert_eq!(found.count(), sessions, "{stream}");
    }
}

/// Goal: a run that was killed does not become part of the run that another start appends.
/// Method: recordings of agents whose starts name no session, or that name sub-agents like one.
#[test]
fn a_run_after_a_cut_is_another_one() {
    for agent in ["cline", "kimi-code", "mastracode"] {
        let file = root().join(format!("fixtures/agents/{agent}/second-run-after-a-cut.ndjson"));
        let stream = fs::read(file).unwrap();
        let report = text(&run_on(&[], &stream).stdout);
        assert!(report.contains("more than one run: `--sessions many` judges"), "{report}");
        let output = run_on(&["--sessions", "many"], &stream);
        let report = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{report}");
        assert!(report.contains("2 streams: 1 × cut short, 1 passed"), "{report}");
    }
}
