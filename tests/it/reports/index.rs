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
