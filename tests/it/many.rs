//! Many streams in one call: as many at a time as there are cores, names from lists, progress.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use tempfile::TempDir;

use crate::streams::{program, root, run_on, some_cases, text};

const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";
const FAILED: &str = "fixtures/agents/cursor/is-error.ndjson";

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Some hundred streams: some of the fixtures in folders, whole and cut; one large one at the
/// start, so that all others wait for their turn, and noisy ones, with more findings than are kept.
fn batch() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: String, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let good = fs::read(root().join(GOOD)).unwrap();
    write("0/large.ndjson".to_owned(), &good.repeat(100));
    for (number, case) in some_cases(30).enumerate() {
        let bytes = case.bytes();
        write(format!("{}/{number}.ndjson", number % 7), &bytes);
        write(format!("{}/{number}-cut.jsonl", number % 7), &bytes[..bytes.len() / 2]);
        let noise = b"{\"type\":\"result\",\"session_id\":1,\"request_id\":1}\n\
            {\"a\":1,\"a\":2}\n[]\n{\n\n\xff\n"
            .repeat(40);
        write(format!("7/{number}.ndjson"), &noise);
    }
    fs::create_dir(folder.path().join("8")).unwrap();
    fs::create_dir(folder.path().join("8.ndjson")).unwrap();
    fs::write(folder.path().join("9.ndjson"), b"").unwrap();
    folder
}

/// Goal: no byte of any output depends on the number of jobs.
/// Method: check a batch of good, bad and absent streams with 1 and 8 jobs and by default;
/// standard output and standard error into one file show their order, too.
#[test]
fn the_number_of_jobs_changes_no_byte() {
    let folder = batch();
    let out = folder.path().join("out");
    let report = folder.path().join("report.json");
    let to_file = format!("--report=json={}", report.display());
    let mut streams: Vec<PathBuf> = (0..9).map(|it| folder.path().join(it.to_string())).collect();
    for (place, name) in [(0, "no/such"), (3, "8.ndjson"), (5, "9.ndjson"), (9, "no/other")] {
        streams.insert(place, folder.path().join(name));
    }
    for flags in [&["--report", "human", &to_file][..], &["--report", "json", "--strict"]] {
        let mut expected = None;
        for jobs in [Some("1"), Some("8"), None] {
            let file = fs::File::create(&out).unwrap();
            let mut command = program();
            command.args(flags).args(&streams).stdin(Stdio::null());
            command.args(jobs.map(|it| ["--jobs", it]).into_iter().flatten());
            command.stderr(file.try_clone().unwrap()).stdout(file);
            let status = command.status().unwrap();
            let reported = (status.code(), fs::read(&out).unwrap(), fs::read(&report).unwrap());
            let expected = expected.get_or_insert_with(|| reported.clone());
            assert!(reported == *expected, "{jobs:?} {flags:?}: {}", text(&reported.1));
        }
        let (code, reported, _) = expected.unwrap();
        let reported = text(&reported);
        assert_eq!(code, Some(2));
        assert!(reported.len() > 50_000, "only {} bytes", reported.len());
        assert_eq!(reported.matches("ndjson-check: failed to read").count(), 2);
        assert_eq!(reported.matches("ndjson-check: nothing to check in").count(), 2);
    }
}

/// Goal: the reports of the fixtures, which raise every rule, are the same for all.
#[test]
fn the_fixtures_are_told_alike() {
    let reported = |jobs: &str, report: &str| {
        let flags = ["--jobs", jobs, "--report", report, "fixtures", "--strict"];
        program().args(flags).output().unwrap()
    };
    for report in ["human", "json"] {
        let expected = reported("1", report);
        assert!(expected.stdout.len() > 10_000);
        for jobs in ["2", "3", "8"] {
            assert_eq!(reported(jobs, report), expected, "{jobs} {report}");
        }
    }
}

/// Goal: standard input is a stream like any other, and is converted in its turn.
#[test]
fn standard_input_may_be_one_of_many() {
    let stdin = fs::read(root().join(FAILED)).unwrap();
    for flags in [&[GOOD, "-", "fixtures/rules/call-mismatch", "-"][..], &["--to=text", GOOD, "-"]]
    {
        let [one, many] =
            ["--jobs=1", "--jobs=4"].map(|it| run_on(&[&[it], flags].concat(), &stdin));
        assert_eq!(one, many, "{flags:?}");
        assert!(text(&[one.stdout, one.stderr].concat()).contains("failed: I'll deploy it."));
    }
}

