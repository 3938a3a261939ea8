//! JSON without white space.

/// Removes the white space outside strings from JSON lines that arrive in pieces, and keeps `\n`.
#[derive(Debug, Default)]
pub(crate) struct Compactor {
    is_in_string: bool,
    is_escaped: bool,
    last: u8,
    has_space: bool,
}

impl Compactor {
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for &byte in bytes {
            if self.is_in_string {
                self.is_in_string = self.is_escaped || byte != b'"';
                self.is_escaped = !self.is_escaped && byte == b'\\';
            } else if matches!(byte, b' ' | b'\t' | b'\r') {
                self.has_space = true;
                continue;
            } else {
                self.is_in_string = byte == b'"';
                // Without the space, what is not JSON could become JSON: `1 2`.
                if self.has_space && is_of_word(self.last) && is_of_word(byte) {
                    out.push(b' ');
                }
            }
            self.has_space = false;
            self.last = byte;
            out.push(byte);
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    !matches!(byte, 0 | b'\n' | b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"')
}

/// The same for one text.
pub(crate) fn compact(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    Compactor::default().push(text, &mut out);
    out
}
