//! `stream-json`: the bytes of the stream; of an array, one line for each element.

use super::{ArraySplitter, is_array};
use crate::json::Compactor;

/// Makes lines of a stream that arrives in pieces.
#[derive(Debug)]
pub struct StreamLines {
    wants_array: Option<bool>,
    form: LineForm,
}

#[derive(Debug)]
enum LineForm {
    /// The first bytes, which do not show the form.
    Unknown(Vec<u8>),
    Lines,
    Array(ArraySplitter, Compactor),
}

impl StreamLines {
    /// Unless the user says whether the stream is one array, its first bytes show it.
    pub fn new(wants_array: Option<bool>) -> Self {
        Self { wants_array, form: LineForm::Unknown(Vec::new()) }
    }

    /// A new stream begins.
    pub fn begin(&mut self) {
        self.form = LineForm::Unknown(Vec::new());
    }

    /// Calls `write` with the lines in the next bytes.
    pub fn push(&mut self, bytes: &[u8], write: impl FnOnce(&[u8])) {
        let mut bytes = bytes.to_vec();
        if let LineForm::Unknown(first) = &mut self.form {
            first.append(&mut bytes);
            let Some(is_array) = is_array(first, self.wants_array, false) else { return };
            bytes = self.settle(is_array);
        }
        if let LineForm::Array(array, compactor) = &mut self.form {
            let mut out = Vec::new();
            let length = array.split(&mut bytes, |_| ());
            compactor.push(&bytes[..length], &mut out);
            bytes = out;
        }
        write(&bytes);
    }

    /// The stream has ended.
    pub fn end(&mut self, write: impl FnOnce(&[u8])) {
        if let LineForm::Unknown(first) = &self.form {
            let is_array = is_array(first, self.wants_array, true) == Some(true);
            let bytes = self.settle(is_array);
            self.push(&bytes, write);
        } else if let LineForm::Array(array, _) = &self.form
            && array.lacks_line_end()
        {
            write(b"\n");
        }
    }

    /// The form is known now; returns the bytes that were kept.
    fn settle(&mut self, is_array: bool) -> Vec<u8> {
        let form = if is_array {
            LineForm::Array(ArraySplitter::default(), Compactor::default())
        } else {
            LineForm::Lines
        };
        match std::mem::replace(&mut self.form, form) {
            LineForm::Unknown(first) => first,
            LineForm::Lines | LineForm::Array(..) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Method: streams one after the other, each in pieces of every size.
    #[test]
    fn an_array_becomes_lines_and_lines_stay_as_they_are() {
        let streams = [
            ("[{\"a\": 1},\n {\"b\":[ 2]} ]\n", "{\"a\":1}\n{\"b\":[2]}\n"),
            ("[{\"a\":1}", "{\"a\":1}\n"),
            ("[]\n", ""),
            ("{\"a\": 1}\nx", "{\"a\": 1}\nx"),
            (" ", " "),
        ];
        let mut lines = StreamLines::new(None);
        for chunk in 1..20 {
            for (stream, expected) in streams {
                let mut out = Vec::new();
                lines.begin();
                for piece in stream.as_bytes().chunks(chunk) {
                    lines.push(piece, |bytes| out.extend_from_slice(bytes));
                }
                lines.end(|bytes| out.extend_from_slice(bytes));
                assert_eq!(String::from_utf8_lossy(&out), expected, "pieces of {chunk}");
            }
        }
    }
}
