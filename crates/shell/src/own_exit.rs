//! Commands whose exit status says nothing of the command in them.

use super::program_name;
use super::wrappers::{has, is_keyword, starts};

/// Programs whose exit status is not that of the command that they run, or may not run.
const OWN_EXIT: &[&str] = &[
    "%",
    "coproc",
    "find",
    "foreach-object",
    "parallel",
    "script",
    "systemd-run",
    "trap",
    "watch",
    "xargs",
];

/// Programs, and the letter and the name of the option with which they do not wait for the command.
const DETACHING: &[(&[&str], char, &str)] = &[
    (&["docker", "docker-compose", "podman"], 'd', "--detach"),
    (&["setsid"], 'f', "--fork"),
    (&["ssh"], 'f', "-f"),
    (&["sudo"], 'b', "--background"),
];

/// Letters of options with a value: `docker exec -unode`, `sudo -ubob`, `ssh -oBatchMode=yes`.
const WITH_VALUE: &str = "aceghlmopuvwDFJLRUW";

/// `!` turns it round, a block of PowerShell may not be entered, and some programs have their own.
pub(super) fn hides_exit(words: &[String]) -> bool {
    let mut before = words.iter().take_while(|word| is_keyword(word));
    before.any(|word| word == "!" || word == "{")
        || words.last().is_some_and(|word| word == "}")
        || has_own_exit(words)
}

fn has_own_exit(words: &[String]) -> bool {
    let starts = starts(words);
    let last = starts.iter().copied().max().unwrap_or_default();
    let mut programs = starts.iter().map(|start| (*start, program_name(&words[*start])));
    programs.any(|(start, program)| {
        has(OWN_EXIT, program)
            // `git bisect run` and such may run the command never, or go on after it failed.
            || program == "git" && start < last
            || start < last && detaches(program, &words[start + 1..last])
    })
}

/// Whether a word such as `-itd` has a flag. Behind a letter that may have a value comes the value.
fn has_flag(word: &str, flag: char) -> bool {
    let Some(letters) = word.strip_prefix('-') else { return false };
    let flags = letters.find(|it| WITH_VALUE.contains(it)).map_or(letters, |end| &letters[..end]);
    flags.chars().all(|it| it.is_ascii_alphabetic()) && flags.contains(flag)
}

/// Whether a program does not wait for the command behind these words.
fn detaches(program: &str, before: &[String]) -> bool {
    let of_program = DETACHING.iter().find(|(programs, ..)| has(programs, program));
    of_program.is_some_and(|(_, letter, name)| {
        before.iter().any(|word| match word.strip_prefix("--") {
            Some(_) => word.strip_prefix(name).is_some_and(|value| ["", "=true"].contains(&value)),
            None => has_flag(word, *letter),
        })
    })
}
