//! What the program prints for the fixtures, compared with the goldens next to them.
//!
//! ```console
//! UPDATE_GOLDENS=1 cargo test --test goldens
//! ```
//!
//! rewrites every golden. `fixtures/README.md` describes the files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod report;
#[path = "../support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{env, fs, thread};

use ndjson_check::{Converter, Form, FormStyle, Rule, Written};
use serde_json::Value;

use support::{Case, cases, checker, files, own_flags, root, run_on, shared, text};

/// What the program printed for one case.
struct Printed {
    case: Case,
    exit_code: i32,
    human: String,
    json: String,
    transcript: String,
}

/// What the program prints for each case, in the order of their paths.
fn printed() -> &'static [Printed] {
    static PRINTED: OnceLock<Vec<Printed>> = OnceLock::new();
    PRINTED.get_or_init(|| {
        let mut rest = cases();
        // Wine 8 sometimes fails to start two programs at once.
        let threads = if cfg!(windows) { 1 } else { parallelism() };
        let count = rest.len().div_ceil(threads);
        thread::scope(|scope| {
            let mut workers = Vec::new();
            while !rest.is_empty() {
                let part: Vec<Case> = rest.drain(..count.min(rest.len())).collect();
                workers.push(scope.spawn(|| part.into_iter().map(print).collect::<Vec<_>>()));
            }
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        })
    })
}

fn parallelism() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn print(case: Case) -> Printed {
    let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
    let page = run_on(&[&flags[..], &["--to", "transcript"]].concat(), &case.bytes());
    let report = run_on(&[&flags[..], &["--report", "json"]].concat(), &case.bytes());
    assert_eq!(report.status, page.status, "{}", case.path.display());
    assert_eq!(text(&report.stderr), "", "{}", case.path.display());
    Printed {
        exit_code: page.status.code().unwrap(),
        human: text(&page.stderr),
        json: text(&report.stdout),
        transcript: text(&page.stdout),
        case,
    }
}

impl Printed {
    /// The page that shows the case, without its extension, and the name of the case there.
    fn place(&self) -> (PathBuf, String) {
        let path = self.case.path.with_extension("");
        let folders = if path.starts_with("fixtures/rules") { 2 } else { 3 };
        let page: PathBuf = path.iter().take(folders).collect();
        let name = path.strip_prefix(&page).unwrap().to_str().unwrap().replace('\\', "/");
        (page, name)
    }

    /// The part of the page about this case.
    fn section(&self) -> String {
        let heading = [vec!["#".to_owned(), self.place().1], own_flags(&self.case.path)].concat();
        let mut section = format!("{}\nexit {}\n", heading.join(" "), self.exit_code);
        section += &indented(&self.human);
        if !self.transcript.is_empty() {
            section += "--- transcript\n";
            section += &indented(&self.transcript);
        }
        section
    }

    /// The lines of the json report.
    fn lines(&self) -> impl Iterator<Item = Value> {
        self.json.lines().map(|line| serde_json::from_str(line).unwrap())
    }

    /// The rules that were raised.
    fn raised(&self) -> BTreeSet<String> {
        let diagnostics = self.lines().filter(|line| line["type"] == "diagnostic");
        diagnostics.map(|line| line["rule"].as_str().unwrap().to_owned()).collect()
    }
}

/// Indented, so that no line is taken for a heading; an empty line stays empty.
fn indented(text: &str) -> String {
    assert!(text.is_empty() || text.ends_with('\n'), "an incomplete line: {text:?}");
    let indent = |line: &str| if line == "\n" { line.to_owned() } else { format!("  {line}") };
    text.split_inclusive('\n').map(indent).collect()
}

fn updating() -> bool {
    env::var_os("UPDATE_GOLDENS").is_some()
}

/// Compares goldens with what they should hold, or writes them; shows the first line that differs.
fn compare(goldens: impl IntoIterator<Item = (PathBuf, String)>) {
    let mut wrong = Vec::new();
    for (path, expected) in goldens {
        let written = fs::read_to_string(root().join(&path)).unwrap_or_default();
        if written == expected {
            continue;
        }
        if updating() {
            fs::write(root().join(&path), expected).unwrap();
            continue;
        }
        let (mut old, mut new) = (written.split('\n'), expected.split('\n'));
        let mut pairs = (1..).map(|number| (number, old.next(), new.next()));
        let (number, old, new) = pairs.find(|(_, old, new)| old != new).unwrap();
        let (old, new) = (old.unwrap_or("(the end)"), new.unwrap_or("(the end)"));
        wrong.push(format!("{}:{number}\n  - {old}\n  + {new}", path.display()));
    }
    assert!(
        wrong.is_empty(),
        "goldens (-) differ from what is printed now (+):\n{}\n\
         To accept: UPDATE_GOLDENS=1 cargo test --test goldens",
        wrong.join("\n")
    );
}

/// Goal: a change of any human report or transcript is seen and reviewed.
#[test]
fn pages_are_as_written() {
    let mut pages: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for it in printed() {
        let (mut page, _) = it.place();
        page.as_mut_os_string().push(".golden");
        pages.entry(page).or_default().push(it.section());
    }
    compare(pages.into_iter().map(|(page, sections)| (page, sections.join("\n"))));
}

