//! The commands in a line for a shell: in pipes and lists, behind `sudo` and `env`, in quotes, in
//! texts that another shell reads, and in those for PowerShell. It reads as much of the grammar of
//! POSIX shells as agents use.
//!
//! ```
//! use ndjson_check_shell::{ExitShown, run_of};
//!
//! let is_push = |command: &str| command.starts_with("git push");
//! let run = run_of("cd app && sudo git push | grep new", is_push).expect("it pushes");
//! assert_eq!(run.exit, ExitShown::Nothing);
//! assert!(run.is_filtered);
//! assert!(run_of("git commit -m 'git push'", is_push).is_none());
//! ```
//!
//! The work on a line is bounded by a multiple of its length.

mod arithmetic;
mod blocks;
mod characters;
mod code;
mod edits;
mod ending;
mod functions;
mod groups;
mod heredoc;
mod inner;
mod list;
mod options;
mod own_exit;
mod parser;
mod pipes;
mod rewriters;
mod word;
mod words;
mod wrappers;
mod writes;

pub use inner::inner_line;
pub use wrappers::{NAMED_BY, is_shell};
pub use writes::{FileEffects, file_effects, is_temporary};

use parser::ShellParser;
use wrappers::{WORDS_MAX, has, is_text};

/// What the exit status of a line says of a command in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitShown {
    /// It is that of the command.
    Own,
    /// The line succeeds only if the command does; it may fail because of a later one.
    IfItSucceeds,
    /// Nothing: the command is in the background, in a pipe or in a block such as `if`, others come
    /// after it, or the shell may end before it.
    Nothing,
}

/// How a line runs the commands that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShellRun {
    /// What the exit status says of them, at best.
    pub exit: ExitShown,
    /// Whether another command of the line may have picked from the output.
    pub is_filtered: bool,
    /// Whether the start of the output may be missing, too.
    pub is_cut: bool,
    /// Whether the command succeeds, too, if what it runs does not exist.
    pub may_be_skipped: bool,
    /// Whether a later command of the line may write or edit a file: see [`file_effects`].
    pub is_edited_after: bool,
}

/// Programs that show a part of what they read, and perhaps not its end.
const FILTERS: &[&str] = &[
    "ag",
    "awk",
    "cut",
    "egrep",
    "fgrep",
    "findstr",
    "grep",
    "head",
    "jq",
    "perl",
    "rg",
    "sed",
    "select-string",
    "sls",
    "sort",
    "uniq",
    "wc",
];

/// Programs that print nothing, or all that they read.
const NEUTRAL: &[&str] = &["cat", "cd", "echo", "env", "export", "set", "source", "tee"];

#[derive(Debug)]
struct ShellCommand {
    /// Its words without quotes; a space inside a word is [`INNER_SPACE`].
    words: Vec<String>,
    /// The words at which a program may be named: the first one, and those behind `sudo` and such.
    starts: Vec<usize>,
    exit: ExitShown,
    /// The same where a failure does not stop the shell, although `set -e` says so: before `&&` and
    /// in a condition.
    exit_unstopped: ExitShown,
    /// Whether its output goes to a file that is kept.
    redirects: bool,
    /// Whether it reads what another program says: a log.
    reads_log: bool,
}

/// How many words of a text that is nested too deep may name a program.
const UNREAD_WORDS_MAX: usize = 1_000;

/// Replaces a space inside a word, so that no pattern mistakes a part of a word for a word.
const INNER_SPACE: char = '\u{2423}';

/// How a line runs the commands that are meant; nothing, if it runs none of them. `is_meant` gets
/// the words of a command, without quotes and with one space between them. If the program is named
/// with its directory, it gets the command without that, too.
pub fn run_of(line: &str, is_meant: impl Fn(&str) -> bool) -> Option<ShellRun> {
    let commands = ShellParser::new(line).list(None);
    let is_meant = |command: &&ShellCommand| command.texts().any(|text| is_meant(&text));
    let exit = commands.iter().filter(is_meant).map(|command| command.exit).max()?;
    let is_filtered = commands.iter().any(|command| has(FILTERS, command.program()));
    let mut others = commands.iter().filter(|command| !is_meant(command));
    let is_cut = commands.iter().filter(is_meant).count() > 1
        || others.any(|command| !has(NEUTRAL, command.program()));
    let may_be_skipped = commands.iter().filter(is_meant).any(ShellCommand::may_be_skipped);
    let last = commands.iter().rposition(|command| is_meant(&command))?;
    let is_edited_after = writes::any_writes(&commands[last + 1..]);
    Some(ShellRun { exit, is_filtered, is_cut, may_be_skipped, is_edited_after })
}

