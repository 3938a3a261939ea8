//! What the thread of a run has sent, until Python reads it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use ndjson_check::{Event, ProducerExit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::pipes::Pipe;
use crate::event;
use crate::failure::Failure;

/// Events of one batch.
const BATCH_MAX: usize = 256;
/// How often a wait looks for signals of Python and for `close`.
const LOOK: Duration = Duration::from_millis(50);

pub(super) enum Message {
    Event(Box<Event<'static>>),
    /// What the command wrote, for those who asked for it.
    Written(Pipe, Vec<u8>),
    TurnEnd,
    Failed(Failure),
    Finished(Finished),
}

/// What is known once the run is over.
pub(super) struct Finished {
    /// The summary as JSON.
    pub(super) summary: String,
    pub(super) stderr_tail: Vec<String>,
    pub(super) exit: ProducerExit,
}

/// A part of a batch.
pub(super) enum Item {
    Event(Box<Event<'static>>),
    Written(Pipe, Vec<u8>),
    TurnEnd,
}

impl Item {
    /// An event, the name of an output and its bytes, or None for the end of a turn.
    pub(super) fn object(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let (pipe, bytes) = match self {
            Self::Event(event) => return event::wrap(py, *event),
            Self::Written(pipe, bytes) => (pipe, bytes),
            Self::TurnEnd => return Ok(py.None()),
        };
        let name = match pipe {
            Pipe::Stdout => "stdout",
            Pipe::Stderr => "stderr",
        };
        Ok((name, PyBytes::new(py, &bytes)).into_pyobject(py)?.into_any().unbind())
    }
}

pub(super) struct Inbox {
    /// None when the run is closed or finished.
    pub(super) messages: Option<Receiver<Message>>,
    pub(super) result: Option<Finished>,
    /// Why no more events come, until that is said.
    failure: Option<Failure>,
}

impl Inbox {
    pub(super) fn new(messages: Receiver<Message>) -> Self {
        Self { messages: Some(messages), result: None, failure: None }
    }

    /// None if nothing has come in a short time.
    pub(super) fn wait(&mut self) -> Result<Option<Vec<Item>>, Failure> {
        let Self { messages, result, failure } = self;
        if let Some(failure) = failure.take() {
            *messages = None;
            return Err(failure);
        }
        let Some(receiver) = messages.as_ref() else { return Ok(Some(Vec::new())) };
        let mut items = Vec::new();
        let mut next = receiver.recv_timeout(LOOK);
        loop {
            match next {
                Ok(Message::Event(event)) => items.push(Item::Event(event)),
                Ok(Message::Written(pipe, bytes)) => items.push(Item::Written(pipe, bytes)),
                Ok(Message::TurnEnd) => items.push(Item::TurnEnd),
                Ok(Message::Failed(why)) if items.is_empty() => {
                    *messages = None;
                    return Err(why);
                }
                Ok(Message::Failed(why)) => {
                    // What came before it is read first.
                    *failure = Some(why);
                    return Ok(Some(items));
                }
                Ok(Message::Finished(finished)) => *result = Some(finished),
                Err(RecvTimeoutError::Disconnected) => {
                    *messages = None;
                    return Ok(Some(items));
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Ok(Some(items).filter(|items| !items.is_empty()));
                }
            }
            if items.len() >= BATCH_MAX {
                return Ok(Some(items));
            }
            // What is there already comes in the same batch, without a wait for more.
            let wait = if items.is_empty() { LOOK } else { Duration::ZERO };
            next = receiver.recv_timeout(wait);
        }
    }
}
