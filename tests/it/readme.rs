//! What the README shows is what happens.

use std::env;
use std::fs;
use std::path::Path;

use ndjson_check::profile::Profile;

use crate::streams::{PROGRAM, program, root};

/// Goal: no example lies.
/// Method: run each command of the README's `console` blocks in a shell at the repository's root,
/// with the program on the path, and compare what it prints with the lines below it.
#[test]
fn console_blocks_print_what_they_show() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let mut run = 0;
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        for example in block.split("$ ").skip(1) {
            let (command, shown) = example.split_once('\n').unwrap();
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &format!("{command} 2>&1")]).env("PATH", &path);
            let output = shell.current_dir(root()).env_remove("FORCE_COLOR").output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), shown, "$ {command}");
            run += 1;
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
    for code in [0, 1, 2, 3, 4, 126, 127] {
        assert!(readme.contains(&format!("| {code} |")), "README, {code}");
        assert!(help.contains(&format!("\n{code:>5}  ")), "--help, {code}");
    }
}

/// Goal: the table of agents names every profile that is built in, and the versions that were seen.
#[test]
fn the_table_of_agents_is_true() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let rows = readme
        .lines()
        .filter(|line| line.contains("](src/profile/builtin/") && line.starts_with('|'));
    let mut told: Vec<(String, String)> = rows
        .map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let name = cells[2].split('`').nth(1).unwrap().to_owned();
            assert_eq!(cells[2], format!("[`{name}`](src/profile/builtin/{name}/page.md)"));
            (name, cells[3].replace('–', ""))
        })
        .collect();
    let mut known: Vec<(String, String)> = Profile::names()
        .map(|name| (name.to_owned(), Profile::load(name).unwrap().0.versions.seen.join(", ")))
        .collect();
    told.sort();
    known.sort();
    assert_eq!(told, known);
}
