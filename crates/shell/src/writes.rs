//! Which commands write files.

use super::wrappers::has;
use super::{ShellCommand, program_name};

/// Programs that print text: `>` writes it to a file. The output of other programs is a log.
const PRINTERS: &[&str] = &[
    "awk", "base64", "cat", "echo", "envsubst", "gawk", "head", "jq", "perl", "printf", "sed",
    "sort", "tail", "tr", "xxd", "yq",
];

/// Programs whose last argument is the file that they write.
const COPIERS: &[&str] = &["copy", "copy-item", "cp", "install", "move", "move-item", "mv"];

const TEMPORARY: &[&str] =
    &["/dev/", "/tmp/", "/var/tmp/", "/private/tmp/", "$", "%TEMP%", "%TMP%"];

const LOG_ENDINGS: &[&str] = &[".log", ".out", ".tmp"];

/// Whether text in this file is kept: it is neither a device, temporary, nor a log.
pub(super) fn is_kept(path: &str) -> bool {
    let is_nothing = path.is_empty() || path.eq_ignore_ascii_case("nul") || path == "-";
    !is_nothing && !is_temporary(path) && !LOG_ENDINGS.iter().any(|it| path.ends_with(it))
}

fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|it| path.starts_with(it) || it.strip_suffix('/') == Some(path))
}

/// Whether one of these commands writes. Files of a line that begins with `cd /tmp` are not kept.
pub(super) fn any_writes(commands: &[ShellCommand]) -> bool {
    let enters = |command: &ShellCommand| match command.words.as_slice() {
        [program, directory, ..] => {
            ["cd", "pushd"].contains(&program.as_str()) && is_temporary(directory)
        }
        _ => false,
    };
    !commands.iter().any(enters) && commands.iter().any(ShellCommand::writes)
}

impl ShellCommand {
    /// Marks the commands of a pipe that begins with a program whose output is a log.
    pub(super) fn mark_log_readers(commands: &mut [Self]) {
        let reads_log = commands.first().is_some_and(|first| !has(PRINTERS, first.program()));
        for command in commands {
            command.reads_log |= reads_log;
        }
    }

    /// Whether it writes a file, as far as its words show.
    pub(super) fn writes(&self) -> bool {
        self.starts.iter().any(|start| {
            let program = &*program_name(&self.words[*start]).to_ascii_lowercase();
            let prints = program == "tee" || has(PRINTERS, program);
            let arguments = &self.words[start + 1..];
            let writes_file = self.redirects || program == "tee" && writes_names(arguments);
            prints && writes_file && !self.reads_log || edits(program, arguments)
        })
    }
}

fn edits(program: &str, arguments: &[String]) -> bool {
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    let names = || arguments.iter().filter(|it| !it.starts_with('-'));
    match program {
        "sed" | "gsed" => edits_in_place(arguments, "efl"),
        // After the name of a script, options are those of the script.
        "perl" => edits_in_place(options(arguments), "eEFImMxCdD"),
        "ruby" => edits_in_place(options(arguments), "eEFIrCWTKx"),
        "awk" | "gawk" => has_any(&["inplace"]),
        "patch" => !has_any(&["--dry-run", "-C", "--check"]),
        "add-content" | "apply_patch" | "out-file" | "set-content" | "truncate" => true,
        "git" => git_edits(arguments),
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

fn writes_names(arguments: &[String]) -> bool {
    arguments.iter().any(|it| !it.starts_with('-') && is_kept(it))
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

/// Whether `git` edits files. Switching branches and pulling do not count.
fn git_edits(arguments: &[String]) -> bool {
    let has_any = |options: &[&str]| arguments.iter().any(|it| options.contains(&it.as_str()));
    let mut words = arguments.iter();
    let command = loop {
        match words.next().map(String::as_str) {
            Some("-C" | "-c") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            command => break command.unwrap_or_default(),
        }
    };
    match command {
        "am" | "cherry-pick" | "mv" | "revert" => true,
        "apply" => !has_any(&["--check", "--stat", "--numstat", "--summary", "--cached"]),
        // A commit, and files of it.
        "checkout" if !has_any(&["-b", "-B", "-t", "--track", "--orphan"]) => {
            has_any(&["--", "."]) || words.filter(|it| !it.starts_with('-')).count() > 1
        }
        "reset" => has_any(&["--hard", "--merge", "--keep"]),
        "restore" => !has_any(&["--staged", "-S"]) || has_any(&["--worktree", "-W"]),
        "stash" => !has_any(&["list", "show", "drop", "clear"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::may_write;

    #[test]
    fn commands_that_write_are_known() {
        for line in [
            "cat > src/a.js <<'E'\nx\nE",
            "cd app && echo x >> README.md",
            "printf a >|b",
            "sed -i 's/a/b/' a.js",
            "sed -i.bak -e 's/a/b/' a.js",
            "sed -nE --in-place=.b p a.js",
            "sudo sed -Ei p a.js",
            "perl -0777 -pi -e 's/i/b/' a.js",
            "perl -i.bak -pe s/a/b/ a.js",
            "awk -i inplace 1 a",
            "patch -p1 < a.diff",
            "git -C app apply a.diff",
            "git checkout -- a.js",
            "git checkout .",
            "git checkout HEAD~1 a.js",
            "git mv a.js b.js",
            "truncate -s 0 a.js",
            "git restore a.js",
            "git stash pop",
            "git reset --hard HEAD~1",
            "bash -lc 'cp a.js b.js'",
            "cat a | tee a.txt",
            "echo a > b.txt $(ls)",
            "cat a 1> b",
            "if ls; then mv a b; fi",
            "find . -exec sed -i p {} +",
            "Set-Content a.txt x",
        ] {
            assert!(may_write(line), "{line}");
        }
    }

    #[test]
    fn other_commands_write_nothing() {
        for line in [
            "npm test > result.txt 2>&1",
            "echo a > /dev/null",
            "echo a >&2",
            "cat < a.js",
            "cat a.js 2>/dev/null | head",
            "echo a > /tmp/a",
            "cat a > \"$OUT\"",
            "make | tee build.log",
            "npm test | tee out.txt",
            "npm test --json | jq . > report.json",
            "cat a.js 2> err.txt",
            "cp a.js /tmp",
            "cd /tmp && cat > t.py <<'E'\nx\nE",
            "ruby -rtime -e 'p 1'",
            "ruby bin/rails test -i x",
            "node gen.js > out.json $(cat args)",
            "sed -n 's/i/b/p' a.js",
            "perl -ne 'print if /i/' a",
            "patch --dry-run < a.diff",
            "git apply --check a.diff",
            "git checkout -b fix",
            "git checkout -b fix origin/main",
            "git checkout main",
            "git restore --staged a.js",
            "git stash list",
            "git reset HEAD a.js",
            "git commit -m 'sed -i; git apply' -m apply",
            "cp a /tmp/b",
            "grep -i a b",
            "echo 'a > b'",
            "cat <<'E'\nsed -i p a\nE",
            "[[ a > b ]] && echo a",
        ] {
            assert!(!may_write(line), "{line}");
        }
    }
}
