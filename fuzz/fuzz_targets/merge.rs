//! Reports are joined or refused; what was joined can be joined again, and stays as it is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ndjson_check_formats::report::MergedReports;

fn merged(reports: &[&[u8]]) -> Option<Vec<u8>> {
    let mut merged = MergedReports::default();
    for report in reports {
        merged.add(*report).ok()?;
    }
    let mut out = Vec::new();
    merged.write(&mut out, 1).expect("memory");
    Some(out)
}

fuzz_target!(|data: &[u8]| {
    let Some((at, data)) = data.split_first() else { return };
    let (first, second) = data.split_at(data.len() * usize::from(*at) / 256);
    for reports in [&[data][..], &[first, second], &[data, data]] {
        if let Some(once) = merged(reports) {
            assert_eq!(
                merged(&[&once]).as_ref(),
                Some(&once),
                "{}",
                String::from_utf8_lossy(&once)
            );
        }
    }
});
