//! Where in a line its values and members stand. Of a broken line, whatever looks like it.

use std::ops::Range;

/// The values and members of a line, as ranges of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Every value, at any depth, in the order in which they end.
    pub(crate) values: Vec<Range<usize>>,
    /// Every member, in the order in which their values end.
    pub(crate) members: Vec<Member>,
}

/// A key with its quotes, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Where the object begins that it belongs to.
    pub(crate) object: usize,
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// An object or array that has not ended.
struct Open {
    start: usize,
    is_object: bool,
    /// The key whose value comes next.
    key: Option<Range<usize>>,
}

impl Layout {
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut layout = Self::default();
        let mut open: Vec<Open> = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let start = at;
            match line[at] {
                b'{' | b'[' => {
                    open.push(Open { start, is_object: line[at] == b'{', key: None });
                    at += 1;
                }
                b'}' | b']' => {
                    at += 1;
                    if let Some(closed) = open.pop() {
                        layout.value(closed.start..at, open.last_mut());
                    }
                }
                b'"' => {
                    at = string_end(line, at);
                    match open.last_mut() {
                        Some(object) if object.is_object && object.key.is_none() => {
                            object.key = Some(start..at);
                        }
                        parent => layout.value(start..at, parent),
                    }
                }
                byte if is_scalar(byte) => {
                    let rest = line[at..].iter().position(|&byte| !is_scalar(byte));
                    at = rest.map_or(line.len(), |rest| at + rest);
                    layout.value(start..at, open.last_mut());
                }
                _ => at += 1,
            }
        }
        layout
    }

    fn value(&mut self, value: Range<usize>, parent: Option<&mut Open>) {
        if let Some(parent) = parent
            && let Some(key) = parent.key.take()
        {
            self.members.push(Member { object: parent.start, key, value: value.clone() });
        }
        self.values.push(value);
    }
}

fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// The byte after the string that begins at `start`.
fn string_end(line: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < line.len() {
        match line[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    line.len()
}
