//! What the human report says of several streams.

use ndjson_check::{Checker, HumanReport, RunTotals, Written};

use crate::streams::{root, text};

/// Goal: the last line about several streams says what their groups say, and how many are bad; at a
/// terminal, the page is that of the largest group.
#[test]
fn the_last_line_sums_up_the_groups() {
    let (open, cut) = ("rules/unfinished-call/one-open", "agents/claude/truncated");
    let all = [cut, open, "rules/unfinished-call/two-of-three-open", "agents/cursor/plain"];
    let mut report = Written::new(Vec::new(), Box::new(HumanReport::new(false).width(Some(200))));
    let mut totals = RunTotals::default();
    for name in all {
        let bytes = std::fs::read(root().join(format!("fixtures/{name}.ndjson"))).unwrap();
        let mut checker = Checker::builder().build().unwrap();
        checker.check(name, bytes.as_slice(), &mut report).unwrap();
        totals.streams += 1;
    }
    report.end(&totals, 1);
    let text = text(report.writer().unwrap());
    let mut last = text.lines().rev();
    assert_eq!(last.next(), Some("`ndjson-check rules unfinished-call` says what to do."));
    let sum = "4 streams: 3 did not pass (2 × a tool call never ended, 1 × cut short), \
               1 passed";
    assert!(last.next().is_some_and(|it| it.starts_with(sum)), "{text}");
}