impl ShellCommand {
    /// Any word of a text that is nested too deep may name a program.
    fn unread(text: &str) -> Self {
        let words = text.split(|it: char| it.is_whitespace() || "(){};&|`\"'".contains(it));
        let words: Vec<String> = words.filter(|it| !it.is_empty()).map(str::to_owned).collect();
        let starts = (0..words.len().min(UNREAD_WORDS_MAX)).collect();
        Self::new(words, starts, ExitShown::Nothing)
    }

    fn new(words: Vec<String>, starts: Vec<usize>, exit: ExitShown) -> Self {
        Self { words, starts, exit, exit_unstopped: exit, redirects: false, reads_log: false }
    }

    /// In `{ make && ls; }` a failure of the first command does not stop the shell.
    fn stop_only_where_last(&mut self) {
        if self.exit_unstopped == ExitShown::IfItSucceeds {
            self.exit = ExitShown::Nothing;
        }
    }

    fn ignore_stops(&mut self) {
        self.exit = self.exit.max(self.exit_unstopped);
    }

    /// Another shell ran it, which stops wherever the command is.
    fn end_shell(&mut self) {
        self.exit_unstopped = self.exit;
    }

    /// The command from each word on that may name a program: as it is, and without the program's
    /// directory. The text that a shell gets has been read as commands: it is no program.
    fn texts(&self) -> impl Iterator<Item = String> {
        let is_text = |start: usize| is_text(&self.words, &self.starts, start);
        self.starts.iter().filter(move |start| !is_text(**start)).flat_map(|start| {
            let end = self.words.len().min(start + WORDS_MAX);
            let whole = self.words[*start..end].join(" ");
            let (first, rest) = whole.split_at(self.words[*start].len());
            let bare = format!("{}{rest}", program_name(first));
            [Some(bare).filter(|bare| *bare != whole), Some(whole)].into_iter().flatten()
        })
    }

    /// Whether it runs a script of a package only if there is one.
    fn may_be_skipped(&self) -> bool {
        self.words.iter().any(|word| word == "--if-present")
    }

    fn program(&self) -> &str {
        self.starts.first().map_or("", |start| program_name(&self.words[*start]))
    }
}

