//! Redaction: replaces secrets in a stream before it is written.
//!
//! It works on lines, and every output of a redacted stream is made from the redacted lines: what
//! is not in them cannot be in a copy, a conversion, or a message of a report. The one exception
//! is the message of an expectation, which can name keys of the answer.

mod content;
mod finder;
mod formats;
mod secrets;
mod written;

use content::ContentStream;
use finder::{SecretFinder, TextEnd};
use secrets::SecretLines;

use crate::check::{Checker, Observer};
use crate::limits::LINE_BYTES_MAX;
use crate::rules::diagnostic::Diagnostic;

/// Replaces secrets in a stream, or all its content.
#[derive(Debug)]
pub struct Redactor {
    content: Option<Content>,
    lines: SecretLines,
    texts: SecretFinder,
    /// The start of a line.
    partial: Vec<u8>,
    /// Whether the start of the line was too long to wait for its end.
    is_in_long_line: bool,
}

/// What is content.
#[derive(Debug)]
enum Content {
    OfStream(Box<ContentStream>),
    /// Every letter and digit.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the program has such texts"))]
    OfText,
}

/// A secret by its value.
#[derive(Debug, Clone)]
pub struct SecretValue {
    name: String,
    value: String,
}

/// Shortest value that is looked for, in bytes. A shorter one would be found everywhere.
pub const SECRET_BYTES_MIN: usize = 8;

impl SecretValue {
    /// A value to replace by its name; none if it is shorter than [`SECRET_BYTES_MIN`].
    pub fn new(name: &str, value: &str) -> Option<Self> {
        let is_long = value.len() >= SECRET_BYTES_MIN;
        is_long.then(|| Self { name: name.to_owned(), value: value.to_owned() })
    }

    /// The value as it is, as JSON writes it once more, and in base64.
    fn forms(&self) -> Vec<Vec<u8>> {
        let json = serde_json::to_string(&self.value).unwrap_or_default();
        let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
        let mut forms = vec![self.value.as_bytes().to_vec(), json.as_bytes().to_vec()];
        for offset in 0..3 {
            forms.extend(ALPHABETS.map(|alphabet| base64(self.value.as_bytes(), offset, alphabet)));
        }
        forms.sort();
        forms.dedup();
        forms.retain(|form| form.len() >= SECRET_BYTES_MIN);
        forms
    }
}

const ALPHABETS: [&[u8; 64]; 2] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
];

/// The characters that a value makes in base64, whatever is around it, where it begins at this
/// offset of a group of three bytes.
fn base64(value: &[u8], offset: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bits = |at: usize| -> Option<u8> {
        let byte = (at / 8).checked_sub(offset).and_then(|it| value.get(it))?;
        Some(byte >> (7 - at % 8) & 1)
    };
    let characters = (0..(value.len() + offset) * 8 / 6).filter_map(|character| {
        let index = (character * 6..character * 6 + 6)
            .try_fold(0, |index, at| bits(at).map(|bit| index << 1 | usize::from(bit)))?;
        Some(alphabet[index])
    });
    characters.collect()
}

impl Redactor {
    /// Replaces the known formats of secrets, and these values.
    pub fn secrets(values: &[SecretValue]) -> Self {
        let values: Vec<_> = values.iter().map(|it| (it.name.clone(), it.forms())).collect();
        Self {
            content: None,
            lines: SecretLines::new(SecretFinder::new(&values)),
            texts: SecretFinder::new(&values),
            partial: Vec::new(),
            is_in_long_line: false,
        }
    }

    /// Replaces every text, argument, path and output of a stream by filler, so that this checker
    /// judges it the same; and secrets in what is left.
    pub fn content(checker: &Checker, values: &[SecretValue]) -> Self {
        let content = Content::OfStream(Box::new(ContentStream::new(checker)));
        Self { content: Some(content), ..Self::secrets(values) }
    }

    /// The same for a text that is not a stream: every letter and digit.
    #[cfg(feature = "cli")]
    pub(crate) fn content_of_text(values: &[SecretValue]) -> Self {
        Self { content: Some(Content::OfText), ..Self::secrets(values) }
    }

    /// Takes bytes of the stream, cut anywhere; appends what is ready.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut filled = Vec::new();
        match &mut self.content {
            Some(Content::OfStream(content)) => content.feed(bytes, &mut filled),
            Some(Content::OfText) | None => return self.feed_lines(bytes, out),
        }
        self.feed_lines(&filled, out);
    }

    fn feed_lines(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(at + 1);
            rest = behind;
            if self.partial.is_empty() && !self.is_in_long_line {
                self.line(line, out);
                continue;
            }
            self.partial.extend_from_slice(line);
            self.end_line(out);
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() as u64 > LINE_BYTES_MAX {
            self.long_line(out);
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if let Some(Content::OfText) = self.content {
            self.lines.line(&content::filled_text(line), out);
        } else {
            self.lines.line(line, out);
        }
    }

    /// The end of the stream; appends the rest of it.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if let Some(Content::OfStream(content)) = &mut self.content {
            let mut filled = Vec::new();
            content.finish(&mut filled);
            self.feed_lines(&filled, out);
        }
        if !self.partial.is_empty() {
            self.end_line(out);
        }
        self.lines.finish(out);
    }

    /// A text outside the stream, such as standard error.
    pub fn text(&self, text: &str) -> String {
        let filled = self.content.is_some().then(|| content::filled_text(text.as_bytes()));
        let text = filled.as_deref().unwrap_or(text.as_bytes());
        let redacted = self.texts.redacted(text, TextEnd::Final);
        String::from_utf8_lossy(&redacted).into_owned()
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.partial);
        if std::mem::take(&mut self.is_in_long_line) {
            let line = match self.content {
                Some(Content::OfText) => content::filled_text(&line),
                Some(Content::OfStream(_)) | None => line,
            };
            out.extend(self.texts.redacted(&line, TextEnd::Final));
        } else {
            self.line(&line, out);
        }
    }

    /// A line without end is searched as plain text, so that it need not be kept.
    fn long_line(&mut self, out: &mut Vec<u8>) {
        self.lines.finish(out);
        self.is_in_long_line = true;
        let open = self.texts.search(&self.partial, 0, TextEnd::Open).open;
        let rest = self.partial.split_off(open.unwrap_or(self.partial.len()));
        let mut ready = std::mem::replace(&mut self.partial, rest);
        if let Some(Content::OfText) = self.content {
            ready = content::filled_text(&ready);
        }
        out.extend(self.texts.redacted(&ready, TextEnd::Final));
    }
}

/// To replace content, a redactor observes the check of the same stream: two texts that differ must
/// not become equal. What is found in a line is observed before the line is redacted.
impl Observer for Redactor {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        if let Some(Content::OfStream(content)) = &mut self.content {
            content.observe(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests;
