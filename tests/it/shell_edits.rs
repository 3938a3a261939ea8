//! Commands that edit files: no call writes, but tests that ran before them are no proof.

use ndjson_check::{CallKind, Rule};
use serde_json::json;

use crate::demands::{call, command, fails, hides, holds, of_kind, run_of, write};
use crate::presets::found;

fn edit() -> String {
    command("e1", "cd app && sed -i s/a/b/ a.js", true)
}

fn refused_edit() -> String {
    let line = "sed -i s/a/b/ a.js";
    let result = json!({"rejected": {"command": line, "workingDirectory": "", "reason": ""}});
    call("e1", "shellToolCall", &json!({"command": line}), &result)
}

fn test() -> String {
    command("t1", "npm test", true)
}

/// Goal: tests prove nothing of an edit by the shell that came after them.
#[test]
fn tests_come_after_edits_by_the_shell() {
    let tested = |calls: &[String]| found("tested", &run_of(calls));
    let first = write("w1", "/app/a.js");
    assert_eq!(tested(&[first.clone(), edit(), test()]), None);
    let (rule, message) = tested(&[first.clone(), test(), edit()]).unwrap();
    assert_eq!(rule, Rule::ExpectationUnobservable);
    let why = "the call in line 6 may be a later write call: it failed, its command edits \
               files, its tool is unknown, or a sub-agent hides its calls";
    assert!(message.ends_with(why), "{message}");
    // A refused edit is none, and a test that edits is not before itself.
    assert_eq!(tested(&[first.clone(), test(), refused_edit()]), None);
    let both = command("t1", "sed -i s/a/b/ a.js && npm test", true);
    assert_eq!(tested(&[first, both]), None);
    let edited = command("t1", "npm test && sed -i s/a/b/ a.js", true);
    assert_eq!(tested(&[edited]).unwrap().0, Rule::ExpectationUnobservable);
    // Tests that fail stay a failure.
    let failed = command("t1", "npm test", false);
    assert_eq!(tested(&[edit(), failed]).unwrap().0, Rule::ExpectationFailed);
}

/// Goal: a run that edits files with the shell may have written, and one that does not has not.
#[test]
fn edits_by_the_shell_may_be_writes() {
    let some = of_kind("write", |it| it.at_least = Some(1));
    let none = of_kind("write", |it| it.at_most = Some(0));
    hides(&run_of(&[edit()]), &some, "at least 1 write call succeeded; see line 2");
    hides(&run_of(&[edit()]), &none, "there was no write call; see line 2");
    holds(&run_of(&[write("w1", "/app/a.js"), edit()]), &some);
    let message = "at least 1 write call must succeed, but none did";
    fails(&run_of(&[test()]), &some, message);
    holds(&run_of(&[test()]), &none);
    // What comes before the first write is not known either.
    let before = of_kind("command", |it| {
        it.matches = Some("^npm test".to_owned());
        (it.last_must_succeed, it.before) = (true, Some(CallKind::Write));
    });
    holds(&run_of(&[test(), edit()]), &before);
    let question = "the last command call with `^npm test` succeeded before the first write call";
    hides(&run_of(&[edit(), test()]), &before, question);
}

/// Goal: a run that deletes files with the shell is not known to leave them alone.
#[test]
fn deletions_by_the_shell_may_be_deletions() {
    for line in ["rm -rf src", "git clean -fdx", "git rm a.js"] {
        let (rule, message) = found("read-only", &run_of(&[command("d1", line, true)])).unwrap();
        assert_eq!(rule, Rule::ExpectationUnobservable, "{line}");
        assert!(message.contains("there was no delete call"), "{line}: {message}");
    }
    assert_eq!(found("read-only", &run_of(&[command("d1", "ls -la", true)])), None);
}

/// Goal: a formatter or a few lines of code after the tests may have changed what they tested.
#[test]
fn tests_come_after_formatters() {
    let tested = |line: &str| {
        let calls = [write("w1", "/app/a.js"), test(), command("f1", line, true)];
        found("tested", &run_of(&calls)).map(|(rule, _)| rule)
    };
    for line in ["npx prettier --write .", "python3 - <<'E'\nopen('a', 'w').write('x')\nE"] {
        assert_eq!(tested(line), Some(Rule::ExpectationUnobservable), "{line}");
    }
    assert_eq!(tested("npx prettier --check ."), None);
}