/// The cases that have a golden in this folder, with the path of the golden.
fn chosen(folder: &str, extension: &str) -> Vec<(PathBuf, &'static Printed)> {
    let folder = Path::new("fixtures").join(folder);
    let goldens = files(&root().join(&folder), extension).into_iter();
    goldens
        .map(|golden| {
            let golden = golden.strip_prefix(root()).unwrap().to_owned();
            let below = golden.strip_prefix(&folder).unwrap().with_extension("ndjson");
            let stream = Path::new("fixtures").join(below);
            let found = printed().iter().find(|it| it.case.path == stream);
            let found = found.unwrap_or_else(|| panic!("{} has no stream", golden.display()));
            (golden, found)
        })
        .collect()
}

/// The conversions that the pages do not show.
const FORMS: [&str; 3] = ["text", "answer", "json"];

/// Goal: a change of the other conversions is seen and reviewed.
#[test]
fn chosen_conversions_are_as_written() {
    let mut shown = BTreeSet::new();
    let goldens = chosen("conversions", "golden").into_iter().map(|(golden, it)| {
        let mut all = String::new();
        for form in FORMS {
            let output = converted(&it.case, form);
            if !output.is_empty() {
                let _ = write!(all, "--- {form}\n{}", indented(&output));
                shown.insert(form);
            }
        }
        assert!(!all.is_empty(), "{} shows nothing", golden.display());
        (golden, all)
    });
    compare(goldens.collect::<Vec<_>>());
    assert_eq!(shown.len(), FORMS.len(), "only {shown:?}");
}

/// A case in another form; nothing if its profile has no such form.
fn converted(case: &Case, form: &str) -> String {
    let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
    if form == "json" {
        let mut conversion =
            Written::new(Vec::new(), Box::new(Converter::new(Form::Json, FormStyle::default())));
        let checked = checker(flags.iter().copied()).check("-", &case.bytes()[..], &mut conversion);
        if checked.is_err() {
            return String::new();
        }
    }
    text(&run_on(&[&flags[..], &["--to", form]].concat(), &case.bytes()).stdout)
}

/// Goal: a name says what the streams raise: one rule and nothing else, or nothing.
#[test]
fn each_folder_raises_what_it_is_named_after() {
    let mut named = BTreeSet::new();
    for it in printed() {
        let (path, mut raised) = (&it.case.path, it.raised());
        let rule = |name: &Path| Rule::named(name.file_name()?.to_str()?);
        if path.starts_with("fixtures/agents") && !path.starts_with("fixtures/agents/cursor") {
            // Named after what it shows, in a folder named after the agent.
            let shown = rule(&path.with_extension("")).is_none_or(|it| raised.contains(it.name()));
            assert!(shown, "{}: {raised:?}", path.display());
            continue;
        }
        let of_folder = rule(path.parent().unwrap());
        if of_folder.is_none() {
            // What a tool does is shown for calls that were refused or failed, too.
            raised.remove(Rule::DeniedCall.name());
            raised.remove(Rule::AllCallsFailed.name());
        }
        let expected = of_folder.iter().map(|rule| rule.name().to_owned()).collect();
        assert_eq!(raised, expected, "{}", path.display());
        assert!(of_folder.is_some() || !path.starts_with("fixtures/rules"), "{}", path.display());
        named.extend(of_folder);
    }
    // Those of run mode need a command, the others a configuration file; their pages' examples are
    // run instead.
    let of_commands = [
        Rule::SilentFailure,
        Rule::PipeHeldOpen,
        Rule::ExpectationFailed,
        Rule::ExpectationUnobservable,
    ];
    named.extend(of_commands);
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !named.contains(rule)).collect();
    assert!(missing.is_empty(), "rules without a fixture: {missing:?}");
}

/// Goal: no file is left behind when its stream goes.
#[test]
fn every_file_belongs_to_a_stream() {
    let fixtures = root().join("fixtures");
    let pages: BTreeSet<PathBuf> = printed().iter().map(|it| it.place().0).collect();
    for args in files(&fixtures, "args") {
        assert!(args.with_extension("ndjson").exists(), "{}", args.display());
    }
    for golden in files(&fixtures, "golden") {
        let path = golden.strip_prefix(root()).unwrap();
        let is_page = pages.contains(&path.with_extension(""));
        assert!(is_page || path.starts_with("fixtures/conversions"), "{}", path.display());
    }
    for json in files(&fixtures, "json") {
        let path = json.strip_prefix(&fixtures).unwrap();
        let (folder, name) = (path.iter().next().unwrap(), path.file_name().unwrap());
        // A profile in the making: the page on the language is read next to it.
        let of_profile = name == "profile.json"
            || name == "schema.json"
            || name.to_str().unwrap().starts_with("step-");
        let expected = folder == "report" || folder == "profiles" && of_profile;
        assert!(expected, "{}", path.display());
    }
}

/// Goal: a change of how real runs look is seen, though the runs are not kept here.
/// Method: the size and a fingerprint of every form of every recording, in `recordings.tsv`.
#[test]
fn forms_of_recordings_are_as_they_were() {
    let Some(folder) = shared("captures") else { return };
    let mut table = String::new();
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "ndjson"));
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        for form in ["text", "transcript", "answer", "json"] {
            let output = run_on(&["--to", form], &fs::read(&path).unwrap()).stdout;
            let fingerprint = output.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3) // FNV-1a
            });
            let length = output.len();
            let _ = writeln!(table, "{name}\t{form}\t{length}\t{fingerprint:016x}");
        }
    }
    compare([(PathBuf::from("fixtures/recordings.tsv"), table)]);
}
