//! Redaction: replaces secrets in a stream before it is written.
//!
//! It works on lines, and every output of a redacted stream is made from the redacted lines: what
//! is not in them cannot be in a copy, a conversion, or a message of a report. The one exception
//! is the message of an expectation, which can name keys of the answer.

mod content;
mod delta_text;
mod held;
mod known_lines;
mod open_text;
mod open_texts;
mod repeated;
mod secrets;
mod siblings;
mod texts;
mod written;

use std::sync::Arc;

use ndjson_check_secrets::SecretFinder;
pub use ndjson_check_secrets::SecretValue;

use content::ContentStream;
use held::{HeldLines, TextPart};
use secrets::SecretLines;
use written::{decoded, located};

use crate::check::{Checker, Observer, StreamStart};
use crate::error::Error;
use crate::limits::LINE_BYTES_MAX;
use crate::rules::diagnostic::Diagnostic;

/// Replaces secrets in a stream, or all its content.
#[derive(Debug)]
pub struct Redactor {
    content: Option<Content>,
    lines: SecretLines,
    finder: Arc<SecretFinder>,
    partial: Vec<u8>,
    /// Whether the start of the line was too long to wait for its end.
    is_in_long_line: bool,
}

#[derive(Debug)]
enum Content {
    OfStream(Box<ContentStream>),
    /// Every letter and digit.
    OfText,
}

impl Redactor {
    /// Replaces the known formats of secrets, and these values.
    pub fn secrets(values: &[SecretValue]) -> Self {
        let finder = Arc::new(SecretFinder::new(values));
        Self {
            content: None,
            lines: SecretLines::new(Arc::clone(&finder)),
            finder,
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
    pub fn content_of_text(values: &[SecretValue]) -> Self {
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

    /// A text outside the stream, such as a message.
    pub fn text(&self, text: &str) -> String {
        let mut filled = text.as_bytes().to_vec();
        if self.content.is_some() {
            filled = content::filled_text(&filled);
        }
        let mut out = Vec::new();
        self.plain(&filled, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A line of standard error, which is judged with the stream.
    pub fn stderr_line(&mut self, line: &str) -> String {
        let Some(Content::OfStream(content)) = &mut self.content else { return self.text(line) };
        let filled = content.stderr_line(line);
        let mut out = Vec::new();
        self.plain(&filled, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    fn end_line(&mut self, out: &mut Vec<u8>) {
        if !self.is_in_long_line {
            let line = std::mem::take(&mut self.partial);
            return self.line(&line, out);
        }
        self.is_in_long_line = false;
        let whole = self.partial.len();
        self.long_line_part(whole, out);
    }

    /// A line without end is searched as one string, so that it need not be kept.
    fn long_line(&mut self, out: &mut Vec<u8>) {
        self.lines.finish(out);
        self.is_in_long_line = true;
        let text = decoded(&self.partial);
        let search = self.finder.search(&text, 0);
        let tail = search.tail.map(|tail| tail.start);
        let last = search.found.last().filter(|it| it.may_go_on).map(|it| it.range.start);
        let open = tail.or(last).unwrap_or(text.len());
        let open = located(&self.partial, std::iter::once(open..open));
        self.long_line_part(open[0].start, out);
    }

    fn long_line_part(&mut self, length: usize, out: &mut Vec<u8>) {
        let rest = self.partial.split_off(length);
        let mut ready = std::mem::replace(&mut self.partial, rest);
        if let Some(Content::OfText) = self.content {
            ready = content::filled_text(&ready);
        }
        self.plain(&ready, out);
    }

    /// Appends bytes with their secrets replaced, read as one string.
    fn plain(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let text = decoded(bytes);
        let found = self.finder.search(&text, 0).found;
        let mut held = HeldLines::default();
        let line = held.push(bytes);
        let piece =
            TextPart { line, content: 0..bytes.len(), part: 0..text.len(), is_plain: false };
        held.replace_found(&piece, &found, &self.finder);
        held.release(u64::MAX, out);
    }
}

/// A redactor observes the check of the same stream, and what is found in a line before the line is
/// redacted. The profile says which events make one text, and where content is replaced, two texts
/// that differ must not become equal.
impl Observer for Redactor {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.lines.use_profile(&start.profile);
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        if let Some(Content::OfStream(content)) = &mut self.content {
            content.observe(diagnostic);
        }
    }
}

#[cfg(test)]
mod tests;