/// Goal: a diagnostic of the stream in turn is reported at once, whatever else is being checked.
#[test]
fn the_stream_in_turn_is_told_live() {
    use std::io::{BufRead as _, BufReader};
    let mut child = program()
        .args(["--jobs", "3", "--report", "json", "-", GOOD, GOOD])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut first = fs::read(root().join(GOOD)).unwrap();
    first.truncate(first.iter().position(|&it| it == b'\n').unwrap() + 1);
    stdin.write_all(&first).unwrap();
    for _ in 0..3 {
        // It would wait for ever if the report waited for the end of the stream.
        stdin.write_all(b"[]\n").unwrap();
        assert!(lines.next().unwrap().unwrap().contains("not-an-object"));
    }
    drop(stdin);
    assert!(lines.last().unwrap().unwrap().contains("\"streams\":3,"));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

fn list(flag: &str, names: &[u8], more: &[&str]) -> Output {
    run_on(&[&[flag, "-"], more].concat(), names)
}

#[test]
fn names_come_from_lists() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list");
    let named = |output: &Output| -> Vec<String> {
        let report = text(&output.stdout);
        let lines = report.lines().filter_map(|line| line.split_once(' '));
        let lines = lines.filter(|(mark, _)| ["✓", "✗"].contains(mark));
        lines.map(|(_, line)| line.split("  ").next().unwrap().to_owned()).collect()
    };
    let json = "fixtures/agents/cursor/json.ndjson";
    // After the arguments, in order, twice if named twice; a folder is walked.
    let lines = format!("{GOOD}\n\n{FAILED}\n{GOOD}");
    for end in ["", "\n"] {
        let lines = format!("{lines}{end}");
        fs::write(&file, &lines).unwrap();
        // What failed comes first.
        let expected = [FAILED, json, GOOD, GOOD];
        let listed = list("--files-from", lines.as_bytes(), &[json]);
        assert_eq!(named(&listed), expected, "{}", text(&listed.stderr));
        assert_eq!(code(&listed), 3);
        let nul = lines.replace('\n', "\0");
        assert_eq!(list("--files0-from", nul.as_bytes(), &[json]), listed);
        let crlf = lines.replace('\n', "\r\n");
        assert_eq!(list("--files-from", crlf.as_bytes(), &[json]), listed);
        let from_file = program().arg("--files-from").arg(&file).arg(json).output().unwrap();
        assert_eq!(from_file, listed);
    }
    // A list from a file may name standard input.
    fs::write(&file, "-\n").unwrap();
    let stdin = fs::read(root().join(GOOD)).unwrap();
    let output = run_on(&["--files-from", file.to_str().unwrap()], &stdin);
    assert!(text(&output.stdout).starts_with("✓ succeeded"), "{output:?}");
}

#[test]
fn lists_that_cannot_be_used_are_one_line_and_two() {
    let wrong: [(&[&str], &[u8], &str); 10] = [
        (&["--files-from", "-"], b"", "nothing to check in standard input: the list is empty"),
        (&["--files-from", "-", GOOD], b"\n\n", "the list is empty"),
        (&["--files0-from", "-"], b"\0", "the list is empty"),
        (&["--files-from", "no/such"], b"", "failed to read no/such: "),
        (&["--files0-from", "fixtures"], b"", "failed to read fixtures: "),
        (&["--files-from", "-", "-"], b"x\n", "cannot be both the list and a stream"),
        (&["--files-from", "-"], b"x\n-\n", "cannot be both the list and a stream"),
        (&["--files-from", "-", "--files0-from", "-"], b"", "cannot be used with"),
        (&["--files-from", "-", "--", "true"], b"", "cannot be used with"),
        (&["--jobs", "0", GOOD], b"", "invalid value '0'"),
    ];
    for (flags, stdin, shown) in wrong {
        let output = run_on(flags, stdin);
        let error = text(&output.stderr);
        assert_eq!(code(&output), 2, "{flags:?}");
        assert_eq!(error.lines().count(), 1, "{flags:?}: {error}");
        assert!(error.contains(shown), "{flags:?}: {error}");
    }
    // What is read is not written.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("list");
    fs::write(&file, GOOD).unwrap();
    let report = format!("--report=json={}", file.display());
    let output = program().arg("--files-from").arg(&file).arg(report).output().unwrap();
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("would replace its own input"));
    assert_eq!(fs::read_to_string(&file).unwrap(), GOOD);
}

