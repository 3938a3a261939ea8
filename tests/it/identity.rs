//! No stream is judged as an agent's that did not write it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use ndjson_check::internals::profile_names;
use ndjson_check::{Checker, Error, Observer, Outcome, ProfileSource, StreamStart, Verdict};

use serde_json::{Map, Value};

use crate::streams::{Case, cases, checker, files, inherited, root, run_on, text};

/// Whose a stream is, by its events.
#[derive(Default)]
struct Found(Option<String>);

impl Observer for Found {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if start.source() == ProfileSource::Detected {
            self.0 = Some(start.profile().to_owned());
        }
        Ok(())
    }
}

fn found(checker: &mut Checker, stream: &[u8]) -> Option<String> {
    let mut found = Found::default();
    match checker.check("-", stream, &mut found) {
        Ok(_) => found.0,
        Err(
            Error::UnknownAgent { .. } | Error::UnreadFormat { .. } | Error::AmbiguousStream { .. },
        ) => None,
        Err(other) => panic!("{other}"),
    }
}

/// The agent whose stream a case is.
fn writer(case: &Case) -> Option<&str> {
    let mut folders = case.path.iter().skip(1).map(|it| it.to_str().unwrap());
    match (folders.next().unwrap(), folders.next().unwrap()) {
        ("agents", agent) => Some(agent),
        ("rules", _) => {
            let at = case.flags.iter().position(|flag| flag == "--profile");
            Some(at.map_or("cursor", |at| &case.flags[at + 1]))
        }
        _ => None,
    }
}

/// Streams of known agents: fixtures, and recordings of the lab.
fn streams() -> Vec<(String, String, Vec<u8>)> {
    let fixtures = cases().into_iter().filter_map(|case| {
        // Its events are another version's on purpose.
        let is_foreign = case.folder() == "wrong-profile";
        let agent = writer(&case).filter(|_| !is_foreign)?.to_owned();
        Some((agent, case.path.display().to_string().replace('\\', "/"), case.bytes()))
    });
    let names: BTreeSet<&str> = profile_names().collect();
    let recordings = files(&root().join("lab/recordings"), "ndjson").into_iter().map(|path| {
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let agent = folder.rsplit_once('-').unwrap().0;
        assert!(names.contains(agent), "{agent}");
        (agent.to_owned(), path.display().to_string(), fs::read(&path).unwrap())
    });
    fixtures.chain(recordings).collect()
}

fn lines(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    stream.split_inclusive(|byte| *byte == b'\n')
}

/// Whether a line of the first agent, alone, may also show the second.
fn are_relatives(own: &str, shown: &str) -> bool {
    let relatives = inherited(own, "relatives");
    relatives.as_array().is_some_and(|relatives| relatives.iter().any(|it| it == shown))
}

