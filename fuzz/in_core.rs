//! The oracles of the targets `lines` and `tape`. They are a part of the core, since they call what
//! it does not export.

use std::hash::RandomState;

use serde_json::Value;

use crate::json::{JsonRef, Tape, parse_tree};
use crate::stream::{ArraySplitter, Ending, LineBuffer, is_array};

/// Number, offset, length, bytes and ending of a line.
type Row = (u64, u64, u64, Vec<u8>, Ending);

/// The lines of a stream that comes in pieces of these lengths, over and over; 0 is all the rest.
fn rows(stream: &[u8], cuts: &[u8], max: u64, wanted: Option<bool>) -> (Vec<Row>, bool, u64) {
    let mut buffer = LineBuffer::new(Vec::new(), max, wanted);
    let (mut rows, mut rest, mut cuts) = (Vec::new(), stream, cuts.iter().cycle());
    loop {
        while buffer.is_ready() {
            rows.extend(buffer.take().map(|line| {
                assert!(line.text().is_none_or(|text| text.as_bytes() == line.bytes));
                (line.number, line.offset, line.length, line.bytes.to_vec(), line.ending)
            }));
        }
        if rest.is_empty() {
            break;
        }
        let cut = cuts.next().map_or(0, |cut| usize::from(*cut));
        let room = buffer.room();
        let count = if cut == 0 { rest.len() } else { cut.min(rest.len()) }.min(room.len());
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        buffer.filled(count);
    }
    buffer.end();
    while buffer.is_ready() {
        rows.extend(
            buffer.take().map(|line| {
                (line.number, line.offset, line.length, line.bytes.to_vec(), line.ending)
            }),
        );
    }
    (rows, buffer.array().is_some_and(|array| array.has_mark), buffer.bytes_taken())
}

/// The lines of a stream that is no array, or of a text that the splitter made of one, simply read.
fn simply(text: &[u8], max: u64) -> Vec<Row> {
    let (mut rows, mut offset) = (Vec::new(), 0);
    for (number, whole) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        let (line, ending) = match whole {
            [line @ .., b'\r', b'\n'] => (line, Ending::CrLf),
            [line @ .., b'\n'] => (line, Ending::Lf),
            line => (line, Ending::EndOfStream),
        };
        let length = line.len() as u64;
        let bytes = if length > max { Vec::new() } else { line.to_vec() };
        rows.push((number, offset, length, bytes, ending));
        offset += whole.len() as u64;
    }
    rows
}

/// Pieces change no line, and the lines are those of the simplest reader. The first bytes of `data`
/// choose what is said about the stream, the limit of a line, and the pieces.
pub fn lines(data: &[u8]) {
    let [mode, max, first, second, third, stream @ ..] = data else { return };
    let wanted = [None, Some(true), Some(false)][usize::from(mode % 3)];
    let max = if *max < 128 { u64::from(*max) } else { u64::MAX };
    let whole = rows(stream, &[0], max, wanted);
    assert_eq!(rows(stream, &[*first, *second, *third], max, wanted), whole);
    assert_eq!(rows(stream, &[1], max, wanted), whole);
    if is_array(stream, wanted, true) != Some(true) {
        assert_eq!(whole.0, simply(stream, max));
        assert_eq!(whole.2, stream.len() as u64);
        return;
    }
    assert_eq!(whole.2, stream.len() as u64);
    let (mut array, mut text) = (ArraySplitter::default(), stream.to_vec());
    let mut begun = 0;
    let length = array.split(&mut text, |_| begun += 1);
    text.truncate(length);
    if array.lacks_line_end() {
        text.push(b'\n');
    }
    let bytes = |rows: &[Row]| rows.iter().map(|row| (row.2, row.3.clone())).collect::<Vec<_>>();
    let found = bytes(&whole.0);
    // A carriage return in a string that is not closed looks like a part of the line ending.
    assert_eq!(found, bytes(&simply(&text, max)));
    assert_eq!(found.len(), begun);
    let values: Option<Vec<Value>> = serde_json::from_slice(stream).ok();
    if let Some(values) = values.filter(|_| max == u64::MAX) {
        let read = |row: &(u64, Vec<u8>)| serde_json::from_slice(&row.1).expect("an element");
        assert_eq!(found.iter().map(read).collect::<Vec<Value>>(), values);
        assert!(array.defect().is_none());
    }
}

/// All queries give the same for a value on a tape and in a tree.
fn same(tape: JsonRef<'_>, tree: JsonRef<'_>, hasher: &RandomState) {
    let text = |it: JsonRef<'_>| it.as_str().map(|text| text.into_owned());
    assert_eq!(text(tape), text(tree));
    let kind = |it: JsonRef<'_>| (it.is_array(), it.is_object(), it.is_null(), it.is_empty());
    assert_eq!(kind(tape), kind(tree));
    assert_eq!(tape.as_bool(), tree.as_bool());
    assert_eq!(tape.as_f64().map(f64::to_bits), tree.as_f64().map(f64::to_bits));
    assert_eq!(tape.scalar_text(), tree.scalar_text());
    if let Some(text) = tree.as_str() {
        let (mut chunks, half) = (String::new(), text.chars().take(3).collect::<String>());
        tape.chunks(|chunk| chunks.push_str(chunk));
        assert_eq!(chunks, text);
        assert!(tape.is(&text) && tape.starts_with(&half));
        assert_eq!(tape.is(&half), tree.is(&half));
    }
    assert_eq!(tape.items().count(), tree.items().count());
    for (tape, tree) in tape.items().zip(tree.items()) {
        same(tape, tree, hasher);
    }
    assert_eq!(tape.members().count(), tree.members().count());
    for (key, tree) in tree.members() {
        same(tape.get(&key).expect("a member"), tree, hasher);
    }
    for (key, tape) in tape.members() {
        assert_eq!(Some(tape.to_value()), tree.get(&key).map(JsonRef::to_value));
    }
    assert_eq!(tape.value_hash(hasher), tree.value_hash(hasher));
}

/// What the tape accepts, the plain parser accepts, with the same values. The first byte of `data`
/// is what follows the text in the buffer.
pub fn tape(data: &[u8]) {
    let Some((behind, data)) = data.split_first() else { return };
    let Ok(data) = str::from_utf8(data) else { return };
    let text = data.split('\n').next().unwrap_or_default();
    let plain = parse_tree(text, 100);
    let mut tape = Tape::default();
    let is_read = tape.read(text.as_bytes(), text.len());
    if is_read {
        let (value, duplicates) = plain.as_ref().expect("the tape accepts it");
        assert!(duplicates.is_empty());
        same(JsonRef::tape(tape.doc(text).root()), JsonRef::tree(value), &RandomState::new());
    }
    // What follows changes nothing.
    let mut line = format!("{text}\n").into_bytes();
    let length = text.strip_suffix('\r').unwrap_or(text).len();
    line.resize(line.len() + 80, *behind);
    assert_eq!(tape.read(&line, length), is_read);
    assert_eq!(tape.read_line(&line), is_read.then_some(text.len()));
    if tape.read_with_duplicates(text.as_bytes()) {
        let (value, duplicates) = plain.as_ref().expect("the tape accepts it");
        assert_eq!(duplicates.is_empty(), is_read);
        same(JsonRef::tape(tape.doc(text).root()), JsonRef::tree(value), &RandomState::new());
    } else {
        assert!(!is_read);
    }
}
