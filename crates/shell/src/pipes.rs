//! What a command gives to the next one in its pipe, and which commands run what they get.

use super::program_name;
use super::wrappers::{is_command_option, is_shell, starts};

/// Options of shells whose value is not a script, as are those that end in `o`: `-euo pipefail`.
const WITH_VALUE: &[&str] = &["--init-file", "--rcfile"];

const SSH_WITH_VALUE: &str = "BDEFIJLOPQRSWbceilmopw";

/// Whether the command is a shell that runs what it reads: it has neither a script nor `-c`; or
/// starts one on another host.
pub(super) fn reads_commands(words: &[String]) -> bool {
    starts(words).into_iter().any(|start| {
        let (program, arguments) = (program_name(&words[start]), &words[start + 1..]);
        is_shell(program) && has_no_script(program, arguments)
            || program == "ssh" && has_only_host(arguments)
    })
}

fn has_only_host(arguments: &[String]) -> bool {
    let mut arguments = arguments.iter();
    let mut names = 0;
    while let Some(word) = arguments.next() {
        match word.strip_prefix('-') {
            Some(letter) if letter.len() == 1 && SSH_WITH_VALUE.contains(letter) => {
                arguments.next();
            }
            Some(_) => {}
            None => names += 1,
        }
    }
    names == 1
}

fn has_no_script(shell: &str, arguments: &[String]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "-" | "-s" | "/dev/stdin" => return true,
            _ if is_command_option(shell, word) => return false,
            option if WITH_VALUE.contains(&option) => drop(arguments.next()),
            option if option.starts_with("--") => {}
            option if option.starts_with(['-', '+']) && option.ends_with(['o', 'O']) => {
                arguments.next();
            }
            option if option.starts_with(['-', '+']) => {}
            _ => return false,
        }
    }
    true
}

/// What the command prints, if that is in the command itself or in what it reads.
pub(super) fn printed(words: &[String], read: Option<String>) -> Option<String> {
    let (program, arguments) = starts(words).into_iter().find_map(|start| {
        let program = program_name(&words[start]);
        let is_known = ["cat", "echo", "printf", "tee"].contains(&program);
        is_known.then_some((program, &words[start + 1..]))
    })?;
    match program {
        "echo" => {
            let is_option = |word: &&String| {
                word.strip_prefix('-').is_some_and(|it| it.chars().all(|it| "neE".contains(it)))
            };
            let options = arguments.iter().take_while(is_option).count();
            Some(unescaped(&arguments[options..].join(" ")))
        }
        "printf" => {
            let arguments = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments);
            let (format, values) = arguments.split_first()?;
            let format = format.replace("%b", "%s");
            let values = values.iter().map(String::as_str).chain(std::iter::repeat(""));
            let parts = format.split("%s").zip(std::iter::once("").chain(values));
            let text: String = parts.flat_map(|(part, value)| [value, part]).collect();
            Some(unescaped(&text))
        }
        // It reads files instead.
        "cat" if arguments.iter().any(|word| !word.starts_with('-')) => None,
        _ => read,
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}