/// Goal: a name is bytes; none is too odd.
#[test]
#[cfg(unix)]
fn odd_names_are_names() {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let folder = tempfile::tempdir().unwrap();
    let names: [&[u8]; 5] =
        [b"a\nb.ndjson", b"\xff\xfe.ndjson", b" ", b"--jobs", b"\x1b[2J\r.jsonl"];
    let mut listed = Vec::new();
    for name in names {
        let path = folder.path().join(OsString::from_vec(name.to_vec()));
        fs::copy(root().join(GOOD), &path).unwrap();
        listed.extend_from_slice(path.as_os_str().as_bytes());
        listed.push(0);
    }
    let output = list("--files0-from", &listed, &[]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let report = text(&output.stdout);
    assert_eq!(report.lines().count(), names.len() + 1, "{report}");
    assert!(report.contains("5 streams: 5 passed"), "{report}");
    assert!(report.contains(r"/a\nb.ndjson  succeeded") && !report.contains('\x1b'), "{report}");
}

/// What a terminal is sent, but for the report, while two streams take more than a second; `None`
/// where no terminal can be had. `rest` may send the report elsewhere.
#[cfg(target_os = "linux")]
fn on_a_terminal(variables: &str, flags: &str, rest: &str) -> Option<String> {
    let program = std::path::Path::new(crate::streams::PROGRAM).display();
    let check = format!("{variables} {program} {flags} - {GOOD} {rest}");
    let command = format!("(head -2 {GOOD}; sleep 1.2) | env -u GITHUB_ACTIONS {check}");
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(root()).stdin(Stdio::null());
    let Ok(output) = script.output() else {
        let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: progress; there is no `script`");
        return None;
    };
    Some(text(&output.stdout))
}

/// Goal: whoever waits at a terminal sees how far the work is, and nothing is left of it.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_shown_on_a_terminal_and_wiped_away() {
    let wiped = |sent: &str| {
        assert!(sent.contains("] 0/2 files, "), "{sent:?}");
        let parts: Vec<&str> = sent.split("\r\x1b[2K").collect();
        assert!(!parts.last().unwrap().starts_with('['), "{sent:?}");
        parts.into_iter().filter(|part| !part.starts_with('[')).collect::<String>()
    };
    let Some(sent) = on_a_terminal("TERM=xterm", "--color=never", "") else { return };
    let report = wiped(&sent);
    assert!(
        report.starts_with("✗ standard input  cut short") && report.contains("2 streams: "),
        "{sent:?}"
    );
    let sent = on_a_terminal("TERM=xterm", "--jobs=1", ">/dev/null").unwrap();
    assert_eq!(wiped(&sent), "", "{sent:?}");
}

/// Goal: whoever waits for a run sees what it does, and nothing of that is left between the lines.
/// Method: what a terminal is sent; a line of the log comes whole, after the status is wiped away.
#[test]
#[cfg(target_os = "linux")]
fn the_status_of_a_run_is_shown_on_a_terminal_and_wiped_away() {
    let program = std::path::Path::new(crate::streams::PROGRAM).display();
    let slow = format!("head -4 {GOOD}; sleep 1.5; tail -n +5 {GOOD}");
    let status = "\r0:01  4 events  running 0:01: shell npm test -- cart";
    for (flags, shown) in [
        ("--color=never", &["✓ succeeded"][..]),
        ("--color=never --to text", &["Ran terminal command npm test", "Read file src/cart.js"]),
        ("--color=never --to transcript", &["All four cart tests pass: ", "[Edited file src/"]),
        ("--quiet", &[]),
    ] {
        let command = format!("({slow}) | env -u GITHUB_ACTIONS TERM=xterm {program} {flags}");
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).current_dir(root()).stdin(Stdio::null());
        let Ok(output) = script.output() else { return };
        let sent = text(&output.stdout);
        let flat = sent.replace("\r\x1b[2K", "\r");
        assert_eq!(flat.contains(status), !shown.is_empty(), "{flags}: {sent:?}");
        for line in shown {
            let is_first =
                |at: usize| sent[..at].ends_with('\n') || sent[..at].ends_with("\x1b[2K");
            let places: Vec<usize> = sent.match_indices(line).map(|(at, _)| at).collect();
            assert!(!places.is_empty(), "{flags}: {line}: {sent:?}");
            assert!(places.into_iter().all(is_first), "{flags}: {line}: {sent:?}");
        }
        let last = sent.rsplit("\x1b[2K").next().unwrap_or_default();
        assert!(!last.contains("events  "), "{flags}: {sent:?}");
    }
}

/// Goal: no byte of it is written where no person sees it, or where it would disturb.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_not_in_the_way() {
    let rows = [
        ("TERM=xterm", "", "2>&1 | cat"),
        ("TERM=xterm", "", "| cat"),
        ("TERM=xterm", "--quiet", ""),
        ("TERM=xterm", "--to text", ""),
        ("TERM=dumb", "", ""),
        ("TERM=xterm GITHUB_ACTIONS=true", "", ""),
    ];
    std::thread::scope(|scope| {
        for (variables, flags, rest) in rows {
            scope.spawn(move || {
                let Some(sent) = on_a_terminal(variables, flags, rest) else { return };
                assert!(!sent.contains("files, "), "{variables} {flags} {rest}: {sent:?}");
            });
        }
    });
}
