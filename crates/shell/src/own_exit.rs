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

/// Programs that do not wait for the command if they have an option, and its letter and name. The
/// last are the letters of options with a value: `docker exec -unode`, `ssh -oBatchMode=yes`.
const DETACHING: &[(&[&str], char, &str, &str)] = &[
    (&["docker", "docker-compose", "podman"], 'd', "--detach", "acehmpuvw"),
    (&["setsid"], 'f', "--fork", ""),
    (&["ssh"], 'f', "-f", "BDEFIJLOPQRSWbceilmopw"),
    (&["sudo"], 'b', "--background", "CDRTUghprtu"),
];

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

/// Whether a program does not wait for the command behind these words.
fn detaches(program: &str, before: &[String]) -> bool {
    let of_program = DETACHING.iter().find(|(programs, ..)| has(programs, program));
    of_program.is_some_and(|(_, letter, name, with_value)| {
        before.iter().any(|word| {
            let (option, value) = word.split_once('=').unwrap_or((word, "true"));
            let letters = option.strip_prefix('-').filter(|it| !it.starts_with('-'));
            let flags =
                letters.and_then(|it| it.split(|letter| with_value.contains(letter)).next());
            let is_set = option == *name || flags.is_some_and(|flags| flags.contains(*letter));
            let has_value = option == *name || flags == letters;
            is_set && !(has_value && ["0", "false"].contains(&value))
        })
    })
}
