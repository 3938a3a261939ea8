//! Words in front of a program: variables, and programs that run another.

use super::{INNER_SPACE, program_name};

/// Words of the grammar of shells, after which a command comes.
const KEYWORDS: &[&str] = &[
    "!", "call", "catch", "do", "elif", "else", "elseif", "finally", "foreach", "if", "then",
    "try", "until", "while", "{", "}",
];

/// How many words are searched for the program: no real command has more in front of it.
pub(super) const WORDS_MAX: usize = 40;

/// How many words behind a program are searched for its subcommand.
const SUBCOMMAND_WORDS_MAX: usize = 10;

/// Letters behind one dash, such as `-euxo`; what is longer is the name of one option.
pub(super) const LETTERS_MAX: usize = 6;

/// Letters behind one dash, if the last of them has a value.
const LETTERS_WITH_VALUE_MAX: usize = 3;

/// Programs that run what their arguments name: the program, the words one of which must follow
/// it, and how many names come before the command, such as that of a container.
const WRAPPERS: &[(&[&str], &[&str], usize)] = &[
    (
        &[
            "%",
            "foreach-object",
            "invoke-expression",
            "measure-command",
            "bunx",
            "busybox",
            "caffeinate",
            "chronic",
            "command",
            "corepack",
            "coproc",
            "cross-env",
            "dbus-run-session",
            "doas",
            "dotenv",
            "env",
            "eval",
            "exec",
            "gtimeout",
            "iex",
            "ionice",
            "nice",
            "nohup",
            "npx",
            "parallel",
            "pnpx",
            "proxychains",
            "proxychains4",
            "runuser",
            "setsid",
            "sshpass",
            "stdbuf",
            "strace",
            "ssh-agent",
            "sudo",
            "systemd-run",
            "time",
            "timeout",
            "torsocks",
            "trap",
            "trickle",
            "unbuffer",
            "unshare",
            "uvx",
            "watch",
            "winpty",
            "wsl",
            "xargs",
            "xvfb-run",
            "c8",
            "nyc",
        ],
        &[],
        0,
    ),
    (&["npm", "yarn", "pnpm"], &["exec", "dlx"], 0),
    (&["bun"], &["x"], 0),
    (&["uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "pipx"], &["run"], 0),
    (&["conda", "mamba", "micromamba", "coverage", "devbox", "doppler", "op"], &["run"], 0),
    (&["dotenvx", "infisical", "volta"], &["run"], 0),
    (&["bundle", "asdf", "ddev", "fnm", "nvm"], &["exec"], 0),
    (&["mise"], &["exec", "x"], 0),
    (&["nix"], &["develop", "shell"], 0),
    (&["aws-vault", "direnv"], &["exec"], 1),
    (&["docker", "podman", "docker-compose", "kubectl"], &["exec", "run"], 1),
    (&["rustup"], &["run"], 1),
    (&["chroot", "flock", "function", "gosu", "ssh", "su-exec"], &[], 1),
];

/// Options of wrappers behind which a user, a variable or a package is named: `sudo -u claude`.
pub const NAMED_BY: [&str; 13] = [
    "-C",
    "-g",
    "-h",
    "-o",
    "-p",
    "-u",
    "--container",
    "--from",
    "--group",
    "--name",
    "--package",
    "--user",
    "--with",
];

/// Shells, and what comes before the text that they run.
const SHELLS: &[&str] =
    &["ash", "bash", "dash", "fish", "ksh", "powershell", "pwsh", "runuser", "sh", "su", "zsh"];

/// Programs that read the text behind them as a line for a shell.
const TEXT_RUNNERS: &[&str] = &[
    "devbox",
    "eval",
    "flock",
    "git",
    "iex",
    "invoke-expression",
    "nix",
    "nix-shell",
    "npm",
    "npx",
    "parallel",
    "script",
    "ssh",
    "trap",
    "watch",
];

/// What may come before a command that the shell itself runs.
const BUILTIN_PREFIXES: &[&str] = &["builtin", "command", "eval", "time"];

/// Programs, words one of which must be in front, and the words behind which a command comes.
const BEHIND_OPTIONS: &[(&str, &[&str], &[&str])] = &[
    ("find", &[], &["-exec", "-execdir", "-ok", "-okdir"]),
    ("git", &["submodule"], &["foreach"]),
    ("git", &["bisect"], &["run"]),
    ("git", &["rebase"], &["-x", "--exec"]),
    ("nix", &["develop", "shell"], &["-c", "--command"]),
    ("nix-shell", &[], &["--run", "--command"]),
    ("script", &[], &["--command"]),
];

pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let is_start = |first: char| first.is_ascii_alphabetic() || first == '_';
    name.starts_with(is_start) && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// Whether a word without its quotes may be a list of commands.
pub(super) fn is_list(word: &str) -> bool {
    word.contains(|it: char| it.is_whitespace() || "&();<>`|".contains(it))
}

/// Whether the next word may be the value of this option: `-u`, also after other letters.
fn may_have_value(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => !long.is_empty() && !long.contains('='),
        None => word.strip_prefix('-').is_some_and(|letters| {
            letters.len() <= LETTERS_WITH_VALUE_MAX
                && letters.ends_with(|it| "CFILPacdefgiklnopsuvw".contains(it))
        }),
    }
}

/// A number, a version such as `nvm` takes, or a time such as `timeout` takes.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('v').unwrap_or(word);
    word.starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(|it| it.is_ascii_digit() || ".smhd".contains(it))
}

