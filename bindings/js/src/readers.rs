//! The open readers, by number.

use std::collections::BTreeMap;

use ndjson_check::{Event, ProducerExit, Reader, StreamSummary};
use serde::Serialize;

use crate::options::{Exit, Options};
use crate::output::Writing;

#[derive(Default)]
pub(crate) struct Readers {
    open: BTreeMap<u32, Open>,
    last: u32,
}

enum Open {
    /// Its answers are JSON.
    Events(Box<Reader>),
    /// Its answers are parts of a conversion or of a report.
    Writing(Box<Writing>),
}

#[derive(Serialize)]
struct Last {
    events: Vec<Event<'static>>,
    summary: StreamSummary,
}

impl Readers {
    pub(crate) fn open(&mut self, options: &[u8]) -> Result<u32, String> {
        let options: Options = serde_json::from_slice(options).map_err(text)?;
        let checker = options.checker()?;
        let open = match &options.output {
            None => Open::Events(Box::new(checker.reader(options.name()))),
            Some(output) => Open::Writing(Box::new(Writing::open(checker, &options, output))),
        };
        let mut number = self.last;
        loop {
            // After 4,294,967,295 readers they begin again.
            number = number.wrapping_add(1).max(1);
            if !self.open.contains_key(&number) {
                break;
            }
        }
        self.last = number;
        self.open.insert(number, open);
        Ok(number)
    }

    pub(crate) fn feed(&mut self, reader: u32, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let open = self.open.get_mut(&reader).ok_or_else(closed)?;
        let new = match open {
            Open::Events(reader) => reader.feed(bytes).map_err(text).and_then(|new| json(&new)),
            Open::Writing(writing) => writing.feed(bytes),
        };
        if new.is_err() {
            self.close(reader);
        }
        new
    }

    pub(crate) fn finish(&mut self, reader: u32, exit: &[u8]) -> Result<Vec<u8>, String> {
        let open = self.open.remove(&reader).ok_or_else(closed)?;
        let exit: Exit = serde_json::from_slice(exit).map_err(text)?;
        let exit = ProducerExit::from(exit);
        match open {
            Open::Events(reader) => {
                let last = reader.finish(&exit).map_err(text)?;
                json(&Last { events: last.events, summary: last.summary })
            }
            Open::Writing(writing) => writing.finish(&exit),
        }
    }

    pub(crate) fn close(&mut self, reader: u32) {
        self.open.remove(&reader);
    }
}

fn closed() -> String {
    "the stream is finished, or was lost by an earlier error".to_owned()
}

pub(crate) fn text(error: impl ToString) -> String {
    error.to_string()
}

fn json(of: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(of).map_err(text)
}
