//! Many streams in one call: names from lists.

use std::ffi::OsString;
use std::fs;
use std::process::Output;

use crate::streams::{program, root, run_on, text};

const GOOD: &str = "fixtures/conforming/plain.ndjson";
const FAILED: &str = "fixtures/failed/is-error.ndjson";

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
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
        let lines = report.lines().filter(|line| line.contains(": conforming, "));
        lines.map(|line| line.split(": ").next().unwrap().to_owned()).collect()
    };
    let json = "fixtures/conforming/json.ndjson";
    // After the arguments, in order, twice if named twice; a folder is walked.
    let lines = format!("{GOOD}\n\nfixtures/failed\n{GOOD}");
    for end in ["", "\n"] {
        let lines = format!("{lines}{end}");
        fs::write(&file, &lines).unwrap();
        let expected = [json, GOOD, FAILED, GOOD];
        let listed = list("--files-from", lines.as_bytes(), &[json]);
        assert_eq!(named(&listed), expected, "{}", text(&listed.stderr));
        assert_eq!(code(&listed), 3);
        let nul = lines.replace('\n', "\0");
        assert_eq!(list("--files0-from", nul.as_bytes(), &[json]), listed);
        let from_file = program().arg("--files-from").arg(&file).arg(json).output().unwrap();
        assert_eq!(from_file, listed);
    }
    // A list from a file may name standard input.
    fs::write(&file, "-\n").unwrap();
    let stdin = fs::read(root().join(GOOD)).unwrap();
    let output = run_on(&["--files-from", file.to_str().unwrap()], &stdin);
    assert_eq!(named(&output), ["-"]);
}

#[test]
fn lists_that_cannot_be_used_are_one_line_and_two() {
    let wrong: [(&[&str], &[u8], &str); 9] = [
        (&["--files-from", "-"], b"", "nothing to check in -: the list names no file"),
        (&["--files-from", "-", GOOD], b"\n\n", "the list names no file"),
        (&["--files0-from", "-"], b"\0", "the list names no file"),
        (&["--files-from", "no/such"], b"", "failed to read no/such: "),
        (&["--files0-from", "fixtures"], b"", "failed to read fixtures: "),
        (&["--files-from", "-", "-"], b"x\n", "standard input is the list"),
        (&["--files-from", "-"], b"x\n-\n", "standard input is the list"),
        (&["--files-from", "-", "--files0-from", "-"], b"", "cannot be used with"),
        (&["--files-from", "-", "--", "true"], b"", "cannot be used with"),
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
    assert!(report.contains("5 streams: 5 conforming"), "{report}");
    assert!(report.contains(r"/a\nb.ndjson: conforming") && !report.contains('\x1b'), "{report}");
}