/// Goal: each detection rule names what only its agent writes.
/// Method: every line of every stream of an agent, alone, shows that agent or none.
#[test]
fn no_event_of_one_agent_shows_another() {
    let (mut checker, mut shown, mut wrong) = (checker([]), 0, BTreeMap::new());
    for (own, name, stream) in streams() {
        for line in lines(&stream) {
            let Some(agent) = found(&mut checker, line) else { continue };
            shown += 1;
            // Both versions of opencode write steps and texts alike.
            let is_latest = (&*own, &*agent) == ("opencode", "opencode-2");
            if agent != own && !are_relatives(&own, &agent) && !is_latest {
                wrong.entry((own.clone(), agent)).or_insert((name.clone(), text(line)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(shown > 2_000, "only {shown}");
}

fn passes(checker: &mut Checker, stream: &[u8]) -> bool {
    let summary = checker.check("-", stream, &mut Found::default());
    summary.is_ok_and(|it| it.verdict == Verdict::Conforming && it.outcome == Outcome::Succeeded)
}

/// Up to six lines of each agent that show it, of different shapes, and some invented ones.
fn heads(checker: &mut Checker, streams: &[(String, String, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let (mut heads, mut shapes) = (Vec::new(), BTreeMap::<_, BTreeSet<Vec<String>>>::new());
    for (agent, _, stream) in streams {
        let shapes = shapes.entry(agent).or_default();
        for line in lines(stream).filter(|line| line.ends_with(b"\n")) {
            let Ok(event) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
            let shape: Vec<String> = event.keys().cloned().collect();
            if shapes.len() < 6
                && !shapes.contains(&shape)
                && found(checker, line).as_ref() == Some(agent)
            {
                shapes.insert(shape);
                heads.push((agent.clone(), line.to_vec()));
            }
        }
    }
    let invented = [
        ("codex-old", r#"{"workdir":"a","provider":"b","sandbox":"c"}"#),
        ("codex-old", r#"{"workdir":"a","model":"m","provider":"b","sandbox":"c"}"#),
        ("codex-old", r#"{"id":"1","msg":{"type":"task_started"}}"#),
        ("codex-rollout", r#"{"type":"session_meta","payload":{}}"#),
        (
            "codex-rollout",
            r#"{"timestamp":"t","type":"session_meta","payload":{"session_id":"s"}}"#,
        ),
        ("claude-session", r#"{"isSidechain":false,"sessionId":"a","uuid":"b"}"#),
        ("claude-subagent", r#"{"isSidechain":true,"agentId":"c","sessionId":"a","uuid":"b"}"#),
        ("claude-session", r#"{"type":"summary","summary":"a","leafUuid":"b"}"#),
    ];
    heads
        .extend(invented.map(|(agent, line)| (agent.to_owned(), format!("{line}\n").into_bytes())));
    heads
}

/// Goal: a line in front of a stream does not turn the gate off.
/// Method: before each failing stream, each third of the lines that show another agent, in turn;
/// the stream does not pass.
#[test]
fn a_line_before_a_failing_stream_never_makes_it_pass() {
    let (mut checker, streams) = (checker([]), streams());
    let heads = heads(&mut checker, &streams);
    let agents: BTreeSet<&str> = heads.iter().map(|(agent, _)| agent.as_str()).collect();
    let without: Vec<&str> = profile_names().filter(|name| !agents.contains(name)).collect();
    assert_eq!(without, ["claude-like", "events", "jsonl"]);
    let is_empty = |stream: &[u8]| stream.iter().all(u8::is_ascii_whitespace);
    let mut failing = 0;
    for (agent, name, stream) in &streams {
        // Only the profile of this agent knows that a call was deferred, or that a hook blocked the
        // prompt: to others the text is an answer.
        let is_known_to_one = ["object-deferred-call.ndjson", "kimi/prompt-blocked.ndjson"];
        let is_known_to_one = is_known_to_one.iter().any(|it| name.ends_with(it));
        // A stream of an unknown agent is not judged at all.
        let is_judged = agent != "claude-like" && !is_known_to_one && !is_empty(stream);
        if !is_judged || passes(&mut checker, stream) {
            continue;
        }
        failing += 1;
        let some = heads.iter().skip(failing % 3).step_by(3);
        for (other, head) in some.filter(|(other, _)| other != agent) {
            // What acpx writes is what came from the agent, behind what was sent to it.
            // Both versions of opencode write steps and texts alike. Behind a line of the main
            // session, lines of a sub-agent say nothing of how that session ended.
            let alike = [
                ("acpx", "acp"),
                ("opencode-2", "opencode"),
                ("claude-session", "claude-subagent"),
            ];
            if alike.contains(&(other, agent)) {
                continue;
            }
            let stream = [&head[..], stream].concat();
            let head = String::from_utf8_lossy(head);
            assert!(!passes(&mut checker, &stream), "{name} passes behind {other}: {head}");
        }
    }
    assert!(failing > 350, "only {failing}");
}

/// Goal: a run of another agent that failed is seen behind a good run, however long that is.
/// Method: the longest good run of each agent, and behind it a failing one of each other agent.
#[test]
fn a_failing_stream_behind_a_good_one_never_passes() {
    let (mut checker, streams) = (checker([]), streams());
    let (mut good, mut failing) = (BTreeMap::new(), BTreeMap::new());
    for (agent, name, stream) in &streams {
        if !stream.ends_with(b"\n") || ["claude-like", "jsonl"].contains(&agent.as_str()) {
            continue;
        }
        if !passes(&mut checker, stream) {
            failing.entry(agent).or_insert((name, stream));
        } else if good
            .get(agent)
            .is_none_or(|(_, longest): &(_, &Vec<u8>)| longest.len() < stream.len())
        {
            good.insert(agent, (name, stream));
        }
    }
    assert!(good.len() > 40 && failing.len() > 40, "{} and {}", good.len(), failing.len());
    let mut passing = Vec::new();
    for (agent, (name, stream)) in &good {
        for (other, (behind, failing)) in failing.iter().filter(|(other, _)| *other != agent) {
            // gptme prints what its commands print. Lines of a sub-agent say nothing of how the
            // main session ended. Cortex writes Claude's events, without its errors of accounts,
            // and the replies of a server are those of MCP.
            let alike = [
                ("claude-session", "claude-subagent"),
                ("cortex", "claude"),
                ("codex-app-server", "mcp"),
            ];
            let is_known = *agent == "gptme" || alike.contains(&(agent.as_str(), other.as_str()));
            let both = [&stream[..], failing].concat();
            if !is_known && passes(&mut checker, &both) {
                passing.push((name, behind));
            }
        }
    }
    assert!(passing.is_empty(), "{passing:#?}");
}

/// Goal: the message tells both agents, and what to do.
#[test]
fn a_stream_of_two_agents_is_told_apart() {
    let head = "{\"workdir\":\"a\",\"provider\":\"b\",\"sandbox\":\"c\"}\n";
    let stream = fs::read_to_string(root().join("fixtures/agents/cursor/is-error.ndjson")).unwrap();
    let output = run_on(&["--strict"], format!("{head}{stream}").as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let reported = text(&output.stdout);
    let expected = "    error[wrong-profile] line 2\n      note: if two agents wrote this, check \
                    each part alone; if a wrapper or plugin wrote one of these events, choose the \
                    profile of the others, and allow wrong-profile\n";
    assert!(reported.contains(expected), "{reported}");
    let says = "✗ events of two agents: this looks like a stream of cursor, but an earlier event \
                is of codex-old";
    assert!(reported.starts_with(says), "{reported}");
    assert_eq!(reported.matches("[wrong-profile]").count(), 1, "{reported}");
    // Behind the first events, too, nothing of the other agent is known.
    let stream = format!("{}{stream}", head.repeat(20));
    assert_eq!(run_on(&[], stream.as_bytes()).status.code(), Some(1));
}

/// Streams of agents and formats without a profile, invented from what their authors document.
fn unlisted() -> BTreeMap<&'static str, Vec<&'static str>> {
    let sections = include_str!("unlisted.txt").split("# ").skip(1);
    let section = |section: &'static str| {
        let (format, lines) = section.split_once('\n').unwrap();
        (format, lines.trim_end().lines().collect())
    };
    let unlisted: BTreeMap<_, Vec<_>> = sections.map(section).collect();
    assert_eq!(unlisted.len(), 14);
    unlisted
}

/// Goal: what no profile reads is not judged.
/// Method: streams of unlisted agents, with each of their ends whose beginning is lost.
#[test]
fn streams_without_a_profile_are_not_judged() {
    let mut checker = checker([]);
    for (format, lines) in unlisted() {
        let stream = lines.join("\n") + "\n";
        let output = run_on(&[], stream.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{format}: {}", text(&output.stdout));
        assert_eq!(text(&output.stdout), "", "{format}");
        let error = text(&output.stderr);
        let is_recognised = error.contains("which no profile reads");
        let is_unknown =
            error.contains("no known agent writes these events: choose with --profile NAME");
        assert!(is_recognised != is_unknown, "{format}: {error}");
        assert!(error.contains("--profile jsonl"), "{format}: {error}");
        // What follows the beginning is what the agent itself writes.
        if ["a stream of Pi's RPC mode", "a saved session of GitHub Copilot CLI"].contains(&format)
        {
            continue;
        }
        for start in 1..lines.len() {
            let end = lines[start..].join("\n");
            assert_eq!(found(&mut checker, end.as_bytes()), None, "{format}: {end}");
        }
    }
}

/// Goal: each format that is recognised and not read has a test, and is in the documents.
#[test]
fn formats_that_are_not_read_are_documented() {
    let unread = fs::read(root().join("crates/core/src/profile/unread.json")).unwrap();
    let unread: BTreeMap<String, Value> = serde_json::from_slice(&unread).unwrap();
    let page = fs::read_to_string(root().join("docs/agents.md")).unwrap();
    let unlisted = unlisted();
    for format in unread.keys() {
        let (_, name) = format.split_once(" of ").unwrap_or(("", "Cursor"));
        let owner = name.split("'s ").next().unwrap();
        assert!(page.contains(owner), "{format}");
        let lines = unlisted.get(&**format).or_else(|| unlisted.get(name)).unwrap();
        let error = text(&run_on(&[], lines.join("\n").as_bytes()).stderr);
        let expected = format!("standard input: this is {format}, which no profile reads");
        assert!(error.contains(&expected), "{error}");
    }
}

/// Goal: a profile that was named is doubted as one that was found.
#[test]
fn a_saved_session_with_a_named_profile_is_told() {
    let unlisted = unlisted();
    let lines = &unlisted["a saved session of Pi"];
    let output = run_on(&["--profile", "pi"], lines.join("\n").as_bytes());
    let expected = "this looks like a saved session of Pi, which no profile reads, but the profile \
                    is pi";
    assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
}
