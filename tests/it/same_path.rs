//! Expectations about calls that need an earlier call with the same path.

use serde_json::json;

use crate::demands::{
    call, command, fails, hides, holds, judged_with, of_kind, rejected, run_of, write,
};
use crate::streams::root;
use crate::verified::{edit, kind, read};

#[test]
fn a_file_is_read_before_it_is_written() {
    let expected = of_kind("write", |it| it.requires = kind("read"));
    let edit = edit("c2", "/app/src/../a.js");
    holds(&run_of(&[read("c1", "/app/a.js"), edit.clone()]), &expected);
    holds(&run_of(&[rejected("c2", "/app/a.js")]), &expected);
    let message = "each write call must come after a read call with the same path, but 1 did not; \
                   see line";
    fails(&run_of(&[read("c1", "/app/b.js"), edit.clone()]), &expected, &format!("{message} 4"));
    let late = run_of(&[edit.clone(), read("c1", "/app/a.js")]);
    fails(&late, &expected, &format!("{message} 2"));
    // A tool that the profile does not know may have read it.
    let unknown = call("c4", "teleportToolCall", &json!({}), &json!({"success": {}}));
    let message = "each write call came after a read call with the same path; see lines 2, 4";
    hides(&run_of(&[unknown, edit.clone()]), &expected, message);
    // So may a command that names it; and what is written as a whole may be new.
    let message = "each write call came after a read call with the same path; see line 4";
    hides(&run_of(&[command("c1", "sed -n 1,9p src/../a.js", true), edit]), &expected, message);
    let message = "each write call came after a read call with the same path; see line 2";
    hides(&run_of(&[write("c1", "/app/new.js")]), &expected, message);
}

/// Goal: without the agent's directory, a relative path and an absolute one may be the same file.
#[test]
fn a_file_has_the_same_path_with_and_without_its_directory() {
    let file = root().join("fixtures/agents/opencode-2/tools.ndjson");
    let stream = std::fs::read_to_string(file).unwrap();
    let config = "expect.calls = [{ kind = 'write', requires = { kind = 'read', same = 'path' } }]";
    let read = "{\"path\":\"/home/dev/house/door.txt\"},\"output\":\"1:";
    for (path, code, raised) in [
        // The result of the edit names `door.txt`.
        ("/home/dev/house/door.txt", 0, ""),
        ("door.txt", 0, "expectation-unobservable"),
        ("/home/dev/house/wall.txt", 1, "expectation-failed"),
    ] {
        let stream = stream.replace(read, &read.replace("/home/dev/house/door.txt", path));
        let (found, report) = judged_with(config, &stream);
        assert_eq!(found, code, "{path}: {report}");
        assert_eq!(report.contains("expectation-"), !raised.is_empty(), "{path}: {report}");
        assert!(report.contains(raised), "{path}: {report}");
    }
}

/// Goal: what the run itself creates needs no call before it.
#[test]
fn a_created_file_is_known() {
    let expected = of_kind("write", |it| it.requires = kind("read"));
    let created = call(
        "c1",
        "editToolCall",
        &json!({"path": "/app/new.js"}),
        &json!({"success": {"path": "/app/new.js",
                            "diffString": "--- /dev/null\n+++ b/app/new.js\n@@ -0,0 +1 @@\n+x\n"}}),
    );
    holds(&run_of(&[created.clone(), write("c2", "/app/new.js")]), &expected);
    let message = "each write call must come after a read call with the same path, but 1 did not; \
                   see line 4";
    fails(&run_of(&[created, edit("c2", "/app/old.js")]), &expected, message);
}
