//! Which commands write files, and which delete them.

use super::edits::{deletes, edits};
use super::parser::ShellParser;
use super::wrappers::has;
use super::{ShellCommand, program_name};

/// Programs that print text: `>` writes it to a file. The output of other programs is a log.
const PRINTERS: &[&str] = &[
    "awk", "base64", "cat", "echo", "envsubst", "gawk", "head", "jq", "perl", "printf", "sed",
    "sort", "tail", "tr", "xxd", "yq",
];

const TEMPORARY: &[&str] =
    &["/dev/", "/tmp/", "/var/tmp/", "/private/tmp/", "$", "%TEMP%", "%TMP%"];

const LOG_ENDINGS: &[&str] = &[".log", ".out", ".tmp"];

/// Whether text in this file is kept: it is neither a device, temporary, nor a log.
pub(super) fn is_kept(path: &str) -> bool {
    let is_nothing = path.is_empty() || path.eq_ignore_ascii_case("nul") || path == "-";
    !is_nothing && !is_temporary(path) && !LOG_ENDINGS.iter().any(|it| path.ends_with(it))
}

/// Whether a path is that of a device, or in a directory for temporary files.
pub fn is_temporary(path: &str) -> bool {
    TEMPORARY.iter().any(|it| path.starts_with(it) || it.strip_suffix('/') == Some(path))
}

/// What a line does to files, as far as its commands show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileEffects {
    /// Whether it writes or edits a file: by `cat > file`, `sed -i`, `git apply`, a formatter and
    /// such. Logs, temporary files, and what a program writes by itself do not count.
    pub writes: bool,
    /// Whether it deletes a file that is not temporary.
    pub deletes: bool,
}

/// What a line may do to files.
pub fn file_effects(line: &str) -> FileEffects {
    let commands = ShellParser::new(line).list(None);
    let (writes, deletes) = (any_writes(&commands), any_deletes(&commands));
    FileEffects { writes, deletes }
}

pub(super) fn any_writes(commands: &[ShellCommand]) -> bool {
    are_in_kept_directory(commands) && commands.iter().any(ShellCommand::writes)
}

fn any_deletes(commands: &[ShellCommand]) -> bool {
    are_in_kept_directory(commands) && commands.iter().any(ShellCommand::deletes)
}

/// Files of a line that begins with `cd /tmp` are not kept.
fn are_in_kept_directory(commands: &[ShellCommand]) -> bool {
    let enters = |command: &ShellCommand| match command.words.as_slice() {
        [program, directory, ..] => {
            ["cd", "pushd"].contains(&program.as_str()) && is_temporary(directory)
        }
        _ => false,
    };
    !commands.iter().any(enters)
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

    /// Whether it deletes a file, as far as its words show.
    fn deletes(&self) -> bool {
        self.starts.iter().any(|start| {
            let program = program_name(&self.words[*start]).to_ascii_lowercase();
            deletes(&program, &self.words[start + 1..])
        })
    }
}

fn writes_names(arguments: &[String]) -> bool {
    arguments.iter().any(|it| !it.starts_with('-') && is_kept(it))
}

#[cfg(test)]
mod tests {
    use crate::file_effects;

    fn may_write(line: &str) -> bool {
        file_effects(line).writes
    }

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
            "cargo +nightly fmt --all",
            "npx prettier --write .",
            "npm run lint -- --fix",
            "pnpm format",
            "make fmt",
            "uvx ruff check --fix",
            "ruff format .",
            "python3 -m black .",
            "gofmt -w .",
            "go mod tidy",
            "npm install lodash",
            "npm uninstall lodash",
            "npx prettier@3 --write .",
            "python3 - a <<'E'\nopen('a', 'w')\nE",
            "node -e \"fs.appendFileSync('a', 'x')\"",
            "python3 - <<'E'\nopen('a', 'w').write('x')\nE",
            "bash -lc \"python3 - <<'E'\nPath('a').write_text('x')\nE\"",
            "python -c \"open('a', 'w').write('x')\"",
            "node -e \"fs.writeFileSync('a', 'x')\"",
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
            "cargo fmt --check",
            "cargo clippy",
            "black --version",
            "npm run format -- --check",
            "npm install --prefix app",
            "rsync -n a b",
            "python -c \"import json, sys; json.dump({}, sys.stdout)\"",
            "python -c \"import sys; sys.stdout.buffer.write(b'x')\"",
            "npx prettier --check .",
            "npm run lint",
            "npm run format:check",
            "npm install",
            "npm ci",
            "make",
            "ruff check .",
            "ruff format --check .",
            "black --check .",
            "gofmt -l .",
            "go test ./...",
            "python3 - <<'E'\nprint(open('a').read())\nE",
            "python3 a.py <<'E'\nopen('a', 'w').write('x')\nE",
            "python -c \"import sys; sys.stdout.write('x')\"",
            "gh pr create --body-file - <<'E'\nwrite_text(x)\nE",
            "rm a.js",
        ] {
            assert!(!may_write(line), "{line}");
        }
    }

    #[test]
    fn commands_that_delete_are_known() {
        for line in [
            "rm -rf src",
            "cd a && rm b",
            "git rm a.js",
            "git clean -fdx",
            "find . -name '*.pyc' -delete",
            "find . -exec rm {} +",
            "Remove-Item a.txt",
            "bash -lc 'rm a.js'",
        ] {
            assert!(file_effects(line).deletes, "{line}");
        }
        for line in [
            "rm /tmp/a",
            "rm -f \"$TMP/a\"",
            "rm out.log",
            "find /tmp/x -delete",
            "del /q %TEMP%\\a",
            "git rm --cached a.js",
            "git clean -nd",
            "git commit -m 'rm a'",
            "docker run --rm app ls",
            "cd /tmp && rm a",
            "npm test",
        ] {
            assert!(!file_effects(line).deletes, "{line}");
        }
    }
}
