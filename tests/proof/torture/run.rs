//! One run of the program under a fault, and what is left of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{PROGRAM, program, root};

/// A run may take this long; the slowest one here needs half a second without a fault.
const HANGS_AFTER: Duration = Duration::from_secs(12);
/// How long a process may live on that was killed.
const DIES_WITHIN: Duration = Duration::from_secs(3);
/// In the environment of all processes of one run.
const MARK: &str = "NDJSON_CHECK_TORTURE_RUN";

/// What goes wrong.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    None,
    /// The system calls are written to a file.
    Traced,
    /// The n-th call of this name returns this error, in each thread.
    Call(&'static str, &'static str, usize),
    /// Reads and writes come in pieces.
    Pieces,
    /// The allocations are counted in a file.
    Counted,
    /// The n-th allocation fails.
    Allocation(usize),
}

/// Where the files of a scenario are.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// The library that cuts and fails.
    pub(super) shim: PathBuf,
}

/// A row of `scenarios.txt`.
pub(super) struct Scenario {
    /// As it is written there.
    pub(super) line: String,
    stdin: Option<PathBuf>,
    variables: Vec<(String, String)>,
    arguments: Vec<String>,
}

/// All that a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Left {
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) files: BTreeMap<String, String>,
    pub(super) hung: bool,
    pub(super) processes: usize,
}

impl Scenario {
    pub(super) fn new(row: &str, line: &str) -> Self {
        let mut words = line.split_whitespace().map(|word| word.replace('%', " ")).peekable();
        let mut variables = Vec::new();
        while let Some((name, value)) = words.peek().and_then(|it| it.split_once('='))
            && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
        {
            variables.push((name.to_owned(), value.to_owned()));
            words.next();
        }
        let (stdin, arguments): (Vec<_>, Vec<_>) = words.partition(|word| word.starts_with('<'));
        let stdin = stdin.first().map(|word| root().join(&word[1..]));
        Self { line: row.to_owned(), stdin, variables, arguments }
    }

    /// Whether it starts a command.
    pub(super) fn is_run(&self) -> bool {
        self.arguments.iter().any(|it| it == "--")
    }
}

impl Place {
    pub(super) fn out(&self) -> PathBuf {
        self.folder.join("out")
    }

    pub(super) fn trace(&self) -> PathBuf {
        self.folder.join("trace")
    }

    /// Runs the program.
    pub(super) fn run(&self, scenario: &Scenario, fault: Fault) -> Left {
        let _ = fs::remove_dir_all(self.out());
        fs::create_dir(self.out()).unwrap();
        let path = |name: &str| self.folder.join(name);
        let mut command = self.command(fault);
        command.args(&scenario.arguments);
        command.envs(scenario.variables.iter().map(|(name, value)| (name, value)));
        let mark = self.folder.display().to_string();
        command.env(MARK, &mark);
        command.stdin(match &scenario.stdin {
            Some(file) => Stdio::from(fs::File::open(file).unwrap()),
            None => Stdio::null(),
        });
        command.stdout(fs::File::create(path("stdout")).unwrap());
        command.stderr(fs::File::create(path("stderr")).unwrap());
        let mut child = command.spawn().unwrap();
        let begun = Instant::now();
        let mut hung = false;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > HANGS_AFTER {
                hung = true;
                child.kill().unwrap();
                for pid in marked(&mark) {
                    kill(pid);
                }
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let died = Instant::now();
        let mut alive = marked(&mark);
        while !alive.is_empty() && died.elapsed() < DIES_WITHIN {
            std::thread::sleep(Duration::from_millis(10));
            alive = marked(&mark);
        }
        for pid in &alive {
            kill(*pid);
        }
        let read = |path: &Path| text_of(&fs::read(path).unwrap());
        Left {
            // A signal is negative.
            code: status.code().or_else(|| status.signal().map(|signal| -signal)),
            stdout: read(&path("stdout")),
            stderr: read(&path("stderr")),
            files: files_in(&self.out()),
            hung,
            processes: alive.len(),
        }
    }

    /// The program under a fault.
    fn command(&self, fault: Fault) -> Command {
        let strace = |flags: &[&str]| {
            let mut strace = Command::new("strace");
            // The programs that it starts are left alone.
            strace.args(["-f", "-qq", "-b", "execve"]).args(flags).arg(PROGRAM);
            let clean = program();
            strace.current_dir(root());
            for (name, value) in clean.get_envs() {
                match value {
                    Some(value) => strace.env(name, value),
                    None => strace.env_remove(name),
                };
            }
            strace
        };
        let shimmed = |name: &str, value: &str| {
            let mut command = program();
            command.env("LD_PRELOAD", &self.shim).env(name, value);
            command
        };
        let trace = self.trace();
        let trace = trace.to_str().unwrap();
        match fault {
            Fault::None => program(),
            Fault::Traced => strace(&["-o", trace]),
            Fault::Call(name, error, at) => {
                let inject = format!("inject={name}:error={error}:when={at}");
                strace(&["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject])
            }
            Fault::Pieces => shimmed("TORTURE_SHORT", "1"),
            Fault::Counted => shimmed("TORTURE_COUNT", trace),
            Fault::Allocation(at) => shimmed("TORTURE_ALLOCATION", &at.to_string()),
        }
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// All files below a folder, with their text.
fn files_in(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let inner = files_in(&path).into_iter();
            found.extend(inner.map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.insert(name, text_of(&fs::read(&path).unwrap()));
        }
    }
    found
}

/// The processes of a run that are alive.
fn marked(mark: &str) -> Vec<i32> {
    let entry = format!("{MARK}={mark}\0");
    let mut pids = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|it| it.parse().ok()) else {
            continue;
        };
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.windows(entry.len()).any(|it| it == entry.as_bytes()) {
            pids.push(pid);
        }
    }
    pids
}

fn kill(pid: i32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
}
