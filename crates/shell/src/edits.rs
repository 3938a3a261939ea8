//! Which programs edit the files that they name, and which delete them.

use super::code::{code_writes, is_interpreter};
use super::rewriters::rewrites;
use super::wrappers::{WORDS_MAX, has};
use super::writes::is_kept;

/// Programs whose last argument is the file that they write.
const COPIERS: &[&str] =
    &["copy", "copy-item", "cp", "install", "move", "move-item", "mv", "rsync"];

/// Programs that delete the files that they name.
const DELETERS: &[&str] =
    &["del", "erase", "rd", "remove-item", "rm", "rmdir", "shred", "trash", "unlink"];

pub(super) fn edits(program: &str, arguments: &[String]) -> bool {
    edits_files(program, arguments)
        || rewrites(program, arguments)
        || is_interpreter(program) && arguments.iter().take(WORDS_MAX).any(|it| code_writes(it))
}

fn edits_files(program: &str, arguments: &[String]) -> bool {
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    let names = || arguments.iter().filter(|it| !it.starts_with('-'));
    match program {
        "sed" | "gsed" => edits_in_place(arguments, "efl"),
        // After the name of a script, options are those of the script.
        "perl" => edits_in_place(options(arguments), "eEFImMxCdD"),
        "ruby" => edits_in_place(options(arguments), "eEFIrCWTKx"),
        "awk" | "gawk" => has_any(&["inplace"]),
        "patch" => !has_any(&["--dry-run", "-C", "--check"]),
        "add-content" | "apply_patch" | "ed" | "ex" | "out-file" | "sd" | "set-content"
        | "truncate" => true,
        "git" => git_edits(arguments),
        "rsync" if has_any(&["-n", "--dry-run"]) => false,
        _ if has(COPIERS, program) => {
            names().count() > 1 && names().next_back().is_some_and(|it| is_kept(it))
        }
        _ => false,
    }
}

/// The options before the first other word.
fn options(arguments: &[String]) -> &[String] {
    let end = arguments.iter().position(|it| !it.starts_with('-'));
    &arguments[..end.unwrap_or(arguments.len())]
}

/// `-i`, also among other letters, before one of those that have a value.
fn edits_in_place(arguments: &[String], with_value: &str) -> bool {
    arguments.iter().any(|word| {
        let Some(letters) = word.strip_prefix('-') else { return false };
        if let Some(long) = letters.strip_prefix('-') {
            return long.starts_with("in-place");
        }
        letters.chars().take_while(|it| !with_value.contains(*it)).any(|it| it == 'i')
    })
}

/// Whether it deletes files that are kept.
pub(super) fn deletes(program: &str, arguments: &[String]) -> bool {
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    match program {
        "find" => has_any(&["-delete"]) && arguments.first().is_some_and(|it| is_kept(it)),
        "git" => match git_command(arguments) {
            ("clean", options) => !options.iter().any(|it| is_dry_run(it)),
            ("rm", options) => !options.iter().any(|it| is_dry_run(it) || it == "--cached"),
            _ => false,
        },
        _ if has(DELETERS, program) => {
            // `del /q a.txt`
            let is_option =
                |it: &&String| it.starts_with('-') || it.starts_with('/') && it.len() == 2;
            arguments.iter().filter(|it| !is_option(it)).any(|it| is_kept(it))
        }
        _ => false,
    }
}

/// `--dry-run`, or `-n` among other letters.
fn is_dry_run(option: &str) -> bool {
    let letters = option.strip_prefix('-').filter(|it| !it.starts_with('-'));
    option == "--dry-run" || letters.is_some_and(|it| it.contains('n'))
}

/// The command of `git`, and what is behind it.
fn git_command(arguments: &[String]) -> (&str, &[String]) {
    let mut rest = arguments;
    loop {
        match rest {
            [option, _, behind @ ..] if option == "-C" || option == "-c" => rest = behind,
            [option, behind @ ..] if option.starts_with('-') => rest = behind,
            [command, behind @ ..] => return (command, behind),
            [] => return ("", &[]),
        }
    }
}

/// Whether `git` edits files. Switching branches and pulling do not count.
fn git_edits(arguments: &[String]) -> bool {
    let (command, arguments) = git_command(arguments);
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    match command {
        "am" | "cherry-pick" | "mv" | "revert" => true,
        "apply" => !has_any(&["--check", "--stat", "--numstat", "--summary", "--cached"]),
        // A commit, and files of it.
        "checkout" if !has_any(&["-b", "-B", "-t", "--track", "--orphan"]) => {
            has_any(&["--", "."]) || arguments.iter().filter(|it| !it.starts_with('-')).count() > 1
        }
        "reset" => has_any(&["--hard", "--merge", "--keep"]),
        "restore" => !has_any(&["--staged", "-S"]) || has_any(&["--worktree", "-W"]),
        "stash" => !has_any(&["list", "show", "drop", "clear"]),
        _ => false,
    }
}
