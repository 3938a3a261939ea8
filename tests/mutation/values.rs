//! Damage that knows JSON: values and members are replaced, respelled, doubled and moved.

use std::ops::Range;

use super::layout::{Layout, Member};
use super::nasty::{KEYS, VALUES, WORDS, good_number, good_text};
use super::{Random, bytes};

pub(super) fn damage(line: &mut Vec<u8>, random: &mut Random) {
    let Layout { values, members } = Layout::of(line);
    if values.is_empty() || members.is_empty() {
        return bytes::damage(line, random);
    }
    let value = random.pick(&values);
    let member = random.pick(&members);
    match random.below(16) {
        0..3 => replace(line, value, random.pick(VALUES)),
        3 => {
            let other = line[random.pick(&values)].to_vec();
            replace(line, value, &other);
        }
        4 | 5 => respell(line, value, random),
        6 => {
            let word = [&b"\""[..], random.pick(WORDS), b"\""].concat();
            replace(line, value, &word);
        }
        7 => double(line, &member, random),
        8 => escape(line, member.key, random),
        9 => swap(line, &members, &member, random),
        10 => nest(line, value, random),
        11 => remove(line, &member, random),
        12 | 13 => add(line, &member, random),
        14 => {
            let spaces: [&[u8]; 7] = [b" ", b"  ", b"\t", b"\r", b" \t\r ", b"\x0b", b"\xc2\xa0"];
            let at = random.pick(&[value.start, value.end, member.key.start, member.key.end]);
            replace(line, at..at, random.pick(&spaces));
        }
        _ => {
            let mut text = b"\"".to_vec();
            let count = random.pick(&[0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 127, 200, 5_000]);
            text.resize(1 + count, b'a');
            text.push(b'"');
            replace(line, value, &text);
        }
    }
}

/// The line with other good texts and numbers in these places, which are in its order.
pub(super) fn varied(line: &[u8], slots: &[Range<usize>], random: &mut Random) -> Vec<u8> {
    let mut varied = Vec::with_capacity(line.len() + 64);
    let mut done = 0;
    for slot in slots {
        varied.extend_from_slice(&line[done..slot.start]);
        if line[slot.start] == b'"' {
            varied.push(b'"');
            good_text(random, &mut varied);
            varied.push(b'"');
        } else {
            good_number(random, &mut varied);
        }
        done = slot.end;
    }
    varied.extend_from_slice(&line[done..]);
    varied
}

fn replace(line: &mut Vec<u8>, at: Range<usize>, bytes: &[u8]) {
    line.splice(at, bytes.iter().copied());
}

/// Another spelling of a number or string: the same value, or nearly, or no JSON any more.
fn respell(line: &mut Vec<u8>, value: Range<usize>, random: &mut Random) {
    if line[value.start] == b'"' {
        return escape(line, value, random);
    }
    let before: [&[u8]; 4] = [b"-", b"0", b"+", b"1"];
    let after: [&[u8]; 12] = [
        b".0",
        b"e0",
        b"E+0",
        b"0",
        b"e-1",
        b".",
        b"e",
        b".5",
        b"00000000000",
        b"123456789012345",
        b"e999",
        b"x",
    ];
    if random.chance(30) {
        replace(line, value.start..value.start, random.pick(&before));
    } else {
        replace(line, value.end..value.end, random.pick(&after));
    }
}

/// Writes one character of a string as an escape.
fn escape(line: &mut Vec<u8>, string: Range<usize>, random: &mut Random) {
    if string.len() < 3 {
        return;
    }
    let at = random.within(string.start + 1, string.end - 2);
    let byte = line[at];
    let escape = match byte {
        b'/' => "\\/".to_owned(),
        // The middle of a character or of another escape: damage, too.
        _ if random.chance(50) => format!("\\u{byte:04x}"),
        _ => format!("\\u{byte:04X}"),
    };
    replace(line, at..at + 1, escape.as_bytes());
}

/// A second member of the same name, perhaps spelled otherwise, before or behind the first.
fn double(line: &mut Vec<u8>, member: &Member, random: &mut Random) {
    let mut key = line[member.key.clone()].to_vec();
    if random.chance(50) {
        let whole = 0..key.len();
        escape(&mut key, whole, random);
    }
    let same = line[member.value.clone()].to_vec();
    let value = if random.chance(30) { &same } else { random.pick(VALUES) };
    let (at, copy) = if random.chance(50) {
        (member.value.end, [b",", &key[..], b":", value].concat())
    } else {
        (member.object + 1, [&key[..], b":", value, b","].concat())
    };
    replace(line, at..at, &copy);
}

/// Two members of one object change places.
fn swap(line: &mut Vec<u8>, members: &[Member], member: &Member, random: &mut Random) {
    let same = |other: &&Member| other.object == member.object && other.key != member.key;
    let others: Vec<&Member> = members.iter().filter(same).collect();
    if others.is_empty() {
        return;
    }
    let other = random.pick(&others);
    let (first, second) =
        if other.key.start < member.key.start { (other, member) } else { (member, other) };
    let (first, second) = (first.key.start..first.value.end, second.key.start..second.value.end);
    let (moved_up, moved_down) = (line[second.clone()].to_vec(), line[first.clone()].to_vec());
    replace(line, second, &moved_down);
    replace(line, first, &moved_up);
}

/// Puts a value inside arrays or objects, often around the depth that is allowed.
fn nest(line: &mut Vec<u8>, value: Range<usize>, random: &mut Random) {
    let levels = if random.chance(30) { random.within(1, 5) } else { random.within(118, 130) };
    let (open, close): (&[u8], &[u8]) =
        if random.chance(50) { (b"[", b"]") } else { (b"{\"a\":", b"}") };
    let inner = line[value.clone()].to_vec();
    let closed = if random.chance(90) { levels } else { levels - 1 };
    replace(line, value, &[open.repeat(levels), inner, close.repeat(closed)].concat());
}

/// Takes a member away, most often with one comma.
fn remove(line: &mut Vec<u8>, member: &Member, random: &mut Random) {
    let mut range = member.key.start..member.value.end;
    if random.chance(90) {
        if line.get(range.end) == Some(&b',') {
            range.end += 1;
        } else if range.start > 0 && line[range.start - 1] == b',' {
            range.start -= 1;
        }
    }
    line.drain(range);
}

/// Adds a member before or behind another.
fn add(line: &mut Vec<u8>, member: &Member, random: &mut Random) {
    let (key, value) = (random.pick(KEYS), random.pick(VALUES));
    let (at, added) = if random.chance(50) {
        (member.value.end, [b",\"", key, b"\":", value].concat())
    } else {
        (member.key.start, [b"\"", key, b"\":", value, b","].concat())
    };
    replace(line, at..at, &added);
}
