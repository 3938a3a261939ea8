//! The page of the proofs: its figures come from tests, its commands exist.

use std::collections::BTreeSet;
use std::fs;

use crate::support::root;

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap()
}

/// All text files of a folder, and the names of those files without their extension.
fn sources(folder: &str) -> (String, BTreeSet<String>) {
    let (mut all, mut names) = (String::new(), BTreeSet::new());
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let (more, others) = sources(&format!("{folder}/{name}"));
            all += &more;
            names.extend(others);
        } else {
            all += &fs::read_to_string(entry.path()).unwrap_or_default();
        }
        names.insert(name.split('.').next().unwrap().to_owned());
    }
    (all, names)
}

/// What is between two marks, wherever they are.
fn between<'t>(text: &'t str, start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split_once(end)).map(|(it, _)| it)
}

/// Goal: no figure is typed by hand.
#[test]
fn each_figure_of_the_page_is_printed() {
    let page = read("docs/how-it-is-tested.md");
    let (printed, _) = sources("tests");
    let names: BTreeSet<&str> =
        between(&page, "<!--", "-->").filter(|it| !["/", "damage", "fuzz"].contains(it)).collect();
    assert!(names.len() > 6, "{names:?}");
    for name in names {
        assert!(printed.contains(&format!("figure: {name} ")), "{name} is printed by no test");
    }
}

/// Goal: each command of the page can run: its scripts exist, and its filters select tests.
#[test]
fn each_command_of_the_page_exists() {
    let page = read("docs/how-it-is-tested.md");
    let (tests, names) = sources("tests");
    let mut commands = 0;
    for command in between(&page, " `", "`") {
        let words: Vec<&str> = command.split(' ').collect();
        let scripts = words.iter().filter(|it| it.starts_with("tests/") || it.starts_with("fuzz/"));
        for script in scripts {
            assert!(root().join(script).exists(), "{script} does not exist");
            commands += 1;
        }
        if words.contains(&"cargo") {
            let filters = words.iter().skip_while(|it| **it != "--").skip(1);
            for filter in filters.filter(|it| !it.starts_with("--")) {
                let is_test = names.contains(*filter) || tests.contains(&format!("fn {filter}"));
                assert!(is_test, "`{command}`: no test is named {filter}");
                commands += 1;
            }
        }
    }
    assert!(commands > 20, "only {commands}");
}

/// Goal: the page counts what the table of the targets says.
#[test]
fn the_executions_of_the_page_are_those_of_the_targets() {
    let readme = read("fuzz/README.md");
    let rows = readme.lines().skip_while(|it| !it.starts_with("| target | executions |")).skip(2);
    let counts: Vec<u64> = rows
        .take_while(|it| it.starts_with('|'))
        .map(|row| row.split('|').nth(2).unwrap().replace([' ', ','], "").parse().unwrap())
        .collect();
    let manifest = read("fuzz/Cargo.toml");
    assert_eq!(counts.len(), manifest.matches("[[bin]]").count(), "each target has a row");
    let page = read("docs/how-it-is-tested.md");
    let all = between(&page, "<!--fuzz-->", "<!--/-->").next().unwrap().replace(',', "");
    assert_eq!(all.parse(), Ok(counts.iter().sum::<u64>()));
}
