//! What the README and the pages in `docs` show is what happens.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use ndjson_check::internals::profile_names;
use ndjson_check::{
    Checker, ExitStatus, Outcome, ProducerExit, Rule, StopReason, StreamSummary, Verdict,
};

use crate::streams::{PROGRAM, files, inherited, is_absent, program, root};

/// Goal: no example lies.
/// Method: run each command of the `console` blocks of README.md and docs in a shell at the
/// repository's root, with the program on the path, and compare what it prints with the lines below
/// it.
#[test]
fn console_blocks_print_what_they_show() {
    // The blocks are for a POSIX shell.
    if cfg!(windows) {
        return;
    }
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    let mut run = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```console\n").skip(1) {
            let (block, _) = block.split_once("```").unwrap();
            // Without a line of output it is a list of commands to try.
            if block.lines().all(|line| line.starts_with("$ ")) {
                continue;
            }
            for example in format!("\n{block}").split("\n$ ").skip(1) {
                let (command, shown) = example.split_once('\n').unwrap_or((example, ""));
                if command.starts_with("jq ") && !has_jq {
                    is_absent("jq");
                    continue;
                }
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("{command} 2>&1")]).env("PATH", &path);
                let output = shell.current_dir(root()).env_remove("FORCE_COLOR").output().unwrap();
                let printed = String::from_utf8_lossy(&output.stdout);
                assert_eq!(printed.trim_end(), shown.trim_end(), "{}: $ {command}", page.display());
                run += 1;
            }
        }
    }
    assert!(run >= 12, "only {run} examples");
    assert!(program().arg("--version").output().unwrap().status.success());
}

/// The README, and what it links to.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(&root().join("docs"), "md");
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "lab/results.md"];
    pages.extend(others.map(|it| root().join(it)));
    pages.push(root().join("fixtures/profiles/kestrel/README.md"));
    pages
}

/// The lines of a page outside of its blocks of code.
fn prose(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let parts = text.split("```").step_by(2);
    parts.flat_map(str::lines).map(str::to_owned).collect()
}

/// The names that a link to a place in this page can use, as GitHub derives them.
fn anchors(page: &Path) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in prose(page) {
        anchors.extend(line.split("<a id=\"").skip(1).map(|it| before(it, '"').to_owned()));
        if line.starts_with('#') {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
            anchors.insert(kept.collect::<String>().replace(' ', "-"));
        }
    }
    anchors
}

fn before(text: &str, end: char) -> &str {
    text.split(end).next().unwrap()
}

/// Goal: no link of the documents is dead. Links to the web are not followed.
#[test]
fn links_lead_somewhere() {
    let mut followed = 0;
    for page in pages() {
        let text = prose(&page).join("\n");
        for link in text.split("](").skip(1).map(|it| before(it, ')')) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let folder = page.parent().unwrap();
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            let is_there = place.is_empty() || anchors(&target).contains(place);
            assert!(is_there, "{}: {link}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 100, "only {followed} links");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() <= 12 * 1024, "{} bytes", readme.len());
}

/// Goal: README and `--help` tell the same exit codes.
#[test]
fn exit_codes_are_in_the_readme_and_the_help() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let help = String::from_utf8(program().arg("--help").output().unwrap().stdout).unwrap();
    let rows: Vec<&str> = readme.lines().filter_map(|line| line.split('|').nth(1)).collect();
    for code in [0, 1, 2, 3, 4, 126, 127] {
        let number = code.to_string();
        let is_shown = rows.iter().any(|cell| cell.split(',').any(|it| it.trim() == number));
        assert!(is_shown, "README, {code}");
        assert!(help.contains(&format!("\n{code:>5}  ")), "--help, {code}");
    }
}

/// Goal: the table of agents names every profile that is built in, and the versions that were seen.
#[test]
fn the_table_of_agents_is_true() {
    let page = fs::read_to_string(root().join("docs/agents.md")).unwrap();
    let link = "](../crates/core/src/profile/builtin/";
    let rows = page.lines().filter(|line| line.contains(link) && line.starts_with('|'));
    let mut shown: Vec<(String, String)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let name = cells[2].split('`').nth(1).unwrap().to_owned();
            assert_eq!(cells[2], format!("[`{name}`{link}{name}/README.md)"));
            (name, cells[3].replace('–', ""))
        })
        .collect();
    let mut known: Vec<(String, String)> =
        profile_names().map(|name| (name.to_owned(), versions_seen(name))).collect();
    shown.sort();
    known.sort();
    assert_eq!(shown, known);
}