pub(super) fn is_keyword(word: &str) -> bool {
    has(KEYWORDS, word)
}

/// What is behind the keywords with which a command begins.
pub(super) fn without_keywords(words: &[String]) -> &[String] {
    let first = words.iter().take(WORDS_MAX);
    let keywords = first.take_while(|word| is_keyword(word)).count();
    &words[keywords..]
}

/// The command that the shell itself runs, without keywords, variables, and `builtin` and such.
pub(super) fn without_prefix(words: &[String]) -> &[String] {
    let is_before = |word: &&String| {
        is_keyword(word) || is_assignment(word) || BUILTIN_PREFIXES.contains(&word.as_str())
    };
    let before = words.iter().take(WORDS_MAX).take_while(is_before).count();
    &words[before..]
}

/// Windows ignores the case of names.
pub(super) fn has(names: &[&str], name: &str) -> bool {
    names.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// Whether one of the programs in front of a word runs a text.
pub(super) fn runs_text(before: &[String], starts: &[usize]) -> bool {
    let mut programs = starts.iter().filter_map(|start| before.get(*start));
    programs.any(|program| has(TEXT_RUNNERS, program_name(program)))
}

/// The words at which a program may be named.
pub(super) fn starts(words: &[String]) -> Vec<usize> {
    let words = &words[..words.len().min(WORDS_MAX)];
    let is_before = |word: &String| is_keyword(word) || is_assignment(word);
    let Some(first) = words.iter().position(|word| !is_before(word)) else { return Vec::new() };
    // PowerShell: `$out = git status`.
    let is_set = words[first].starts_with('$') && words.get(first + 1).is_some_and(|it| it == "=");
    let first = if is_set && words.len() > first + 2 { first + 2 } else { first };
    let mut walk = Walk { words, starts: vec![first], seen: Vec::new() };
    // Each block has a command: `if ($a) { ls } else { make }`.
    let blocks = (first..words.len()).filter(|at| words[*at] == "{").map(|at| at + 1);
    walk.starts.extend(blocks.filter(|at| words.get(*at).is_some_and(|word| !is_keyword(word))));
    let mut next = 0;
    while let Some(start) = walk.starts.get(next).copied() {
        next += 1;
        if let Some((behind, names)) = walk.wrapper(start) {
            walk.walk(behind, names);
        }
    }
    walk.starts
}

struct Walk<'w> {
    words: &'w [String],
    starts: Vec<usize>,
    seen: Vec<(usize, usize)>,
}

