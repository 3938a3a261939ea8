//! Where a run has several problems, the sentence says the most harmful one, and that there are
//! others.

use serde_json::Value;

use crate::streams::{root, run_on, text};

/// What the check of a fixture writes. The configuration is that of `config`.
fn check(config: &str, flags: &[&str], stream: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ndjson-check.toml");
    std::fs::write(&path, config).unwrap();
    let place = path.to_str().unwrap();
    let output = run_on(&[&["--config", place], flags].concat(), stream);
    // In JSON the separators of Windows are escaped.
    text(&output.stdout).replace(&place.replace('\\', "\\\\"), "C").replace(place, "C")
}

fn headline(config: &str, flags: &[&str], stream: &[u8]) -> String {
    let report = check(config, &[flags, &["--report", "json"]].concat(), stream);
    let mut lines = report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stream = lines.find(|line| line["type"] == "stream").unwrap();
    stream["headline"].as_str().unwrap().to_owned()
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(root().join("fixtures").join(name)).unwrap()
}

const HARMLESS_FIRST: &str = "[expect]\n\
    answer = { matches = \"DONE$\" }\n\
    writes = { never = [\"src/**\"] }\n\
    calls = [{ kind = \"read\", at-least = 5 }]\n";

const WROTE: &str = "1 call writes a file that matches a glob of `never` (C:3:20)";

#[test]
fn what_must_not_happen_comes_first_and_names_the_file() {
    let good = fixture("agents/cursor/plain.ndjson");
    let says = format!("not as expected: {WROTE}: src/cart.js, and 2 more errors");
    assert_eq!(headline(HARMLESS_FIRST, &[], &good), says);
    for report in ["human", "markdown", "sarif", "github"] {
        let report =
            check(HARMLESS_FIRST, &["--report", report], &good).replace("`C:3:20`", "C:3:20");
        let [forbidden, answer] = [WROTE, "does not match"].map(|it| report.find(it));
        assert!(forbidden.is_some() && forbidden < answer, "{report}");
        let redacted = check(HARMLESS_FIRST, &["--redact", "content"], &good);
        assert!(!redacted.contains("cart.js"), "{redacted}");
    }
}

#[test]
fn the_file_is_named_though_the_run_failed() {
    let good = text(&fixture("agents/cursor/plain.ndjson"));
    let failed = good.replace("\"is_error\":false", "\"is_error\":true");
    let says = headline(HARMLESS_FIRST, &[], failed.as_bytes());
    assert!(says.starts_with("failed: "), "{says}");
    assert!(says.ends_with(&format!("; not as expected: {WROTE}: src/cart.js")), "{says}");
}

#[test]
fn other_limits_and_other_errors_are_counted() {
    let good = fixture("agents/cursor/plain.ndjson");
    let says = headline("", &["--max-calls", "1", "--max-tokens", "5"], &good);
    assert!(says.starts_with("over the limit: the run used"), "{says}");
    assert!(says.ends_with("the limit is 5, and 1 more error"), "{says}");
    let open = fixture("rules/unfinished-call/two-of-three-open.ndjson");
    let answer = "[expect]\nanswer = { matches = \"DONE$\" }\n";
    let says = headline(answer, &[], &open);
    assert!(says.starts_with("not as expected: the answer does not match"), "{says}");
    assert!(says.ends_with(", and 2 more errors"), "{says}");
    assert_eq!(headline("", &[], &open), "tool calls never ended (2 of 3: df -h, uptime)");
}

/// Goal: a run that succeeded says all that a reader should look at, a refused call first.
#[test]
fn a_run_that_succeeded_has_all_its_reservations() {
    let refused = text(&fixture("agents/claude/permission-rule.ndjson"));
    let end = refused.lines().last().unwrap();
    let answer = serde_json::from_str::<Value>(end).unwrap()["result"].to_string();
    let spoken = format!("\"text\":{answer}");
    let silent = refused.replace(&answer, "\"\"");
    assert!(!silent.contains(&spoken), "{silent}");
    let but = "a tool call was refused (1 of 2: git push)";
    let says = headline("", &[], silent.as_bytes());
    assert_eq!(says, format!("succeeded, but {but}, and the answer is empty"));
    let says = headline("", &["--strict"], silent.as_bytes());
    assert_eq!(says, format!("{but}, and 1 more error"));
    let says = headline("", &[], &fixture("agents/vibe/failed.ndjson"));
    assert_eq!(says, "succeeded, but the answer is empty, as far as the stream shows");
}