/// The name of a program, without its directory and without the ending that Windows gives it.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let endings = [".exe", ".cmd", ".bat"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{ExitShown, ShellRun, run_of};

    /// What the exit status says, and what else: `f`iltered, `c`ut, may be `s`kipped.
    fn shown(line: &str) -> String {
        let Some(run) = run_of(line, |command| command.starts_with("make")) else {
            return "-".to_owned();
        };
        let ShellRun { exit, is_filtered, is_cut, may_be_skipped, .. } = run;
        let exit = match exit {
            ExitShown::Own => "own",
            ExitShown::IfItSucceeds => "if",
            ExitShown::Nothing => "nothing",
        };
        let marks = [(is_filtered, " f"), (is_cut, " c"), (may_be_skipped, " s")];
        let marks: String = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
        format!("{exit}{marks}")
    }

    /// Lines with `make`, and what is shown of it.
    const LINES: &[(&str, &str)] = &[
        ("make", "own"),
        ("cd app && CI=1 sudo -E /usr/bin/make test", "own"),
        ("bash -lc 'make test'", "own c"),
        ("make; exit 1", "nothing c"),
        ("make || exit 1", "own c"),
        ("make && ls", "if c"),
        ("set -e; make; ls", "if c"),
        ("make; echo done", "nothing"),
        ("make | head -5", "nothing f c"),
        ("set -o pipefail; make | tail -5", "own c"),
        ("make &", "nothing"),
        ("! make", "nothing"),
        ("make || true", "nothing c"),
        ("echo $(make)", "nothing"),
        ("cat <<E | sh\nmake\nE", "nothing c"),
        ("npm exec make -- --if-present", "own s"),
        ("set -e; set +e; make; ls", "nothing c"),
        ("set -o pipefail; set +o pipefail; make | tail", "nothing c"),
        ("set -e; make && ls; ls", "nothing c"),
        ("set -e; if make; then ls; fi; ls", "nothing c"),
        ("(set -e; ls); make; ls", "nothing c"),
        ("f() { set -e; ls; }\nmake\nls", "nothing c"),
        ("make || exit 1; ls", "if c"),
        ("make || { echo no; exit 1; }", "own c"),
        ("make || { echo no; exit $?; }", "nothing c"),
        ("make || { ls || exit 1; }", "nothing c"),
        ("make || exit", "own c"),
        ("make || exit $CODE", "nothing c"),
        ("exit 0; make", "nothing c"),
        ("make; exit $?", "own c"),
        ("if (Test-Path x) { del x }; make", "own c"),
        ("! { ls; make; }", "nothing c"),
        ("if ls; then exit; fi; make", "nothing c"),
        ("A=${1:-$(ls | awk '{print $1}')}\nmake", "own f c"),
        ("echo ${A:-$(make)} \"${B:-don't}\"", "nothing"),
        ("bash -c 'make>log'", "own c"),
        ("bash -c -- 'ls; make'", "own c"),
        ("cat <<E\n$(make)\nE", "nothing"),
        ("cat <<'E'\n$(make)\nE", "-"),
        ("echo 'make'", "-"),
        ("git commit -m 'a; make'", "-"),
        ("ls # make", "-"),
        ("cat <<E\nmake\nE", "-"),
        ("make || return 1; ls", "nothing c"),
        ("make || if false; then ls; fi", "nothing c"),
        ("if a; then\nif b; then\nls\nfi\nfi\nmake", "own c"),
        ("ls || for i in a; do ls; done | make", "nothing c"),
        ("exit 0 & make", "own c"),
        ("exec ls; make", "nothing c"),
        ("exec > log; make", "own c"),
        ("trap 'exit 0' EXIT; make", "nothing c"),
        ("set -e; eval 'set +e'; make; ls", "nothing c"),
        ("set -e; shopt -uo errexit; make; ls", "nothing c"),
        ("make; exit $LASTEXITCODE", "own c"),
        ("powershell -ep bypass -c 'make; ls'", "nothing c"),
        ("pwsh -exec bypass -command make", "own"),
        ("npx cross-env A='x; make' ls", "-"),
        ("x=(make)", "-"),
        ("$x = (make)", "nothing c"),
        ("[[ $x =~ (make) ]]", "-"),
        ("cat <<E &&\nmake\nE\nls", "-"),
        ("cat <<E |\nmake\nE\nbash", "nothing c"),
        ("bash -euo pipefail <<E\nmake\nE", "nothing c"),
        ("bash -ec 'make; ls'", "if c"),
        ("make && [[ x =~ ((a)b) ]] || true", "nothing c"),
        ("x=(\n a # don't\n)\nmake", "own"),
        ("x=(<(make))", "nothing"),
        ("$x += (make)", "nothing c"),
        ("case $1 in a) make; exit $?;; *) ls;; esac", "nothing c"),
        ("make; > log", "nothing"),
        ("make\n# why\nexit $?", "own c"),
        ("make | while read x; do ls; done | while read x; do ls; done", "nothing c"),
        ("[[ a =~ ^(#|$) ]]\nmake", "own c"),
        ("bash <<A |\nls\nA\nbash <<B\nmake\nB", "nothing c"),
        ("cat <<E |\nmake\nE\nsed s/x/y/ |\nbash", "nothing f c"),
        ("trap 'rm x; exit' ERR; make", "nothing c"),
        ("f() { rm x; exit 0; }\ntrap f EXIT\nmake", "nothing c"),
        ("f() { local a=$?; rm x; exit $a; }\ntrap f EXIT\nmake", "own c"),
        ("f() { exit 0; }; f; make", "nothing c"),
        ("f() { exit 1; }; make || f", "nothing c"),
        ("f() { return 0; }; f; make", "own c"),
        ("make() { ls; }; make", "nothing c"),
        ("set -e; { ls && make; }; ls", "nothing c"),
        ("{ ls && make; }", "own c"),
        ("[[ $b =~ ^(.*)#(.*)$ ]] || make", "nothing c"),
        ("if [[ ( -f a && # it's\n -r a ) ]]; then make; fi", "nothing c"),
        ("! for i in 1; do ls; done | make", "nothing c"),
        ("set -o pipefail; make | while ls; do ! ls; done", "own c"),
        ("trap 'a=$?; echo \"b=$a\"; exit ${a}' EXIT; make", "own c"),
        ("time -p ! make", "nothing"),
        ("time eval make '||' true", "nothing c"),
        ("trap 'ls; a=$?; exit $a' EXIT; make", "nothing c"),
        ("trap 'exit \"$?\"' EXIT; make", "own c"),
        ("! ls | make", "nothing c"),
        ("set -e && ls & make; ls", "nothing c"),
        ("(( x = 1 << 2 ))\nmake", "own c"),
        ("x=$((1 << 2))\nmake", "own c"),
        ("((make) && cat <<E\n)\nE\n) || ls", "nothing c"),
        ("x=$((cat <<E\nit's\nE\n) | wc -l)\nmake", "own f c"),
        ("for ((i = 0; i < 1 << 2; i++)); do ls; done\nmake", "own c"),
        ("((make))", "nothing"),
        ("time ! make", "nothing"),
        ("eval make '||' true", "nothing c"),
        ("make || # why\nexit 1", "own c"),
        ("exec {log}> log; make", "own c"),
        ("trap 'rm x; exit' EXIT; make", "own c"),
        ("trap 'a=$?; rm x; exit $a' EXIT; make", "own c"),
        ("trap 'rm x; exit $?' EXIT; make", "nothing c"),
        ("trap 'exit 0' EXIT INT; make", "nothing c"),
        ("command exit 0; make", "nothing c"),
        ("set -e; command set +e; make; ls", "nothing c"),
        ("function f\n{\nmake\n}", "nothing"),
        ("set -o pipefail; make | while read x; do ls; done", "own c"),
        ("make | while read x; do ls; done", "nothing c"),
        ("if (Test-Path x)\n{\n make || exit 1\n}", "nothing c"),
        ("if ($x) {\n make || exit 1\n}", "nothing c"),
        ("if ($x) {\n exit 0\n}\nmake", "nothing c"),
        ("if ($x) {\n exit 1\n} else {\n ls\n}\nmake", "own c"),
        ("make; if ($LASTEXITCODE -ne 0) {\n exit 1\n}", "nothing c"),
        ("& {\n if ($x) {\n ls\n }\n make\n}", "own c"),
        ("grep -c '{'\nmake", "own f c"),
        ("if ($x) { # c\n make || exit 1\n}", "nothing c"),
        ("if ($x) { ls\n make || exit 1\n}", "nothing c"),
        ("if ($x)\n{ ls\n make || exit 1\n}", "nothing c"),
        ("if ($x) {\n ls\n} else { ls\n make || exit 1\n}", "nothing c"),
        ("if ($x) { ls; make || exit 1; ls }", "nothing c"),
        ("if ($x) {\n $h = @{ a = 1\n }\n make || exit 1\n}", "nothing c"),
        ("if ($x) {\n ls\n} else\n# c\n{\n make || exit 1\n}", "nothing c"),
        ("ls | ForEach-Object -Process `\r\n{\n make || exit 1\n}", "nothing c"),
        ("set -e; f() { for i in a; do { ls; }; make; done; }", "nothing c"),
        ("ls | while { ls; }; do make; done", "nothing c"),
        ("if { ls; } then (make); fi", "nothing c"),
        ("if false; then (make) fi", "nothing c"),
        ("while ls; do { make; } done", "nothing c"),
        ("if ls; then { ls; } else { make; } fi", "nothing c"),
        ("if ls; then { exit 0; } fi; make", "nothing c"),
        ("if (ls) then ls; fi; make", "own c"),
        ("command -v make", "-"),
        ("sudo command -pV make || exit 1", "-"),
        ("command -p make", "own"),
        ("docker compose run -d app make", "nothing"),
        ("docker run -it app make -d", "own"),
        ("docker exec --detach app make", "nothing"),
        ("docker run --detach-keys a app make", "own"),
        ("sudo -nb make", "nothing"),
        ("docker exec -unode app make", "own"),
        ("docker run -v/data:/data -e A=d app make", "own"),
        ("sudo -ubob make", "own"),
        ("sshpass -p x make", "own"),
        ("sudo \"/opt/my tools/make\" test", "own"),
        ("docker run -d=false app make", "own"),
        ("docker run --detach=1 app make", "nothing"),
        ("docker run -deCI=0 app make", "nothing"),
        ("ssh -4vf a make", "nothing"),
        ("ssh -oStrictHostKeyChecking=off a make", "own"),
        ("ssh -f a 'make'", "nothing"),
        ("setsid -f make", "nothing"),
        ("ls | xargs -r make", "nothing c"),
        ("for i in; { make; }", "nothing c"),
        ("for i in;\n# c\n{ make; }", "nothing c"),
        ("time for i in; { make; }", "nothing c"),
        ("if ($x) { $a = (ls)\n make || exit 1\n}", "nothing c"),
        ("if ($x) { if ($y) { ls } else { ls }\n make || exit 1\n}", "nothing c"),
        ("if ($x) {\n ls\n} elseif ($b) {\n ls\n}\nmake", "own c"),
        ("do {\n ls\n} while ($x)\nmake", "own c"),
        ("if ($x) {\"hi\"\n make || exit 1\n}", "nothing c"),
        ("$x = @{a = \"b\"}; make", "own c"),
        ("ls | ForEach-Object { \"$_\"}\nmake", "own c"),
        ("trap ls EXIT\n{ make; }", "own c"),
        ("tr -d { < f; make", "own c"),
        ("ls # see {\nmake && ls", "if c"),
        ("find . -exec ls {} +\nmake", "own c"),
        ("if (Test-Path x) { Write-Host done }; make", "own c"),
    ];

    #[test]
    fn the_exit_status_is_of_the_right_command() {
        for (line, expected) in LINES {
            assert_eq!(shown(line), *expected, "{line}");
        }
    }
}
