//! The HTML report: a page for each stream, and an index of several.
//!
//! A page is one file that needs nothing else. It is written when its stream is complete; until
//! then a [`Recorder`] keeps what it will show, in bounded memory.

mod ansi;
mod arguments;
mod blocks;
mod call_entry;
mod call_recorder;
mod clock;
mod curves;
mod diff;
mod entries;
mod excerpt;
mod files;
mod filter;
mod folded;
mod index;
mod lanes;
mod legend;
mod markdown;
mod meter;
mod order;
mod page;
mod policy;
mod recorder;
mod recording;
mod silences;
mod stats;
mod ticks;
mod timeline;
mod title;
mod transcript;
mod words;

use std::collections::BTreeSet;
use std::io;

use ndjson_check_core::{
    CheckedLine, Diagnostic, Error, Event, StreamStart, StreamSummary, WantedEvents,
};

use self::index::Index;
use self::page::page;
use self::recorder::Recorder;
use self::recording::Recording;
use super::RunTotals;
use crate::limits::PAGES_MAX;
use crate::output::Output;

/// The pages of several streams: a folder next to the index.
pub struct PageFolder {
    /// Links from the index to the folder, and back.
    pub folder: String,
    /// The name of the index.
    pub index: String,
    /// Writes a page, by the name of its file.
    pub write: WritePage,
    /// Removes the pages of an earlier report. It gets the names of the files that this one wrote.
    pub remove_others: RemoveOthers,
}

type WritePage = Box<dyn FnMut(&str, &str) -> io::Result<()>>;
type RemoveOthers = Box<dyn FnMut(&BTreeSet<String>) -> io::Result<()>>;

/// Writes the HTML report. Of one stream it is its page; of several it is the index, and their
/// pages are in a folder.
pub struct Html {
    pages: PageFolder,
    index: Index,
    /// The open stream, and its name.
    recorder: Option<(Recorder, String)>,
    /// The first stream, while it is the only one.
    first: Option<Box<Recording>>,
    /// Pages of streams that did not pass, and of others.
    written: [usize; 2],
    files: BTreeSet<String>,
    /// Why a page could not be written; none is written after it.
    failure: Option<io::Error>,
}

impl Html {
    /// The pages of several streams go to `pages`.
    pub fn new(pages: PageFolder) -> Self {
        Self {
            pages,
            index: Index::default(),
            recorder: None,
            first: None,
            written: [0; 2],
            files: BTreeSet::new(),
            failure: None,
        }
    }

    fn write(&mut self, recording: &Recording) {
        let is_good = recording.headline.passed;
        if self.written[usize::from(is_good)] == PAGES_MAX {
            self.index.omit(&recording.summary, &recording.headline);
            return;
        }
        self.written[usize::from(is_good)] += 1;
        let file = file_name(self.written.iter().sum(), &recording.summary.name);
        let text = page(recording, Some(&self.pages.index));
        if self.failure.is_none() {
            self.failure = (self.pages.write)(&file, &text).err();
        }
        let link = format!("{}/{file}", self.pages.folder);
        self.index.add(recording, &link);
        self.files.insert(file);
    }

    fn write_first(&mut self) {
        if let Some(first) = self.first.take() {
            self.write(&first);
        }
    }
}

impl Output for Html {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.write_first();
        self.recorder = Some((Recorder::new(start.title()), start.name().to_owned()));
        Ok(())
    }

    fn event(&mut self, event: &CheckedLine<'_>, _: &mut String) {
        if let Some((recorder, _)) = &mut self.recorder {
            recorder.event(event);
        }
    }

    fn events(&mut self, events: &[Event<'_>], _: &mut String) {
        if let Some((recorder, _)) = &mut self.recorder {
            recorder.end_messages(events.iter().filter(|event| event.at.line.is_none()));
        }
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        if let Some((recorder, _)) = &mut self.recorder {
            recorder.diagnostic(diagnostic);
        }
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let Some((recorder, _)) = self.recorder.take() else { return };
        let recording = recorder.finish(summary);
        if self.index.is_empty() {
            self.first = Some(Box::new(recording));
        } else {
            self.write(&recording);
        }
    }

    fn error(&mut self, message: &str, _: &mut String) {
        self.write_first();
        let stream = self.recorder.take().map(|(_, name)| name);
        self.index.error(stream.as_deref(), message);
    }

    fn end(&mut self, totals: &RunTotals, exit_code: u8, out: &mut String) -> io::Result<()> {
        let text = match self.first.take() {
            Some(only) => page(&only, None),
            None => self.index.page(totals, exit_code),
        };
        out.push_str(&text);
        self.failure.take().map_or(Ok(()), Err)?;
        (self.pages.remove_others)(&self.files)
    }

    fn wants(&self) -> WantedEvents {
        WantedEvents::ALL
    }

    fn shows_stats(&self) -> bool {
        true
    }
}

/// The name of the file of a page: its number, and the plain letters in the name of its stream.
fn file_name(number: usize, stream: &str) -> String {
    let file = stream.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut words = String::new();
    for character in file.chars().take(60) {
        if character.is_ascii_alphanumeric() {
            words.push(character.to_ascii_lowercase());
        } else if !words.is_empty() && !words.ends_with('-') {
            words.push('-');
        }
    }
    format!("{number:04}-{}", words.trim_end_matches('-')).trim_end_matches('-').to_owned()
        + ".html"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name(1, "a/b/Plain run.ndjson#2"), "0001-plain-run-ndjson-2.html");
        assert_eq!(file_name(12, "\u{202e}../"), "0012.html");
        assert!(file_name(1, &"a".repeat(5_000)).len() < 80);
    }
}