/// The versions that a profile, or what it extends, has seen.
fn versions_seen(name: &str) -> String {
    let versions = inherited(name, "versions");
    let seen = versions["seen"].as_array().into_iter().flatten();
    seen.map(|it| it.as_str().unwrap()).collect::<Vec<_>>().join(", ")
}

/// The rows of the table of stream and exit status, and a stream of each.
fn rows() -> [(&'static str, Vec<u8>); 4] {
    let agent = |name: &str| fs::read(root().join("fixtures/agents/cursor").join(name)).unwrap();
    let good = agent("plain.ndjson");
    let first_line = good.iter().position(|byte| *byte == b'\n').unwrap();
    [
        ("terminal event, success", good.clone()),
        ("terminal event, `is_error`", agent("is-error.ndjson")),
        ("no terminal event", good[..=first_line].to_vec()),
        ("no event", Vec::new()),
    ]
}

fn ended(stream: &[u8], exit: &ProducerExit) -> StreamSummary {
    let mut checker = Checker::builder().profile("cursor").build().unwrap();
    let mut check = checker.stream("-");
    check.feed(stream, &mut ()).unwrap();
    check.finish(exit, &mut ()).unwrap()
}

/// The exit code of the program for one stream.
fn code(stream: &[u8], status: Option<ExitStatus>) -> u8 {
    let summary = ended(stream, &status.map_or_else(ProducerExit::default, ProducerExit::from));
    match (summary.verdict, summary.outcome) {
        (Verdict::NonConforming, _) => 1,
        (_, Outcome::Succeeded) => 0,
        (_, Outcome::TimedOut) => 4,
        (_, _) => 3,
    }
}

/// Goal: the table of stream and exit status is what is decided.
/// Method: each cell of the table, read from the page; and with a cut last line 1 everywhere.
#[test]
fn the_table_of_exit_statuses_is_true() {
    let page = fs::read_to_string(root().join("docs/run-mode.md")).unwrap();
    for (name, stream) in rows() {
        let row = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let cells: Vec<&str> = row.expect(name).split('|').map(str::trim).collect();
        let number = |text: &str| text.trim_start()[..1].parse::<u8>().unwrap();
        let without = number(cells[2]);
        let zero = cells[2].split_once("with status 0:").map_or(without, |it| number(it.1));
        let failed = number(cells[3]);
        assert_eq!(code(&stream, None), without, "{name}, no status");
        assert_eq!(code(&stream, Some(ExitStatus::Code(0))), zero, "{name}, status 0");
        let cut = [&stream[..], b"{\"type\":"].concat();
        for status in [ExitStatus::Code(1), ExitStatus::Code(255), ExitStatus::Signal(15)] {
            assert_eq!(code(&stream, Some(status)), failed, "{name}, {status:?}");
            assert_eq!(code(&cut, Some(status)), 1, "{name}, {status:?}, last line cut");
        }
    }
}

#[test]
fn a_timeout_is_the_outcome_whatever_the_stream_says() {
    let mut exit = ProducerExit::default();
    exit.stop = Some(StopReason::IdleTimeout { limit: Duration::from_secs(1) });
    for (name, stream) in rows() {
        let summary = ended(&stream, &exit);
        assert_eq!(summary.outcome, Outcome::TimedOut, "{name}");
        assert!(!summary.rule_counts.contains_key(&Rule::UnfinishedCall), "{name}");
    }
}
