//! Damage that knows nothing of JSON: bytes come, go and change.

use super::Random;
use super::nasty::{BYTES, STARTS, TOKENS};

/// Block ends of scanners lie at multiples of these.
const BLOCKS: [usize; 3] = [16, 32, 64];

pub(super) fn damage(line: &mut Vec<u8>, random: &mut Random) {
    let at = place(line, random);
    match random.below(20) {
        0..6 => insert(line, at, random.pick(TOKENS)),
        6..9 if at < line.len() => line[at] = random.pick(BYTES),
        9..12 => {
            let count = random.pick(&[1, 1, 1, 2, 5, 20]);
            line.drain(at..(at + count).min(line.len()));
        }
        12 if at < line.len() => line[at] ^= 1 << random.below(8),
        13 => {
            let from = random.below(line.len() + 1);
            let copy = line[from.min(at)..from.max(at)].to_vec();
            insert(line, random.below(line.len() + 1), &copy[..copy.len().min(40)]);
        }
        14 => line.truncate(at),
        15 => {
            let count = random.within(1, 3) + random.pick(&[0, 13, 29, 61]);
            insert(line, at, &b"\\".repeat(count));
        }
        16 => {
            let run = vec![random.pick(BYTES); random.within(1, 70)];
            insert(line, at, &run);
        }
        17 => {
            let ends: [&[u8]; 8] =
                [b" ", b"\t \r", b",", b"}", b"]", b"{}", b" {\"type\":\"user\"}", b"\x00"];
            line.extend_from_slice(random.pick(&ends));
        }
        18 => insert(line, 0, random.pick(STARTS)),
        _ => {
            let other = place(line, random);
            if at < line.len() && other < line.len() {
                line.swap(at, other);
            }
        }
    }
}

/// Anywhere, or beside a quote, or near the end of a block.
fn place(line: &[u8], random: &mut Random) -> usize {
    let anywhere = random.below(line.len() + 1);
    match random.below(4) {
        0 => {
            let quote = line[anywhere..].iter().position(|&byte| byte == b'"');
            quote.map_or(anywhere, |quote| anywhere + quote + random.below(2))
        }
        1 => {
            let block = random.pick(&BLOCKS);
            let end = (anywhere / block + 1) * block;
            (end + random.below(5)).saturating_sub(3).min(line.len())
        }
        _ => anywhere,
    }
}

fn insert(line: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    line.splice(at..at, bytes.iter().copied());
}
