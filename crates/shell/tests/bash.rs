//! The commands of a line, and what its exit status shows of them, are those of Bash.
#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use ndjson_check_shell::{ExitShown, run_of};

/// Lines for each run of the test.
const LINES: u64 = 400;

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % count
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// That of the test, or `SEED`.
fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// Writes a line with one command `make`.
struct Writer {
    random: Random,
    has_make: bool,
}

impl Writer {
    fn list(&mut self, depth: usize) -> String {
        let mut list = self.pipeline(depth);
        for _ in 0..self.random.below(4) {
            let next = self.random.one(&["; ", "; ", " && ", " || ", "\n", " & "]);
            list += next;
            list += &self.pipeline(depth);
        }
        list
    }

    fn pipeline(&mut self, depth: usize) -> String {
        match self.random.below(14) {
            2 => format!("# why\n{}", self.command(depth)),
            3 => "> /dev/null".to_owned(),
            0 => format!("{} | {}", self.command(depth), self.command(depth)),
            1 => format!("! {}", self.command(depth)),
            _ => self.command(depth),
        }
    }

    fn command(&mut self, depth: usize) -> String {
        let kind = if depth == 0 { self.random.below(5) } else { self.random.below(26) };
        match kind {
            0 | 1 if !self.has_make => {
                self.has_make = true;
                "make".to_owned()
            }
            0..=2 => self.random.one(&["ls", "ls", "true", "echo x"]).to_owned(),
            3 => {
                let options =
                    ["set -e", "set +e", "set -eo pipefail", "set -o pipefail", "set +o pipefail"];
                self.random.one(&options).to_owned()
            }
            4 => self
                .random
                .one(&[
                    "exit 1", "exit", "exit $?", "exit 0", "false", "lose", "return 1", "exec ls",
                ])
                .to_owned(),
            5 => format!("({})", self.list(depth - 1)),
            6 => format!("{{ {}; }}", self.ended(depth - 1)),
            7 => {
                let end = self.random.one(&["; ", "\n"]);
                let (condition, list) = (self.condition(), self.ended(depth - 1));
                format!("if {condition}{end}then{}{list}{end}fi", &end[end.len() - 1..])
            }
            8 => format!("while {}; do {}; break; done", self.condition(), self.ended(depth - 1)),
            9 => format!("echo \"$( {})\"", self.list(depth - 1)),
            10 => format!("f() {{ {}; }}", self.ended(depth - 1)),
            11 => format!("bash -c '{}'", self.list(0)),
            12 => format!("bash -ec '{}'", self.list(0)),
            13 => format!("for i in 1 2; do {}; done", self.ended(depth - 1)),
            14 => format!("case a in b) ls;; a) {};; esac", self.ended(depth - 1)),
            15 => format!("echo x | while read x; do {}; done", self.ended(depth - 1)),
            16 => format!("eval '{}'", self.list(0)),
            17 => format!("time {{ {}; }}", self.ended(depth - 1)),
            18 => format!("({}) > /dev/null 2>&1", self.list(depth - 1)),
            19 => {
                let actions = ["exit 0", "ls", "exit", "ls; exit $?", "x=$?; ls; exit $x"];
                format!("trap '{}' EXIT", self.random.one(&actions))
            }
            23 => format!("f{depth}() {{ {}; }}; f{depth}", self.ended(depth - 1)),
            24 => {
                let bodies = ["ls; exit 0", "ls; exit", "x=$?; ls; exit $x", "return 0"];
                let (name, body) = (self.random.below(10_000), self.random.one(&bodies));
                format!("g{name}() {{ {body}; }}; trap g{name} EXIT")
            }
            20 => format!("[[ $( {}) =~ (a|b) ]]", self.list(depth - 1)),
            21 => format!("x=$( {})", self.list(depth - 1)),
            22 => format!("until {}; do {}; break; done", self.condition(), self.ended(depth - 1)),
            _ => format!(
                "echo ${{x:-{}}}",
                self.random.one(&["a", "$(ls)", "'}'", "\"}\"", "${y:-}"])
            ),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(5) {
            0 if !self.has_make => {
                self.has_make = true;
                "make".to_owned()
            }
            1 => "false".to_owned(),
            2 => "! lose && ls".to_owned(),
            3 => "lose; ls".to_owned(),
            _ => "ls".to_owned(),
        }
    }

    /// A list that `;` may follow.
    fn ended(&mut self, depth: usize) -> String {
        let list = self.list(depth);
        if list.ends_with('&') { format!("{list} :") } else { list }
    }
}

fn line(seed: u64) -> String {
    let mut writer = Writer { random: Random(seed), has_make: false };
    let line = writer.list(2);
    let line = if writer.has_make { line } else { format!("{line}\nmake && ls") };
    let start = writer.random.one(&["", "", "set -e\n", "set -euo pipefail; "]);
    format!("{start}{line}")
}

/// What Bash prints for a script.
fn printed_by_bash(script: &str) -> Vec<String> {
    let output = Command::new("bash").args(["-c", script]).stderr(Stdio::null()).output();
    let output = output.expect("there is Bash");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', r"'\''"))
}

/// Whether Bash exits with 0 for each line although `make` fails.
fn hides_a_failure(lines: &[String]) -> Vec<bool> {
    let mut script = String::from(
        "make() { return 1; }; ls() { :; }; lose() { return 3; }; export -f make ls lose\n",
    );
    for line in lines {
        let _ = writeln!(script, "bash -c {} > /dev/null 2>&1; echo $?", quoted(line));
    }
    printed_by_bash(&script).iter().map(|status| status == "0").collect()
}

#[test]
fn a_failure_that_the_exit_status_shows_is_one_in_bash() {
    let first = seed() * LINES;
    let lines: Vec<String> = (first..first + LINES).map(line).collect();
    let hidden = hides_a_failure(&lines);
    assert_eq!(hidden.len(), lines.len());
    let (mut own, mut if_it_succeeds) = (0, 0);
    let mut faults = String::new();
    for (line, is_hidden) in lines.iter().zip(hidden) {
        let run = run_of(line, |command| command == "make").expect(line);
        own += u32::from(run.exit == ExitShown::Own);
        if_it_succeeds += u32::from(run.exit == ExitShown::IfItSucceeds);
        if run.exit != ExitShown::Nothing && is_hidden {
            let _ = writeln!(faults, "{:?}:\n{line}\n", run.exit);
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(own > 4 && if_it_succeeds > 10, "{own} {if_it_succeeds}");
}

/// Where a command may stand in a line: `@` is the command, `'@'` one without single quotes.
const PLACES: &[&str] = &[
    "@",
    "(@)",
    "{ @; }",
    "true && @",
    "false || @",
    "! @",
    "time @",
    "true | @",
    "@ | cat",
    "@ &\nwait",
    "x=1 @",
    "echo \"$(@)\"",
    "echo \"$(case a in a) true;; esac)\"; @",
    "echo \"$(case a in (a) true;; esac)\" && @",
    "x=\"$( { case a in a) true;; esac; } )\"; @",
    "if true; then\nif true; then\ntrue\nfi\nfi\n@",
    "for i in 1;do if true;then true;fi;done;@",
    "{ for i in 1; do true; done; } > /dev/null; @",
    "time (true && @)",
    "time { @; }",
    "cat <<E &&\nit's\nE\n@",
    "cat <<E |\nit's\nE\ncat; @",
    "x=()\n{ @; }",
    "x=(a \"b c\" $(@))",
    "[[ a =~ (a|b) ]] && @",
    "echo \"a `@`\"",
    "cat <(@)",
    "x=$(@)",
    "echo ${x:-$(@)}",
    "echo \"${x:-\"$(@)\"}\"",
    "[[ -z $(@) ]]",
    "test -n \"$(@)\"",
    "declare x=$(@)",
    "echo {a,$(@)}",
    "echo $(( 1 + $(@) ))",
    "(( x = 1 + $(@ > /dev/null; echo 1) ))",
    "exec 3< <(@)",
    "set -- $(@)",
    "if @; then true; fi",
    "if true; then @; fi",
    "if false; then true; else @; fi",
    "while @; do break; done",
    "until @; do break; done",
    "for i in 1; do @; done",
    "for i in $(@); do true; done",
    "for ((i = 0; i < 1; i++)); do @; done",
    "case a in a) @;; esac",
    "case a in b | (a) @;; esac",
    "case a in (a) @;; esac",
    "case $(@) in *) true;; esac",
    "f() { @; }; f",
    "function f { @; }; f",
    "f() ( @ ); f",
    "cat <<E\n$(@)\nE",
    "cat <<-E | bash\n\t@\nE",
    "bash <<E\n@\nE",
    "bash -c '@'",
    "bash -c -- '@'",
    "bash -ec '@'",
    "eval '@'",
    "bash <<< '@'",
    "echo '@' | bash",
    "printf '%s\\n' '@' | bash -s",
    "trap '@' EXIT",
    "timeout 5 bash -c '@'",
    "env A=1 bash -c '@'",
    "xargs -I% bash -c '@' <<< x",
    "# it's a comment\n@",
    "echo 'it' # isn't\n@",
    "echo it\\'s; @",
    "echo $'it\\'s'; @",
    "echo \\\n; @",
    "x='a\nb'; @",
    "echo \"a\nb\" && @",
    "cat <<E\nit's\nE\n@",
    "cat <<'E' > /dev/null\n$(x\nE\n@",
    "echo ${x#'}'}; @",
    "echo \"${x%\"}\"}\"; @",
    "echo ${#x}; @",
    "echo $#; @",
    "x=(a b); @",
    "echo a#b; @",
    "> /dev/null @",
    "2>&1 @",
    "cd / && { @; } > /dev/null 2>&1",
];

fn place(random: &mut Random, command: &str) -> String {
    loop {
        let place = PLACES[random.below(PLACES.len())];
        let has_end = |text: &str| text.contains("E\n") || text.ends_with('E');
        let breaks_quotes = place.contains("'@'") && command.contains('\'');
        let breaks_end = has_end(place) && (has_end(command) || command.contains('\n'));
        let breaks_backquotes = place.contains("`@`") && command.contains(['`', '"', '\\']);
        if !(breaks_quotes || breaks_end || breaks_backquotes) {
            return place.replace('@', command);
        }
    }
}

#[test]
fn commands_that_bash_runs_are_found() {
    let mut random = Random(seed());
    let mut lines: Vec<String> = PLACES.iter().map(|place| place.replace('@', "make")).collect();
    for _ in 0..600 {
        let once = place(&mut random, "make");
        lines.push(place(&mut random, &once));
    }
    let mut script = String::from("make() { echo ran >&9; }; export -f make\n");
    for line in &lines {
        let line = quoted(line);
        let _ = writeln!(script, "ran=$(bash -c {line} 9>&1 > /dev/null 2>&1); echo ${{ran:+ran}}");
    }
    let ran = printed_by_bash(&script);
    assert_eq!(ran.len(), lines.len());
    let ran = lines.iter().zip(ran).filter(|(_, ran)| ran == "ran").map(|(line, _)| line);
    let ran: Vec<&String> = ran.collect();
    let is_found = |line: &str| run_of(line, |command| command.starts_with("make")).is_some();
    let missed: Vec<&&String> = ran.iter().filter(|line| !is_found(line)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(ran.len() > 500, "{}", ran.len());
}
