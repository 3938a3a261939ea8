//! Reduces a batch that shows a difference, so that the cause can be seen.

use std::time::{Duration, Instant};

use super::Batch;

/// After this long what is left is small enough.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Lines above this size are not reduced byte by byte.
const BYTES_MAX: usize = 4_096;

/// Leaves out streams, lines and bytes for as long as what is left `differs`.
pub(super) fn smallest(batch: &Batch, differs: impl Fn(&Batch) -> bool) -> Batch {
    let (mut batch, start) = (batch.clone(), Instant::now());
    let differs = |batch: &Batch| start.elapsed() < TIME_MAX && differs(batch);
    let simpler: [fn(&mut Batch); 3] =
        [|batch| batch.to = None, |batch| batch.read_bytes = 0, |batch| batch.feed_bytes = 0];
    for simplify in simpler {
        let mut simple = batch.clone();
        simplify(&mut simple);
        if differs(&simple) {
            batch = simple;
        }
    }
    let with = |batch: &Batch, streams: &[Vec<u8>]| {
        differs(&Batch { streams: streams.to_vec(), ..batch.clone() })
    };
    batch.streams = reduced(&batch.streams, |streams| with(&batch, streams));
    for index in 0..batch.streams.len() {
        let with = |stream: Vec<u8>| {
            let mut batch = batch.clone();
            batch.streams[index] = stream;
            differs(&batch)
        };
        let stream = &batch.streams[index];
        let lines: Vec<&[u8]> = stream.split_inclusive(|&byte| byte == b'\n').collect();
        let lines = reduced(&lines, |lines| with(lines.concat()));
        let mut lines: Vec<Vec<u8>> = lines.into_iter().map(<[u8]>::to_vec).collect();
        for line in 0..lines.len() {
            if lines[line].len() <= BYTES_MAX {
                lines[line] = reduced(&lines[line], |bytes| {
                    let mut lines = lines.clone();
                    lines[line] = bytes.to_vec();
                    with(lines.concat())
                });
            }
        }
        batch.streams[index] = lines.concat();
    }
    batch
}

/// The items without as many of them as can be left out: runs of half of them first, single ones
/// last.
fn reduced<T: Clone>(items: &[T], differs: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut items = items.to_vec();
    let mut size = items.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < items.len() {
            let mut fewer = items.clone();
            fewer.drain(at..(at + size).min(items.len()));
            if differs(&fewer) {
                items = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    items
}
