//! Limits: when they are exceeded, when they are unknown, and that they hide nothing.

use std::collections::BTreeMap;
use std::process::Output;
use std::time::{Duration, Instant};

use ndjson_check::{CheckerBuilder, Expectation, Limits, Rule, StreamSummary, Verdict};

use serde_json::{Value, json};

use crate::demands::{PLACE, command, of_kind, run_of};
use crate::differential::{Batch, Engines};
use crate::mutation::{Corpus, Mutator};
use crate::streams::{root, some_cases, text};
use crate::support::{builder, check};

fn limited(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

/// The messages about limits.
fn over(stream: &str, limits: Limits) -> Vec<String> {
    let mut checker = builder(["--profile", "cursor"]).limits(limits).build().unwrap();
    let (_, found) = check(&mut checker, stream.as_bytes());
    let found = found.iter().filter(|it| it.rule.name().starts_with("limit-"));
    found.map(|it| format!("{}:{}: {}", it.line.unwrap_or(0), it.rule, it.message)).collect()
}

#[test]
fn limits_name_the_figure_that_was_reached() {
    let calls = [command("c1", "a", false), command("c2", "a", false), command("c3", "a", true)];
    let run = run_of(&calls);
    assert_eq!(over(&run, limited(|it| it.calls = Some(3))), [""; 0]);
    let expected = ["4:limit-exceeded: the run made 3 tool calls; the limit is 1"];
    assert_eq!(over(&run, limited(|it| it.calls = Some(1))), expected);
    let expected = ["3:limit-exceeded: the run had 2 failed tool calls; the limit is 0"];
    assert_eq!(over(&run, limited(|it| it.failed_calls = Some(0))), expected);
    assert_eq!(over(&run, limited(|it| it.failed_calls = Some(2))), [""; 0]);
    let unknown = ["0:limit-unknown: the limit is $1.00, but the stream does not report the cost"];
    assert_eq!(over(&run, limited(|it| it.cost = Some(1.0))), unknown);
    let unknown = ["0:limit-unknown: the limit is 9, but the stream does not report the tokens"];
    assert_eq!(over(&run, limited(|it| it.tokens = Some(9))), unknown);
    let usage = ",\"usage\":{\"inputTokens\":10,\"outputTokens\":5,\"cacheReadTokens\":3,\
        \"cacheWriteTokens\":2}}\n";
    let run = run.trim_end().strip_suffix('}').unwrap().to_owned() + usage;
    let expected = ["9:limit-exceeded: the run used 20 tokens; the limit is 19"];
    assert_eq!(over(&run, limited(|it| it.tokens = Some(19))), expected);
    assert_eq!(over(&run, limited(|it| it.tokens = Some(20))), [""; 0]);
    assert_eq!(over("", limited(|it| it.tokens = Some(20))), [""; 0], "nothing ran");
}

/// Everything that can be demanded, so that much of it fails.
fn demanding(builder: CheckerBuilder) -> CheckerBuilder {
    let limits = limited(|it| {
        (it.cost, it.tokens, it.turns) = (Some(0.01), Some(5_000), Some(1));
        (it.calls, it.failed_calls) = (Some(1), Some(0));
    });
    let expectations = [
        Expectation::AnswerMatches("^DONE".to_owned()),
        Expectation::AnswerSatisfies("{\"type\":\"object\"}".to_owned()),
        of_kind("write", |it| it.at_least = Some(1)),
        of_kind("fetch", |it| it.at_most = Some(0)),
        of_kind("command", |it| {
            (it.matches, it.last_must_succeed) = (Some("test".to_owned()), true);
        }),
        of_kind("command", |it| {
            (it.at_least, it.output_never) = (Some(1), Some("error".to_owned()));
            it.after = serde_json::from_str("\"write\"").unwrap();
        }),
        of_kind("write", |it| it.requires = serde_json::from_str("\"read\"").unwrap()),
        Expectation::Model("*-large".to_owned()),
        Expectation::Session("none".to_owned()),
        Expectation::Servers(vec!["tracker".to_owned()]),
        Expectation::Tools(vec!["*".to_owned()]),
        Expectation::WritesWithin(vec!["src/**".to_owned()]),
        Expectation::WritesNever(vec!["**/*.lock".to_owned()]),
    ];
    let builder = builder.limits(limits);
    expectations.into_iter().fold(builder, |builder, it| builder.expect(PLACE, it))
}

fn is_demand(rule: Rule) -> bool {
    rule.name().starts_with("limit-") || rule.name().starts_with("expectation-")
}

/// Demands add their own diagnostics, and change nothing else.
fn only_added(without: &StreamSummary, with: &StreamSummary, name: &str) {
    let others = |summary: &StreamSummary| -> BTreeMap<Rule, u64> {
        let counts = summary.rule_counts.iter().filter(|(rule, _)| !is_demand(**rule));
        counts.map(|(rule, count)| (*rule, *count)).collect()
    };
    assert_eq!(others(without), others(with), "{name}");
    assert_eq!(without.outcome, with.outcome, "{name}");
    let conforms = |summary: &StreamSummary| summary.verdict == Verdict::Conforming;
    assert!(conforms(without) || !conforms(with), "{name}: a defect was hidden");
}

/// Goal: no demand turns a stream that does not conform into one that does, and both engines agree.
/// Method: some of the fixtures, and damaged copies of them, with and without many demands. One
/// checker takes all that have the same flags: to build one takes longer than to check a fixture.
#[test]
fn demands_hide_nothing() {
    let mut groups: BTreeMap<Vec<String>, Vec<Vec<u8>>> = BTreeMap::new();
    for (number, case) in (0..).zip(some_cases(8)) {
        // Those that are about limits have them already.
        if case.flags.iter().any(|flag| flag.starts_with("--max-c")) {
            continue;
        }
        let bytes = case.bytes();
        let streams = groups.entry(case.flags).or_default();
        if bytes.is_ascii() && bytes.len() > 200 {
            let corpus = Corpus::new([bytes.clone()], false);
            streams.push(Mutator::new(&corpus, number).stream());
        }
        streams.push(bytes);
    }
    let mut raised: BTreeMap<Rule, u64> = BTreeMap::new();
    for (flags, streams) in groups {
        let batch = Batch { streams, feed_bytes: 4_096, ..Batch::default() };
        let compare = |builder: CheckerBuilder| {
            let summaries = Engines::new(builder).unwrap().compare(&batch);
            summaries.unwrap_or_else(|it| panic!("{flags:?}: {it}"))
        };
        let built = || builder(flags.iter().map(String::as_str));
        let (plain, demanded) = (compare(built()), compare(demanding(built())));
        assert_eq!(plain.len(), demanded.len(), "{flags:?}");
        for (number, (without, with)) in plain.iter().zip(&demanded).enumerate() {
            only_added(without, with, &format!("summary {number} of {flags:?}"));
            for (rule, count) in with.rule_counts.iter().filter(|(rule, _)| is_demand(**rule)) {
                *raised.entry(*rule).or_default() += count;
            }
        }
    }
    assert!(raised.len() == 4 && raised.values().all(|count| *count > 50), "{raised:?}");
}

/// Goal: an estimate is marked as one, and limits nothing unless that is asked for.
#[test]
fn an_estimate_is_no_figure_of_the_agent() {
    let stream = std::fs::read(root().join("fixtures/agents/codex/tools.ndjson")).unwrap();
    let judged = |config: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), config).unwrap();
        let flags = ["--profile", "codex", "--config", file.path().to_str().unwrap()];
        let output = crate::streams::run_on(&flags, &stream);
        (output.status.code().unwrap(), text(&output.stdout))
    };
    let prices = "[prices.\"*\"]\ninput = 1000000\noutput = 0\n";
    let (code, report) = judged(prices);
    let about = report.split(" · ").find(|it| it.starts_with("about $")).expect("an estimate");
    assert!(code == 0 && about.ends_with(" by your prices"), "{report}");
    let (code, report) = judged(&format!("{prices}[limits]\ncost = 0.5"));
    assert!(code == 0 && report.contains("warning[limit-unknown]"), "{report}");
    let (code, report) = judged(&format!("{prices}[limits]\ncost = 0.5\nestimates = true"));
    assert!(code == 1 && report.contains(" by your prices; the limit is $0.50"), "{report}");
    // The stream does not name its model.
    let (_, report) = judged("[prices.\"gpt-*\"]\ninput = 1\noutput = 1\n");
    assert!(!report.contains("by your prices"), "{report}");
    let (_, report) =
        judged("[prices.\"gpt-*\"]\ninput = 1\noutput = 1\n[limits]\ncost = 1\nestimates = true\n");
    assert!(report.contains("report the cost, and no price applies"), "{report}");
    // An agent that reports its cost needs no estimate.
    let claude = std::fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), prices).unwrap();
    let flags = ["--config", file.path().to_str().unwrap()];
    let report = text(&crate::streams::run_on(&flags, &claude).stdout);
    assert!(!report.contains("by your prices"), "{report}");
    // Without tokens there is nothing to multiply.
    let kimi = std::fs::read(root().join("fixtures/agents/kimi/good.ndjson")).unwrap();
    std::fs::write(file.path(), format!("{prices}[limits]\ncost = 1\nestimates = true\n")).unwrap();
    let report = text(&crate::streams::run_on(&flags, &kimi).stdout);
    assert!(report.contains("does not report the cost or the tokens"), "{report}");
}

