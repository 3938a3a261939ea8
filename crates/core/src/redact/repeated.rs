//! Short strings in which nothing was found. Keys, tags and ids come with every event.

use super::written::WrittenString;

/// The strings that came last, as they are written, each at the place that its bytes give.
#[derive(Debug)]
pub(super) struct RepeatedStrings(Vec<Repeated>);

#[derive(Debug, Clone, Default)]
struct Repeated {
    written: Vec<u8>,
    is_key: bool,
}

const PLACES: usize = 512;

/// Longest string that is kept, in bytes.
const BYTES_MAX: usize = 64;

impl RepeatedStrings {
    pub(super) fn new() -> Self {
        Self(vec![Repeated::default(); PLACES])
    }

    /// Whether nothing is in the string, nor in the name of its value, as in a line before.
    pub(super) fn has_string(&self, line: &[u8], string: &WrittenString) -> bool {
        !string.is_cut
            && self.has(&line[string.content.clone()], string.is_key)
            && string.key.as_ref().is_none_or(|key| self.has(&line[key.clone()], true))
    }

    /// Whether the string came before, as a key or not, and has nothing in it.
    fn has(&self, written: &[u8], is_key: bool) -> bool {
        let known = &self.0[place(written, is_key)];
        known.is_key == is_key && known.written == written
    }

    pub(super) fn add(&mut self, written: &[u8], is_key: bool) {
        if written.len() <= BYTES_MAX {
            let known = &mut self.0[place(written, is_key)];
            known.written.clear();
            known.written.extend_from_slice(written);
            known.is_key = is_key;
        }
    }
}

/// By the length, and by bytes at both ends and in the middle; a key is often a value, too.
fn place(written: &[u8], is_key: bool) -> usize {
    let length = written.len();
    let byte = |at: usize| written.get(at).map_or(0, |it| usize::from(*it));
    let ends = [byte(0), byte(2), byte(length / 2), byte(length.wrapping_sub(2))];
    ends.iter().fold(length + usize::from(is_key), |sum, byte| sum * 31 + byte) % PLACES
}
