//! `[expect]` where the tests still ran when their call ended.

use crate::streams::{program, root, text};

/// Goal: what a command prints before it has ended proves no success.
/// Method: tests that print `3 passed` or `# pass 3`, and are moved to the background.
#[test]
fn tests_that_still_run_have_not_passed() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("check.toml");
    std::fs::write(&config, "[expect]\npresets = [\"tested\"]\n").unwrap();
    for stream in
        ["kimi-code/moved-to-the-background.ndjson", "openhands/command-still-runs.ndjson"]
    {
        let mut command = program();
        command.args(["--exit-status", "0", "--config"]).arg(&config);
        let output = command.arg(root().join("fixtures/agents").join(stream)).output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("warning[expectation-unobservable]"), "{stream}: {said}");
        assert!(said.contains("the stream does not show how the test run in line"), "{said}");
    }
}
