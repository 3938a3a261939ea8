//! The index of the pages of several streams.

use std::fs;

use super::html::report;

/// Goal: the sum of the times is that of the times in the rows.
#[test]
fn the_time_of_the_index_is_the_sum_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    // The first one says how long it took, and has no times.
    let streams = ["claude/plain.ndjson", "gemini/tools.ndjson", "cursor/is-error.ndjson"];
    let streams = streams.map(|it| format!("fixtures/agents/{it}"));
    let (file, _) = report(folder.path(), &streams.each_ref().map(String::as_str));
    let index = fs::read_to_string(file).unwrap();
    let cells = index.split("data-name=\"time\" data-value=\"").skip(1);
    let times = cells.map(|it| it.split_once('"').unwrap().0.parse::<u64>().unwrap());
    let times: Vec<u64> = times.collect();
    let tenths = times.iter().sum::<u64>() / 100;
    let sum = format!("<dt>time</dt><dd>{}.{} s</dd>", tenths / 10, tenths % 10);
    assert!(times.len() > 1 && index.contains(&sum), "{sum}, {times:?}: {index}");
}

/// Goal: an input that may be left out is no stream that did not pass.
#[test]
fn an_accepted_input_does_not_fail_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("a.ndjson.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    let good = crate::streams::root().join("fixtures/agents/claude/plain.ndjson");
    write("b.ndjson", &fs::read(good).unwrap());
    let index = |accepted: &str| {
        let mut command = crate::streams::program();
        command.current_dir(folder.path()).args([
            "--unreadable",
            accepted,
            "--report",
            "html=r.html",
        ]);
        let code = command.args(["a.ndjson.gz", "b.ndjson"]).output().unwrap().status.code();
        let index = fs::read_to_string(folder.path().join("r.html")).unwrap();
        let heading = index.split_once("<h1>").unwrap().1.split_once("</h1>").unwrap().0;
        (code, heading.contains('✓'), heading.contains("1 of 2 streams could not be checked"))
    };
    assert_eq!(index("1"), (Some(0), true, true));
    assert_eq!(index("0"), (Some(2), false, true));
}
