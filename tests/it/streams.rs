//! What the tests share: the fixtures, and ways to check a stream.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;

use clap::Parser as _;
use ndjson_check::check::check;
use ndjson_check::cli::args::Cli;
use ndjson_check::check::contract::Contract;
use ndjson_check::rules::diagnostic::Diagnostic;
use ndjson_check::error::Error;
use ndjson_check::output::report::json::Json;
use ndjson_check::output::report::{Report, Target};
use ndjson_check::rules::{Rule, Severity};
use ndjson_check::cli;
use ndjson_check::check::summary::{RunSummary, StreamSummary};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ndjson-check");

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Test data beside the repository; says so on the real standard error if it is absent.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found = root().join("../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    // Not `eprintln!`, which the test harness keeps to itself.
    let _ = writeln!(io::stderr(), "\nNOT CHECKED: ../shared/{path} is absent");
    None
}

/// Every file below `folder` with this extension, sorted.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension() == Some(OsStr::new(extension)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// One fixture: a stream and the flags it is checked with.
pub(crate) struct Case {
    /// Relative to the repository.
    pub(crate) path: PathBuf,
    pub(crate) flags: Vec<String>,
}

impl Case {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(root().join(&self.path)).unwrap()
    }

    /// The name of the folder: a rule, or `conforming`.
    pub(crate) fn folder(&self) -> &str {
        self.path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap()
    }

    pub(crate) fn contract(&self) -> Contract {
        contract(self.flags.iter().map(String::as_str))
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let paths = files(&root().join("fixtures"), "ndjson").into_iter();
    let cases: Vec<Case> = paths
        .map(|path| {
            let flags = fs::read_to_string(path.with_extension("args")).unwrap_or_default();
            let flags = flags.split_whitespace().map(str::to_owned).collect();
            Case { path: path.strip_prefix(root()).unwrap().to_owned(), flags }
        })
        .collect();
    assert!(cases.len() > 100, "the fixtures are gone");
    cases
}

/// The contract that these flags make.
pub(crate) fn contract<'a>(flags: impl IntoIterator<Item = &'a str>) -> Contract {
    let arguments = ["ndjson-check"].into_iter().chain(flags);
    cli::contract(&Cli::try_parse_from(arguments).unwrap()).unwrap()
}

/// A report that only collects.
#[derive(Default)]
pub(crate) struct Collected(pub(crate) Vec<(Rule, Option<u64>, String)>);

impl Report for Collected {
    fn diagnostic(&mut self, _: &str, _: Severity, it: &Diagnostic) -> Result<(), Error> {
        self.0.push((it.rule, it.line, it.message.clone()));
        Ok(())
    }

    fn stream(&mut self, _: &StreamSummary) -> Result<(), Error> {
        Ok(())
    }

    fn summary(&mut self, _: &RunSummary) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// The summary of a stream, and the rules it raises, each once, in the order of the catalogue.
pub(crate) fn judge(stream: impl Read, contract: &Contract) -> (StreamSummary, Vec<Rule>) {
    let summary = check(stream, "-", contract, &mut Collected::default(), &mut ()).unwrap();
    let rules = summary.rules.keys().copied().collect();
    (summary, rules)
}

/// What was written, for whoever kept a copy.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Vec<u8>>>);

impl Memory {
    pub(crate) fn text(&self) -> String {
        text(&self.0.borrow())
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The json report of a stream, without its last line.
pub(crate) fn json_report(stream: impl Read, contract: &Contract) -> String {
    let memory = Memory::default();
    let mut report = Json::new(Target::stream("memory", memory.clone()));
    check(stream, "-", contract, &mut report, &mut ()).unwrap();
    report.flush().unwrap();
    memory.text()
}

/// The program, at the repository's root, with nothing in the environment that changes it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(root());
    for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program with these flags on this input.
pub(crate) fn run_on(flags: &[&str], stdin: &[u8]) -> Output {
    let mut child = program()
        .args(flags)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // It may end without reading, which is not what is tested here.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
