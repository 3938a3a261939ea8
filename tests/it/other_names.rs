//! Words that other programs use for what this one does lead to ours.

use crate::mistakes::refused;

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// Goal: a user who knows an option by another name learns ours.
#[test]
fn options_of_other_programs_lead_to_ours() {
    for (given, ours) in [
        ("--json", "use --report json"),
        ("--format=json", "use --report FORMAT"),
        ("--output=x", "use --report FORMAT=FILE"),
        ("-o", "use --report FORMAT=FILE"),
        ("--output-format=json", "use --report FORMAT; options of the agent go after `--"),
        ("-v", "use --stats"),
        ("--verbose", "use --stats"),
        ("--agent", "use --profile NAME"),
        ("--no-color", "use --color never"),
        ("--junit=x", "use --report junit=FILE"),
        ("--sarif", "use --report sarif=FILE"),
        ("--html", "use --report html=FILE"),
        ("-p", "use --profile NAME; options of the agent go after `-- COMMAND`"),
        ("-f", "use ndjson-check FILE"),
        ("--exit-code=1", "use --exit-status N"),
        ("--retry", "use --retries N"),
        ("--stdin", "use ndjson-check without a file"),
        ("--ignore", "use --allow RULE"),
        ("--ci", "use --report github"),
        ("--budget=2", "use --max-cost USD"),
        ("--max-time", "use --timeout TIME"),
        ("--to=html", "use --report html=FILE"),
        ("--to=md", "use --report markdown=FILE"),
    ] {
        let message = refused(&[given, GOOD]);
        assert!(message.contains(&format!("; {ours}")), "{given}: {message}");
        assert!(!message.contains("similar"), "{given}: {message}");
    }
}

/// Goal: a word that other programs take as a subcommand leads to what does it here.
#[test]
fn words_of_other_programs_lead_to_ours() {
    for (arguments, ours) in [
        (&["help"][..], "`ndjson-check --help`"),
        (&["version"], "`ndjson-check --version`"),
        (&["check", GOOD], "`ndjson-check FILE`"),
        (&["run", "agent"], "`ndjson-check -- COMMAND`"),
        (&["rule", "truncated-line"], "`ndjson-check rules NAME`"),
        (&["profile"], "`ndjson-check profiles`"),
        (&["stats", GOOD], "`ndjson-check --stats FILE`"),
        (&["transcript", GOOD], "`ndjson-check --to transcript FILE`"),
        (&["report", GOOD], "`ndjson-check --report FORMAT FILE`"),
        (&["convert", GOOD], "`ndjson-check --to FORM FILE`"),
    ] {
        let message = refused(arguments);
        assert!(message.contains(ours) && message.lines().count() == 1, "{message}");
    }
}
