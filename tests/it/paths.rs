//! Paths as each system writes them, in arguments, lists, the configuration, copies and reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use ndjson_check::{Checker, Expectation, Rule};
use serde_json::Value;
use tempfile::TempDir;

use crate::demands::{PLACE, run_of, write};
use crate::streams::{program, root, text};
use crate::support::check;

/// A folder with a good and a faulty stream, and a configuration with the line ends of Windows.
fn folder_in(folder: &Path) -> PathBuf {
    let runs = folder.join("runs of ü");
    fs::create_dir_all(&runs).unwrap();
    for (name, fixture) in
        [("good", "agents/cursor/plain"), ("open", "rules/unfinished-call/one-open")]
    {
        let fixture = root().join(format!("fixtures/{fixture}.ndjson"));
        fs::copy(fixture, runs.join(format!("{name}.ndjson"))).unwrap();
    }
    let config = "strict = true\r\n\r\n[rules]\r\nblank-line = \"off\"\r\n\r\n[expect.writes]\r\n\
                  within = [\r\n  \"**\",\r\n]\r\n";
    fs::write(folder.join("ndjson-check.toml"), config).unwrap();
    runs
}

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    program().current_dir(folder).args(arguments).output().unwrap()
}

/// The paths of the streams of a report, and its exit code.
fn reported(report: &Path) -> (Vec<String>, u64) {
    let report = fs::read_to_string(report).unwrap();
    let lines: Vec<Value> = report.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let streams = lines.iter().filter(|it| it["type"] == "stream");
    let paths = streams.map(|it| it["path"].as_str().unwrap().to_owned()).collect();
    (paths, lines.last().unwrap()["exit_code"].as_u64().unwrap())
}

