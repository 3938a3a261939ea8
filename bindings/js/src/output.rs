//! Streams that are written in another form, or as a report, while they arrive.

use ndjson_check::{Checker, Error, Observer, Output, ProducerExit, StreamCheck, Written};
use ndjson_check_formats::single;
use self_cell::MutBorrow;

use crate::events::EventArray;
use crate::options::Options;

self_cell::self_cell!(
    struct OwnStream {
        owner: MutBorrow<Checker>,
        #[not_covariant]
        dependent: OpenStream,
    }
);

/// None when it is finished.
type OpenStream<'c> = Option<StreamCheck<'c>>;

enum Writer {
    Events(Box<EventArray>),
    Text(Written<Vec<u8>>),
}

impl Writer {
    fn observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::Events(events) => &mut **events,
            Self::Text(written) => written,
        }
    }
}

pub(crate) struct Writing {
    stream: OwnStream,
    writer: Writer,
}

impl Writing {
    pub(crate) fn open(checker: Checker, options: &Options, name: &str) -> Result<Self, String> {
        let output: Option<Box<dyn Output>> = options.output()?;
        let writer = match output {
            None => Writer::Events(Box::default()),
            Some(output) => Writer::Text(Written::new(Vec::new(), output)),
        };
        let stream = OwnStream::new(MutBorrow::new(checker), |checker| {
            Some(checker.borrow_mut().stream(name))
        });
        Ok(Self { stream, writer })
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let observer = self.writer.observer();
        self.stream
            .with_dependent_mut(|_, stream| match stream {
                Some(stream) => stream.feed(bytes, observer),
                None => Ok(()),
            })
            .map_err(|error| message(&error))?;
        Ok(match &mut self.writer {
            Writer::Events(events) => events.take(),
            Writer::Text(written) => taken(written),
        })
    }

    /// See [`EventArray::state`]; 0 for other outputs.
    pub(crate) fn state(&mut self) -> u32 {
        match &mut self.writer {
            Writer::Events(events) => events.state(),
            Writer::Text(_) => 0,
        }
    }

    /// See [`EventArray::turn_end`]; 0 for other outputs.
    pub(crate) fn turn_end(&mut self) -> u32 {
        match &mut self.writer {
            Writer::Events(events) => events.turn_end(),
            Writer::Text(_) => 0,
        }
    }

    /// The last part. Of events it is an object with them and the summary.
    pub(crate) fn finish(mut self, exit: &ProducerExit) -> Result<Vec<u8>, String> {
        let observer = self.writer.observer();
        let summary = self
            .stream
            .with_dependent_mut(|_, stream| stream.take().map(|it| it.finish(exit, observer)))
            .ok_or("the stream is finished")?
            .map_err(|error| message(&error))?;
        Ok(match &mut self.writer {
            Writer::Events(events) => {
                let last = events.take();
                let names = [&b"{\"events\":"[..], b",\"summary\":"];
                [names[0], &last, names[1], &events.summary, b"}"].concat()
            }
            Writer::Text(written) => {
                single::end(written, &summary);
                taken(written)
            }
        })
    }
}

/// What was written since the last call. Nothing can fail: it is in memory.
fn taken(written: &mut Written<Vec<u8>>) -> Vec<u8> {
    written.writer().map(std::mem::take).unwrap_or_default()
}

/// Why a stream cannot be checked, and what helps. A stream without a name is not named.
fn message(error: &Error) -> String {
    let hint = match error {
        Error::UnknownAgent { .. } => {
            "; choose a profile, such as `claude-like` for a relative of Claude Code, or `jsonl` \
             for any JSON Lines"
        }
        Error::UnreadFormat { .. } => "; the profile `jsonl` checks any JSON Lines",
        Error::AmbiguousStream { .. } => "; choose one of them as the profile",
        _ => "",
    };
    let said = format!("{error}{hint}");
    said.strip_prefix("-: ").map(str::to_owned).unwrap_or(said)
}
