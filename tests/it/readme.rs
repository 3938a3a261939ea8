//! What the README shows is what happens.

use std::env;
use std::fs;
use std::path::Path;

use ndjson_check::internals::profile_names;

use crate::streams::{PROGRAM, files, inherited, program, root};

/// Goal: no example lies.
/// Method: run each command of the `console` blocks of README.md and docs in a shell at the
/// repository's root, with the program on the path, and compare what it prints with the lines below
/// it.
#[test]
fn console_blocks_print_what_they_show() {
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let mut pages = files(&root().join("docs"), "md");
    pages.push(root().join("README.md"));
    let mut run = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```console\n").skip(1) {
            let (block, _) = block.split_once("```").unwrap();
            // Without a line of output it is a list of commands to try.
            if block.lines().all(|line| line.starts_with("$ ")) {
                continue;
            }
            for example in format!("\n{block}").split("\n$ ").skip(1) {
                let (command, shown) = example.split_once('\n').unwrap_or((example, ""));
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", &format!("{command} 2>&1")]).env("PATH", &path);
                let output = shell.current_dir(root()).env_remove("FORCE_COLOR").output().unwrap();
                let printed = String::from_utf8_lossy(&output.stdout);
                assert_eq!(printed.trim_end(), shown.trim_end(), "{}: $ {command}", page.display());
                run += 1;
            }
        }
    }
    assert!(run >= 3, "only {run} examples");
    assert!(program().arg("--version").output().unwrap().status.success());
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
    let link = "](../src/profile/builtin/";
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