/// Runs the program on a fake agent.
fn run(flags: &[&str], agent: &[&str]) -> (Output, Duration) {
    let begun = Instant::now();
    let output = crate::fake_agent::run(flags, agent);
    (output, begun.elapsed())
}

/// Goal: a command is ended as soon as its stream shows that it exceeds a limit.
#[test]
fn an_exceeded_limit_ends_the_command() {
    let good = "fixtures/agents/cursor/plain.ndjson";
    let (output, took) = run(&["--max-calls", "1"], &["head", "8", good, "sleep", "40"]);
    let report = text(&output.stdout);
    assert!(took < Duration::from_secs(30), "{took:?}: {report}");
    assert_eq!(output.status.code(), Some(1), "{report}");
    let rules: Vec<&str> = report.split("error[").skip(1).collect();
    assert!(rules.len() == 1 && rules[0].starts_with("limit-exceeded"), "{report}");
    assert!(report.contains("\n      note: the run was ended"), "{report}");
    assert!(report.contains("tool calls; the limit is 1\n"));
    // A warning ends nothing, and a complete run is not ended either.
    let flags = ["--max-calls", "1", "--warn", "limit-exceeded"];
    let (output, _) = run(&flags, &["head", "8", good, "sleep", "0.5"]);
    let report = text(&output.stdout);
    assert!(report.contains("missing-terminal-event"), "{report}");
    let (output, _) = run(&["--max-calls", "1"], &["emit", good]);
    let report = text(&output.stdout);
    assert!(report.contains("over the limit: the run made 4 tool calls; the limit is 1\n"));
    assert_eq!(output.status.code(), Some(1), "{report}");
}

