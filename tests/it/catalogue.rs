//! Every rule has a page, and what the page shows is true.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use ndjson_check::{ExitStatus, ProducerExit, Rule, Severity};

use crate::streams::{PROGRAM, checker, files, root, text};

const SECTIONS: [&str; 5] =
    ["## What to do", "## What it means", "## Why it matters", "## Bad", "## Good"];

#[test]
fn pages_have_their_form() {
    let name = |severity: Option<Severity>| severity.map_or("off", Severity::name);
    for rule in Rule::ALL {
        let page = rule.page();
        let mut paragraphs = page.split("\n\n");
        assert_eq!(paragraphs.next(), Some(format!("# {rule}").as_str()));
        let summary = rule.summary();
        assert_eq!(paragraphs.next(), Some(summary), "{rule}");
        assert!(summary.len() <= 80 && !summary.contains('\n'), "{rule}: {summary}");
        let facts = format!(
            "Severity: {}. Strict: {}. Since: 0.1.0. Source: ",
            name(rule.severity()),
            name(rule.strict_severity())
        );
        let line = paragraphs.next().unwrap();
        assert!(line.starts_with(&facts), "{rule}: {line} should begin with {facts}");
        let headings: Vec<&str> = page.lines().filter(|it| it.starts_with("## ")).collect();
        assert_eq!(headings, SECTIONS, "{rule}");
        let advice = page.split("\n## ").nth(1).unwrap();
        assert!(advice.len() > 100, "{rule}: the page does not say what to do");
    }
}

#[test]
fn names_are_unique_kebab_case_and_each_has_its_page() {
    let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        let plain = rule.name().chars().all(|it| it.is_ascii_lowercase() || it == '-' || it == '8');
        assert!(plain, "{rule}");
        assert_eq!(Rule::named(rule.name()), Some(rule));
    }
    let pages = files(&root().join("crates/core/src/rules"), "md");
    let pages: BTreeSet<_> = pages.iter().filter_map(|it| it.file_stem()?.to_str()).collect();
    assert_eq!(pages, names);
}

/// Goal: the table in docs/rules.md is true. With `UPDATE_GOLDENS` it is written.
#[test]
fn the_table_of_rules_is_true() {
    let file = root().join("docs/rules.md");
    let page = fs::read_to_string(&file).unwrap();
    let name = |severity: Option<Severity>| severity.map_or("off", Severity::name);
    let rows = Rule::ALL.iter().map(|rule| {
        let (default, strict) = (name(rule.severity()), name(rule.strict_severity()));
        let link = format!("[`{rule}`](../crates/core/src/rules/{rule}.md)");
        format!("| {link} | {default} | {strict} | {} |\n", rule.summary())
    });
    let (before, _) = page.split_once("| [`").unwrap();
    let (_, after) = page.rsplit_once("| [`").unwrap();
    let after = after.split_once('\n').unwrap().1;
    let expected: String =
        std::iter::once(before.to_owned()).chain(rows).collect::<String>() + after;
    if env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&file, &expected).unwrap();
    } else {
        assert!(page == expected, "UPDATE_GOLDENS=1 writes docs/rules.md");
    }
}

/// Goal: examples teach what is so.
/// Method: the Bad block raises exactly its rule, the Good block nothing, with the block's flags.
#[test]
fn examples_raise_what_they_show() {
    let mut commands = 0;
    for rule in Rule::ALL {
        if rule.page().contains("```sh") {
            commands += 1;
            if cfg!(windows) {
                continue;
            }
            assert_eq!(raised_by_command(rule, "## Bad"), [rule], "{rule}, bad");
            assert_eq!(raised_by_command(rule, "## Good"), [], "{rule}, good");
            continue;
        }
        let (good, bad) = (example(rule, "## Good"), example(rule, "## Bad"));
        assert_eq!(raised(&bad), [rule], "{rule}, bad");
        assert_eq!(raised(&good), [], "{rule}, good");
    }
    assert_eq!(commands, 4, "the rules of run mode, and those of a configuration file");
}

/// The exit status among these flags.
fn exit(flags: &[String]) -> ProducerExit {
    let at = flags.iter().position(|flag| flag == "--exit-status");
    let code = at.map(|at| flags[at + 1].parse().unwrap());
    code.map_or_else(ProducerExit::default, |code| ExitStatus::Code(code).into())
}

/// What the command of an `sh` block raises: the rules of run mode need a command.
fn raised_by_command(rule: Rule, heading: &str) -> Vec<Rule> {
    let (_, section) = rule.page().split_once(heading).unwrap();
    let (block, _) = section.split_once("```sh\n").unwrap().1.split_once("```").unwrap();
    let folder = Path::new(PROGRAM).parent().unwrap();
    let path = format!("{}:{}", folder.display(), env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", block]).env("PATH", path).current_dir(root()).stdin(Stdio::null());
    let report = text(&shell.output().unwrap().stdout);
    Rule::ALL.iter().copied().filter(|it| report.contains(&format!("[{it}]"))).collect()
}

struct Example {
    flags: Vec<String>,
    bytes: Vec<u8>,
}

fn raised(example: &Example) -> Vec<Rule> {
    let mut checker = checker(example.flags.iter().map(String::as_str));
    let mut stream = checker.stream("-");
    stream.read(&example.bytes[..], &mut ()).unwrap();
    let summary = stream.finish(&exit(&example.flags), &mut ()).unwrap();
    summary.rule_counts.into_keys().collect()
}

/// Reads the block below a heading. Its info string holds flags, and says how to read it: `bytes`
/// for `\xHH`, `no-final-newline`, `no-input`.
fn example(rule: Rule, heading: &str) -> Example {
    let (_, section) = rule.page().split_once(heading).unwrap();
    let (info, rest) = section.split_once("```ndjson").unwrap().1.split_once('\n').unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let (mut flags, mut bytes) = (Vec::new(), block.as_bytes().to_vec());
    for word in info.split_whitespace() {
        match word {
            "bytes" => bytes = unescaped(block),
            "no-final-newline" => assert_eq!(bytes.pop(), Some(b'\n')),
            "no-input" => bytes.clear(),
            flag => flags.push(flag.to_owned()),
        }
    }
    Example { flags, bytes }
}

fn unescaped(block: &str) -> Vec<u8> {
    let mut parts = block.split("\\x");
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    bytes
}
