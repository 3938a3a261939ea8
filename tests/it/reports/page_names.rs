//! Rows and links of a page say what they are about.

use std::fs;

use super::html::report;
use crate::streams::root;

/// The page of this stream.
fn page(stream: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.ndjson");
    fs::write(&file, stream).unwrap();
    let (page, _) = report(folder.path(), &[file.to_str().unwrap()]);
    fs::read_to_string(page).unwrap()
}

fn fixture(name: &str) -> String {
    fs::read_to_string(root().join("fixtures").join(name)).unwrap()
}

/// Goal: links to findings of one rule differ: each names its call.
#[test]
fn a_link_to_a_finding_names_the_call() {
    let page = page(&fixture("rules/unfinished-call/two-of-three-open.ndjson"));
    for call in ["df -h", "uptime"] {
        let link = format!("unfinished-call, line 8: {call}</a>");
        assert!(page.contains(&link), "{link}: {page}");
    }
}

/// Goal: the page names the agent as the terminal does, not as `--profile` does.
#[test]
fn the_agent_has_its_name() {
    let page = page(&fixture("agents/claude/plain.ndjson"));
    assert!(page.contains("<dt>agent</dt><dd>Claude Code 2."), "{page}");
}

/// Goal: what to do about a finding is at the top.
#[test]
fn the_remedy_is_at_the_top() {
    let page = page(&fixture("agents/claude/denied-tools.ndjson"));
    let head = page.split_once("<header>").unwrap().1.split_once("</header>").unwrap().0;
    assert!(head.contains("<code>--allowedTools</code> (for edits also"), "{head}");
}

/// Goal: a row says how far a plan is, and its steps are a list.
#[test]
fn a_plan_is_a_list() {
    let todos = serde_json::json!({"todos": [
        {"content": "read it", "status": "completed"}, {"content": "mend it", "status": "pending"},
    ]});
    let todos = &todos.to_string();
    let stream = fixture("agents/claude/plain.ndjson");
    let input = stream.split_once(r#""input":"#).unwrap().1;
    let input = &input[..=input.find('}').unwrap()];
    let page = page(&stream.replace(input, todos).replace(r#""Bash""#, r#""TodoWrite""#));
    assert!(page.contains(r#"<span class="detail">1 of 2 done</span>"#), "{page}");
    assert!(page.contains("✓ read it\n○ mend it"), "{page}");
}