/// Goal: a limit that a turn exceeds at its end stops the next turn at once.
#[test]
fn a_limit_that_one_turn_exceeds_ends_the_next() {
    let good = "fixtures/agents/claude/plain.ndjson";
    let agent = ["emit", good, "sleep", "0.3", "head", "2", good, "sleep", "60"];
    let (output, took) = run(&["--max-turns", "1", "--exit-grace", "5m"], &agent);
    let report = text(&output.stdout);
    assert!(took < Duration::from_secs(30), "{took:?}: {report}");
    assert!(report.contains("note: the run was ended"), "{report}");
}

/// Goal: tokens count when the message comes, also those of a sub-agent.
/// Method: a run of Claude Code that goes on after its first message.
#[test]
fn the_tokens_of_messages_count_before_the_run_ends() {
    let run_of = "fixtures/agents/claude/background-agent-killed.ndjson";
    let (output, took) = run(&["--max-tokens", "15000"], &["head", "11", run_of, "sleep", "40"]);
    let report = text(&output.stdout);
    assert!(took < Duration::from_secs(30), "{took:?}: {report}");
    assert!(report.contains("over the limit: the run used 50348 tokens; the limit is 15000\n"));
    let (output, _) = run(&["--max-tokens", "45000"], &["emit", run_of]);
    let report = text(&output.stdout);
    assert!(report.contains("over the limit: the run used 50348 tokens"), "{report}");
    let (output, _) = run(&["--max-tokens", "51000"], &["emit", run_of]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}

/// Goal: an estimated cost ends a run before the agent reports its own, which replaces it.
#[test]
fn an_estimate_of_messages_ends_the_command() {
    let run_of = "fixtures/agents/claude/background-agent-killed.ndjson";
    let file = tempfile::NamedTempFile::new().unwrap();
    let config = file.path().to_str().unwrap();
    let prices = "[prices.\"*\"]\ninput = 1000\noutput = 0\n[limits]\nestimates = true\n";
    std::fs::write(file.path(), format!("{prices}cost = 15")).unwrap();
    let (output, took) = run(&["--config", config], &["head", "11", run_of, "sleep", "40"]);
    let report = text(&output.stdout);
    assert!(took < Duration::from_secs(30), "{took:?}: {report}");
    assert!(report.contains(" by your prices; the limit is $15.00"), "{report}");
    assert!(report.contains("note: the run was ended"), "{report}");
    // Nor does an estimate count for an agent that reports its cost all the time.
    let reports = "fixtures/agents/opencode/changes.ndjson";
    let (output, _) = run(&["--config", config], &["emit", reports, "sleep", "0.3"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    // A run that has ended reports its cost.
    std::fs::write(file.path(), format!("{prices}cost = 45")).unwrap();
    let (output, _) = run(&["--config", config], &["emit", run_of]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let stream = std::fs::read(root().join(run_of)).unwrap();
    let end = stream.iter().take(4_000).rposition(|it| *it == b'\n').unwrap();
    let cut = crate::streams::run_on(&["--config", config], &stream[..=end]);
    let report = text(&cut.stdout);
    assert!(report.contains("does not report the cost or all of the tokens"), "{report}");
}

/// Goal: what a message used counts where the stream ends before the next one, too.
#[test]
fn the_tokens_of_the_last_message_count() {
    let run_of = "fixtures/agents/claude/background-agent-killed.ndjson";
    let stream = std::fs::read_to_string(root().join(run_of)).unwrap();
    let lines: Vec<&str> = stream.lines().collect();
    let is_message = |line: &&str| line.contains("\"type\":\"assistant\"");
    for end in 1..lines.len() {
        let cut: String = lines[..end].iter().flat_map(|line| [line, "\n"]).collect();
        if !cut.lines().any(|line| is_message(&line)) {
            continue;
        }
        let converted =
            crate::streams::run_on(&["--profile", "claude", "--to", "events"], cut.as_bytes());
        let events = text(&converted.stdout);
        let events = events.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        let of_messages = events.filter(|it| it["type"] == "message_usage");
        let tokens = |event: Value| {
            let keys = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"];
            keys.iter().filter_map(|key| event[*key].as_u64()).sum::<u64>()
        };
        let used: u64 = of_messages.map(tokens).sum();
        let over = |limit: u64| {
            let limits = limited(|it| it.tokens = Some(limit));
            let mut checker = builder(["--profile", "claude"]).limits(limits).build().unwrap();
            let (summary, _) = check(&mut checker, cut.as_bytes());
            summary.rule_counts.contains_key(&Rule::LimitExceeded)
        };
        assert!(used > 0 && over(used - 1), "{end}: {used}");
    }
}

/// Goal: a limit and a figure above it do not look the same.
#[test]
fn close_costs_have_all_their_digits() {
    let stream =
        std::fs::read_to_string(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    let stream = stream.replace("\"total_cost_usd\":0.0312", "\"total_cost_usd\":0.03123");
    let over = |cost: f64| {
        let limits = limited(|it| it.cost = Some(cost));
        let mut checker = builder(["--profile", "claude"]).limits(limits).build().unwrap();
        let (_, found) = check(&mut checker, stream.as_bytes());
        found.into_iter().find(|it| it.rule == Rule::LimitExceeded).map(|it| it.message)
    };
    let message = "the run cost $0.03123; the limit is $0.03122";
    assert_eq!(over(0.03122).as_deref(), Some(message));
    assert_eq!(over(0.03).as_deref(), Some("the run cost $0.0312; the limit is $0.03"));
    assert_eq!(over(0.03123), None);
}

/// Goal: a limit that every run keeps, or none, is refused.
#[test]
fn a_cost_is_an_amount() {
    for cost in [f64::NAN, f64::INFINITY, -1.0] {
        let limits = limited(|it| it.cost = Some(cost));
        let error = builder(["--profile", "claude"]).limits(limits).build().unwrap_err();
        assert!(error.to_string().contains("must be a number of US dollars"), "{error}");
    }
}

/// Goal: costs that are added are the sum that a person adds.
#[test]
fn cents_add_up() {
    let step = |cost: &str| {
        let cost: Value = serde_json::from_str(cost).unwrap();
        let tokens = json!({"input": 1, "output": 1, "reasoning": 0,
            "cache": {"read": 0, "write": 0}});
        let part = json!({"id": "p", "sessionID": "s", "messageID": "m", "type": "step-finish",
            "reason": "stop", "cost": cost, "tokens": tokens});
        json!({"type": "step_finish", "timestamp": 1, "sessionID": "s", "part": part})
    };
    let cost = |costs: &[&str]| {
        let stream: String =
            costs.iter().flat_map(|it| [step(it).to_string(), "\n".to_owned()]).collect();
        let mut checker = builder(["--profile", "opencode"]).build().unwrap();
        check(&mut checker, stream.as_bytes()).0.facts.cost_usd.unwrap()
    };
    assert_eq!(cost(&["0.1", "0.2"]).to_string(), "0.3");
    let largest = f64::MAX.to_string();
    assert_eq!(cost(&["1.5e308", "1.5e307", "1.6e308"]).to_string(), largest);
}
