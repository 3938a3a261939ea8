//! What all tests share: the fixtures, and ways to check a stream.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use ndjson_check::{
    AgentFormat, Checker, CheckerBuilder, Diagnostic, Limits, Rule, Severity, StreamSummary,
};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_ndjson-check");

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Test data next to the repository. Where it is absent, CI fails, and any other run says so on the
/// real standard error.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found = root().join("../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(std::env::var_os("CI").is_none(), "../shared/{path} is absent");
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
    /// All flags: the profile of the folder, then those of `<case>.args`.
    pub(crate) flags: Vec<String>,
}

impl Case {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(root().join(&self.path)).unwrap()
    }
}

pub(crate) fn cases() -> Vec<Case> {
    let paths = files(&root().join("fixtures"), "ndjson").into_iter();
    let cases: Vec<Case> = paths
        .map(|path| {
            let path = path.strip_prefix(root()).unwrap().to_owned();
            let profile = profile(&path).into_iter();
            let mut flags: Vec<String> =
                profile.flat_map(|name| ["--profile".to_owned(), name]).collect();
            flags.extend(own_flags(&path));
            Case { path, flags }
        })
        .collect();
    assert!(cases.len() > 100, "the fixtures are gone");
    cases
}

/// The profile that a case's folder names. Cursor's streams are checked without one.
fn profile(path: &Path) -> Option<String> {
    let names: Vec<&str> = path.iter().map(|it| it.to_str().unwrap()).collect();
    match names[1..] {
        ["agents", "cursor", ..] | ["rules", ..] => None,
        ["agents", agent, ..] => Some(agent.to_owned()),
        ["profiles", name, ..] => Some(format!("fixtures/profiles/{name}/profile.json")),
        _ => panic!("no folder for fixtures: {}", path.display()),
    }
}

/// The flags of `<case>.args`, if there is one.
pub(crate) fn own_flags(path: &Path) -> Vec<String> {
    let flags = fs::read_to_string(root().join(path).with_extension("args")).unwrap_or_default();
    flags.split_whitespace().map(str::to_owned).collect()
}

/// The checker that these flags of the command line describe; a test compares it with the program.
pub(crate) fn checker<'a>(flags: impl IntoIterator<Item = &'a str>) -> Checker {
    // A clone shares the schemas, which take long to compile, and has learned nothing.
    static BUILT: Mutex<BTreeMap<Vec<String>, Checker>> = Mutex::new(BTreeMap::new());
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    let mut built = BUILT.lock().unwrap();
    let new = || builder(flags.iter().map(String::as_str)).build().unwrap();
    built.entry(flags.clone()).or_insert_with(new).clone()
}

/// The same, before it is built. Knows the flags that fixtures use, and fails on any other.
pub(crate) fn builder<'a>(flags: impl IntoIterator<Item = &'a str>) -> CheckerBuilder {
    let flags: Vec<&str> = flags.into_iter().collect();
    let mut builder = Checker::builder().strict(flags.contains(&"--strict"));
    let mut limits = Limits::default();
    let mut flags = flags.iter().copied();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().unwrap();
        builder = match flag {
            "--strict" => builder,
            "--profile" => builder.profile(value()),
            "--schema" => builder.schema_file(&root().join(value())).unwrap(),
            "--deny" => builder.severity(rule(value()), Some(Severity::Error)),
            "--warn" => builder.severity(rule(value()), Some(Severity::Warning)),
            "--allow" => builder.severity(rule(value()), None),
            "--max-line-bytes" => builder.max_line_bytes(value().parse().unwrap()),
            "--input-format" => match value() {
                "auto" => builder,
                "json" => builder.format(AgentFormat::Json).array(false),
                "stream-json" => builder.format(AgentFormat::StreamJson).array(false),
                "array" => builder.array(true),
                other => panic!("{other}"),
            },
            "--max-cost" => {
                limits.cost = Some(value().parse().unwrap());
                builder.limits(limits)
            }
            "--max-calls" => {
                limits.calls = Some(value().parse().unwrap());
                builder.limits(limits)
            }
            "--engine" => builder.plain(value() == "reference"),
            // Not an option of the checker: a fact about one run.
            "--exit-status" => {
                value();
                builder
            }
            other => panic!("no fixture uses {other}"),
        };
    }
    builder
}

fn rule(name: &str) -> Rule {
    Rule::named(name).unwrap()
}

/// Checks a stream: the summary, and the diagnostics.
pub(crate) fn check(checker: &mut Checker, stream: impl Read) -> (StreamSummary, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let summary = checker.check("-", stream, &mut found).unwrap();
    (summary, found)
}

/// The summary of a stream, and the rules it raises, each once, in the order of the catalogue.
pub(crate) fn judge(stream: impl Read, checker: &mut Checker) -> (StreamSummary, Vec<Rule>) {
    let (summary, _) = check(checker, stream);
    let rules = summary.rule_counts.keys().copied().collect();
    (summary, rules)
}

/// The program, at the repository's root, with nothing in the environment that changes it.
pub(crate) fn program() -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(root());
    for name in [
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR_FORCE",
        "CLICOLOR",
        "TERM",
        "GITHUB_ACTIONS",
        "GITHUB_OUTPUT",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_WORKSPACE",
        "TF_BUILD",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs the program with these flags on this input.
pub(crate) fn run_on(flags: &[&str], stdin: &[u8]) -> Output {
    fed(program().args(flags), stdin)
}

/// Runs a command with these bytes on standard input.
pub(crate) fn fed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command
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
