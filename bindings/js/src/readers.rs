//! The open readers, by number.

use std::collections::BTreeMap;

use ndjson_check::{Checker, ProducerExit};

use crate::options::{Exit, Options};
use crate::output::Writing;

#[derive(Default)]
pub(crate) struct Readers {
    open: BTreeMap<u32, Box<Writing>>,
    last: u32,
    /// The latest checker and what it was built from: most readers of a program want the same one,
    /// and clones share profiles.
    latest: Option<(Options, Checker)>,
}

impl Readers {
    pub(crate) fn open(&mut self, options: &[u8]) -> Result<u32, String> {
        let mut options: Options = serde_json::from_slice(options).map_err(text)?;
        let name = options.name.take();
        let checker = match self.latest.take().filter(|(latest, _)| *latest == options) {
            Some((_, checker)) => checker,
            None => options.checker()?,
        };
        let open = Writing::open(checker.clone(), &options, name.as_deref().unwrap_or("-"));
        self.latest = Some((options, checker));
        let open = Box::new(open?);
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
        let new = open.feed(bytes);
        if new.is_err() {
            self.close(reader);
        }
        new
    }

    pub(crate) fn finish(&mut self, reader: u32, exit: &[u8]) -> Result<Vec<u8>, String> {
        let open = self.open.remove(&reader).ok_or_else(closed)?;
        let exit: Exit = serde_json::from_slice(exit).map_err(text)?;
        let exit = ProducerExit::from(exit);
        open.finish(&exit)
    }

    pub(crate) fn state(&mut self, reader: u32) -> u32 {
        self.open.get_mut(&reader).map_or(0, |open| open.state())
    }

    pub(crate) fn turn_end(&mut self, reader: u32) -> u32 {
        self.open.get_mut(&reader).map_or(0, |open| open.turn_end())
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