/// Goal: the folder is read; a report, a copy and a baseline are written there, and found again.
fn works_in(folder: &Path) {
    let runs = folder_in(folder);
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (report, baseline, copy) = (at("report.json"), at("known.json"), at("copy.ndjson"));
    let (good, config) = (runs.join("good.ndjson"), at("ndjson-check.toml"));
    let good = good.to_str().unwrap();
    let json = format!("--report=json={report}");

    let output = run_in(root(), &["--config", &config, &json, "--tee", &copy, good]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(reported(Path::new(&report)).0.len(), 1);
    assert_eq!(fs::read(&copy).unwrap(), fs::read(good).unwrap());

    let runs = runs.to_str().unwrap();
    let flags = ["--config", &*config, &*json, "--write-baseline", &*baseline, runs];
    let output = run_in(root(), &flags);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let (paths, code) = reported(Path::new(&report));
    assert_eq!((paths.len(), code), (2, 1));
    assert!(paths.iter().all(|path| path.starts_with(runs)), "{paths:?}");
    let output = run_in(root(), &["--config", &config, "--baseline", &baseline, runs]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// Goal: the absolute paths of a system work; on Windows they begin with a drive, or with `\\?\`.
#[test]
fn an_absolute_path_is_one() {
    let folder = TempDir::new().unwrap();
    works_in(folder.path());
    works_in(&folder.path().canonicalize().unwrap());
}

/// Goal: a path above 260 characters, the bound of old programs for Windows, is a path.
#[test]
fn a_long_path_is_a_path() {
    let folder = TempDir::new().unwrap();
    let long = folder.path().canonicalize().unwrap().join("n".repeat(150)).join("m".repeat(150));
    fs::create_dir_all(&long).unwrap();
    works_in(&long);
    // As it is written without `\\?\`.
    works_in(&folder.path().join("n".repeat(150)).join("m".repeat(150)));
}

/// Goal: a share is a folder. `SHARE` names one, as `\\server\share`.
#[cfg(windows)]
#[test]
fn a_share_is_a_folder() {
    use std::io::Write as _;
    let Some(share) = std::env::var_os("SHARE") else {
        let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: shares; SHARE names none");
        return;
    };
    let folder = TempDir::new_in(share).unwrap();
    assert!(folder.path().to_str().unwrap().starts_with(r"\\"));
    works_in(folder.path());
}

/// Goal: the line ends of Windows change nothing in a configuration, nor where its faults are.
#[test]
fn a_configuration_has_the_line_ends_of_any_system() {
    let folder = TempDir::new().unwrap();
    folder_in(folder.path());
    let file = folder.path().join("ndjson-check.toml");
    let print = || text(&run_in(folder.path(), &["--print-config"]).stdout);
    let (with_returns, printed) = (fs::read_to_string(&file).unwrap(), print());
    assert!(printed.contains("strict = true\n") && printed.contains("within"), "{printed}");
    fs::write(&file, with_returns.replace('\r', "")).unwrap();
    assert_eq!(print(), printed);
    fs::write(&file, with_returns + "\r\n[rules]\r\nx = 1\r\n").unwrap();
    let error = text(&run_in(folder.path(), &["-"]).stderr);
    assert!(error.starts_with("ndjson-check: ndjson-check.toml:11:"), "{error}");
}

/// Goal: a report names a stream in the same way on every system, however it was named to us, and
/// a baseline from one system is known on another.
#[test]
fn relative_paths_are_the_same_in_every_report() {
    let folder = TempDir::new().unwrap();
    folder_in(folder.path());
    let known = folder.path().join("known.json");
    let report = folder.path().join("report.json");
    let mut ways = vec!["runs of ü", "./runs of ü/open.ndjson"];
    if cfg!(windows) {
        ways.extend([r"runs of ü\", r".\runs of ü\open.ndjson"]);
    }
    for way in ways {
        let flags = ["--write-baseline", "known.json", "--report=json=report.json", way];
        assert_eq!(run_in(folder.path(), &flags).status.code(), Some(1), "{way}");
        let (paths, _) = reported(&report);
        let expected = if way.starts_with('.') { way } else { "runs of ü/open.ndjson" };
        assert_eq!(*paths.last().unwrap(), expected.replace('\\', "/"), "{way}");
        let baseline: Value = serde_json::from_str(&fs::read_to_string(&known).unwrap()).unwrap();
        assert_eq!(baseline["findings"][0]["path"], "runs of ü/open.ndjson", "{way}");
        let sarif = text(&run_in(folder.path(), &["--report=sarif", way]).stdout);
        assert!(sarif.contains("\"uri\":\"runs%20of%20%C3%BC/open.ndjson\""), "{sarif}");
    }
    // A list, with the line ends of Windows.
    fs::write(folder.path().join("list"), "runs of ü/good.ndjson\r\n").unwrap();
    let flags = ["--files-from", "list", "--report=json=report.json"];
    assert_eq!(run_in(folder.path(), &flags).status.code(), Some(0));
    assert_eq!(reported(&report).0, ["runs of ü/good.ndjson"]);
}

/// Goal: what must not be written includes all that is in a directory which a glob matches.
#[test]
fn a_directory_is_matched_with_its_files() {
    let written = write("c1", "/app/.github/workflows/ci.yml");
    for (glob, is_forbidden) in [
        (".github", true),
        ("{.github,.circleci}", true),
        (".git*", true),
        (".github/*", true),
        ("*/[w]orkflows", true),
        ("workflows", true),
        ("*.lock", false),
        (".github/*.yml", false),
        ("/ci.yml", false),
    ] {
        let expected = Expectation::WritesNever(vec![glob.to_owned()]);
        let mut checker = Checker::builder().expect(PLACE, expected).build().unwrap();
        let (summary, _) = check(&mut checker, run_of(std::slice::from_ref(&written)).as_bytes());
        let is_raised = summary.rule_counts.contains_key(&Rule::ExpectationFailed);
        assert_eq!(is_raised, is_forbidden, "{glob}");
    }
}