/// Goal: two runs in one file have one answer, whether the first one failed or not.
/// Method: pairs of fixtures of agents whose streams start with their session's id.
#[test]
fn two_runs_in_one_stream_have_one_answer() {
    for (first, second) in [
        ("amp/failed-run", "amp/plain"),
        ("amp/plain", "amp/failed-command"),
        ("antigravity/failed-model", "antigravity/good"),
        ("claude/plain", "claude/failed-run"),
        ("command-code/failed-early", "command-code/good-after-update"),
        ("jan/failed-early", "jan/good"),
        ("junie/failed-run", "junie/good"),
        ("kiro/failed-engine", "kiro/good"),
        ("pi/good", "pi/failed-exit-0"),
        ("qwen/plain", "qwen/failed-run"),
        ("zero/failed-early", "zero/good"),
    ] {
        let stream = [first, second].map(|name| fixture(&format!("agents/{name}.ndjson"))).concat();
        let says = headline("", &[], &stream);
        let expected = "more than one run: `--sessions many` judges each on its own";
        assert_eq!(says, expected, "{first} {second}");
        let report = text(&run_on(&[], &stream).stdout);
        assert!(!report.contains(" follows the terminal event"), "{report}");
        let says = headline("", &["--exit-status", "0"], &stream);
        assert_eq!(says, "more than one run: check each run separately", "{first} {second}");
    }
}

/// Goal: with `--strict`, the sentence is about what is an error without it.
#[test]
fn a_raised_rule_does_not_hide_an_error() {
    let broken = fixture("rules/completion-without-start/succeeded.ndjson");
    let stream = [b"\n", &broken[..]].concat();
    let strict = headline("", &["--strict"], &stream);
    let plain = headline("", &[], &stream);
    assert_eq!(strict, format!("{plain}, and 1 more error"));
}

/// Goal: what stands in a group, below its reason, can be read without it.
#[test]
fn the_rest_of_a_sentence_can_stand_alone() {
    let files = ["pi/no-answer", "junie/no-answer", "qwen/error-after-text"];
    let files = files.map(|it| root().join(format!("fixtures/agents/{it}.ndjson")));
    let files: Vec<&str> = files.iter().map(|it| it.to_str().unwrap()).collect();
    let report = text(&run_on(&files, b"").stdout);
    for line in [
        "3 × failed\n",
        "pi/no-answer.ndjson  see line 2\n",
        "junie/no-answer.ndjson  without an answer: see line 3\n",
        "qwen/error-after-text.ndjson  see line 2\n",
        "3 streams: 3 × failed · ",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

#[test]
fn calls_that_do_the_same_are_named_once() {
    let open = text(&fixture("rules/unfinished-call/two-of-three-open.ndjson"));
    let says = headline("", &[], open.replace("uptime", "df -h").as_bytes());
    assert_eq!(says, "tool calls never ended (2 of 3: df -h)");
}

/// Goal: what the sentence says already is no note.
#[test]
fn a_failed_run_is_not_said_to_have_failed_twice() {
    let roo = fixture("agents/roo/failed-request.ndjson");
    let report = text(&run_on(&["--exit-status", "1"], &roo).stdout);
    assert!(report.starts_with("✗ failed: "), "{report}");
    assert!(!report.contains("the run failed"), "{report}");
}

/// Goal: who accepts a finding still reads what happened, in a sentence of a run that passes.
#[test]
fn a_baseline_hides_nothing_that_happened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.json");
    let baseline = path.to_str().unwrap();
    let refused = fixture("rules/all-calls-refused/all-of-them.ndjson");
    run_on(&["--write-baseline", baseline], &refused);
    let says = headline("", &["--baseline", baseline], &refused);
    assert_eq!(says, headline("", &["--allow", "all-calls-refused"], &refused));
    assert!(says.starts_with("succeeded, but tool calls were refused (4 of 4: rm -rf"), "{says}");
}