impl Walk<'_> {
    /// If a program runs another: the first word behind what belongs to it, and how many names
    /// come before the other.
    fn wrapper(&self, start: usize) -> Option<(usize, usize)> {
        let program = &*program_name(&self.words[start]).to_ascii_lowercase();
        let behind = start + 1;
        if is_python(program) {
            // Options come before it, two of them with a value.
            let is_option = |at: usize| self.words[at].starts_with('-') && self.words[at] != "-c";
            let is_value = |at: usize| at > behind && ["-W", "-X"].contains(&&*self.words[at - 1]);
            let is_before = |at: &usize| is_option(*at) || is_value(*at);
            let mut options = (behind..self.words.len()).take_while(is_before);
            let module = options.position(|at| self.words[at] == "-m")?;
            return Some((behind + module + 1, 0));
        }
        if let Some(command) = command_option(program, &self.words[behind..]) {
            return Some((behind + command + 1, 0));
        }
        // `command -v make` only looks for it.
        let mut options = self.words[behind..].iter().take_while(|it| it.starts_with('-'));
        if program == "command" && options.any(|it| it.contains(['v', 'V'])) {
            return None;
        }
        let words = &self.words[behind..];
        let behind_option = BEHIND_OPTIONS.iter().filter(|(it, ..)| *it == program).find_map(
            |(_, before, options)| {
                let has_one = before.is_empty()
                    || words
                        .iter()
                        .take(SUBCOMMAND_WORDS_MAX)
                        .any(|word| before.contains(&word.as_str()));
                let option = words.iter().position(|word| options.contains(&word.as_str()));
                option.filter(|_| has_one)
            },
        );
        if let Some(option) = behind_option.or_else(|| call_option(program, words)) {
            return Some((behind + option + 1, 0));
        }
        WRAPPERS.iter().filter(|(programs, ..)| programs.contains(&program)).find_map(
            |(_, commands, names)| {
                if commands.is_empty() {
                    return Some((behind, *names));
                }
                let is_command = |word: &String| commands.contains(&word.as_str());
                // Options may come before it, and `compose` behind `docker`.
                let command =
                    self.words[behind..].iter().take(SUBCOMMAND_WORDS_MAX).position(is_command)?;
                Some((behind + command + 1, *names))
            },
        )
    }

    /// Whether a word that begins with a variable may be a text to run: `eval 'A=1 make'`, but not
    /// `cross-env A='1 2' make`.
    fn may_be_text(&self, at: usize) -> bool {
        let is_run = has(TEXT_RUNNERS, program_name(&self.words[at - 1]));
        (is_run || at + 1 == self.words.len()) && !self.starts.contains(&at)
    }

    /// Finds the program from this word on, behind options and names.
    fn walk(&mut self, mut at: usize, mut names: usize) {
        if self.seen.contains(&(at, names)) {
            return;
        }
        self.seen.push((at, names));
        while let Some(word) = self.words.get(at) {
            let is_option = word.starts_with(['-', '+']);
            if may_have_value(word) {
                self.walk(at + 2, names);
            }
            if is_assignment(word) && is_list(word) && self.may_be_text(at) {
                self.starts.push(at);
            }
            if !is_option && !is_assignment(word) && !is_number(word) && !is_keyword(word) {
                if names == 0 {
                    if !self.starts.contains(&at) {
                        self.starts.push(at);
                    }
                    return;
                }
                names -= 1;
            }
            at += 1;
        }
    }
}

/// Where `npx` or `npm exec` gets a line for a shell: among its own options, which come first.
fn call_option(program: &str, words: &[String]) -> Option<usize> {
    let is_exec = |word: &String| word == "exec" || word == "x";
    let mut at = match program {
        "npx" => 0,
        "npm" => words.iter().position(is_exec)? + 1,
        _ => return None,
    };
    loop {
        match words.get(at)?.as_str() {
            "-c" | "--call" => return Some(at),
            "-p" | "--package" => at += 2,
            option if option.starts_with('-') && option != "--" => at += 1,
            _ => return None,
        }
    }
}

pub(super) fn is_python(program: &str) -> bool {
    let version = program.strip_prefix("python").or_else(|| program.strip_prefix("pypy"));
    version.is_some_and(|it| it.chars().all(|it| it.is_ascii_digit() || it == '.'))
        || program == "py"
}

/// Whether a program runs a line that its arguments have.
pub fn is_shell(program: &str) -> bool {
    has(SHELLS, program) || program.eq_ignore_ascii_case("cmd")
}

pub(super) fn is_powershell(program: &str) -> bool {
    has(&["powershell", "pwsh"], program)
}

/// The word behind which a shell, or `script`, gets the text that it runs.
pub(super) fn command_option(program: &str, words: &[String]) -> Option<usize> {
    if !is_shell(program) && program != "script" {
        return None;
    }
    words.iter().position(|word| is_command_option(program, word))
}

/// Whether a word is the text that a shell before it runs.
pub(super) fn is_text(words: &[String], starts: &[usize], at: usize) -> bool {
    let runs_it = |start: &usize| {
        let program = program_name(&words[*start]);
        *start < at && is_shell(program) && is_command_option(program, &words[at - 1])
    };
    words[at].contains(INNER_SPACE) && starts.iter().any(runs_it)
}

/// `-c`, `-lc`, `-Command` or `/c`.
pub(super) fn is_command_option(shell: &str, word: &str) -> bool {
    if is_powershell(shell) {
        let letters = word.strip_prefix(['-', '/']).unwrap_or_default().to_ascii_lowercase();
        let is_start = !letters.is_empty() && "commandwithargs".starts_with(&letters);
        return is_start || letters == "cwa";
    }
    let Some(letters) = word.strip_prefix('-') else { return word.eq_ignore_ascii_case("/c") };
    letters.ends_with('c')
        && letters.len() <= LETTERS_MAX
        && letters.chars().all(char::is_alphabetic)
}
