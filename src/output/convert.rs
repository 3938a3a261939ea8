//! The stream in another form, while it arrives: one file for each target.

mod actions;
mod answer;
mod json;
mod text;
mod transcript;
mod valid;

use std::io::{self, Write};

use crate::stream::event::Event;
use crate::facts::Facts;
use crate::limits::CONVERTED_BYTES_MAX;
use crate::stream::line::Line;
use crate::profile::Profile;
use crate::check::stage::text::Piece;
use crate::check::verdict::Outcome;

/// An event, with all that is known of it.
pub struct Seen<'a, 'f> {
    /// Its line.
    pub line: &'a Line<'a>,
    /// The event; none where the memory of shapes stands for it: it starts, completes and ends
    /// nothing then.
    pub event: Option<&'a Event<'a>>,
    /// What it means.
    pub facts: &'a Facts<'f>,
    /// The text that is new in it.
    pub pieces: &'a [Piece<'a>],
    /// Whether it satisfies the schemas.
    pub valid: bool,
    /// Whether it belongs to the run: it does not if the terminal event came before it.
    pub in_run: bool,
}

/// Somebody who wants the stream in another form. It never fails: it remembers.
pub trait Convert {
    /// An event, as it arrives.
    fn event(&mut self, seen: &Seen<'_, '_>);

    /// All lines that have arrived are converted: what was made of them is to leave.
    fn flush(&mut self);

    /// The end of the stream: nothing more is to come of what has begun.
    fn end(&mut self);

    /// The outcome of the run; the next stream follows, if there is one.
    fn finish(&mut self, outcome: Outcome);

    /// The stream could not be read to its end; the next one follows, if there is one.
    fn abandon(&mut self);
}

/// Nothing is converted.
impl Convert for () {
    fn event(&mut self, _: &Seen<'_, '_>) {}

    fn flush(&mut self) {}

    fn end(&mut self) {}

    fn finish(&mut self, _: Outcome) {}

    fn abandon(&mut self) {}
}

/// What a stream is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One line for each action.
    Text,
    /// The assistant's text with the actions between.
    Transcript,
    /// The final message.
    Answer,
    /// The single object of the producer's non-streaming format.
    Json,
    /// The events that satisfy the schemas, byte for byte.
    Valid,
}

impl Form {
    /// Whether it is text for people, and not JSON.
    pub fn is_text(self) -> bool {
        match self {
            Self::Text | Self::Transcript | Self::Answer => true,
            Self::Json | Self::Valid => false,
        }
    }
}

/// How the parts of one form are made. What is to be written is appended to `out`.
trait Converter {
    fn event(&mut self, seen: &Seen<'_, '_>, out: &mut Vec<u8>);

    /// What a stream leaves open is closed; nothing for most.
    fn end(&mut self, _: &mut Vec<u8>) {}

    /// What only the outcome of the run decides; nothing for most.
    fn finish(&mut self, _: Outcome, _: &mut Vec<u8>) {}
}

/// A conversion of one or more streams, one after the other.
pub struct Conversion<'p> {
    profile: &'p Profile,
    form: Form,
    raw: bool,
    converter: Box<dyn Converter + 'p>,
    /// None once the reader has gone away or writing has failed.
    writer: Option<Box<dyn Write>>,
    failure: Option<io::Error>,
    out: Vec<u8>,
}

impl<'p> Conversion<'p> {
    /// Converts events of this profile; `raw` leaves control characters as they are.
    pub fn new(profile: &'p Profile, form: Form, raw: bool, writer: impl Write + 'static) -> Self {
        Self {
            profile,
            form,
            raw,
            converter: converter(profile, form, raw),
            writer: Some(Box::new(writer)),
            failure: None,
            out: Vec::new(),
        }
    }

    /// What streams are converted to.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The next stream has events of this profile.
    pub fn follow(&mut self, profile: &'p Profile) {
        self.profile = profile;
        self.abandon();
    }

    /// Why something could not be written; a reader that went away is no failure.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Writes what the converter made, in one go, so that it leaves at once.
    fn deliver(&mut self) {
        if self.out.is_empty() {
            return;
        }
        if let Some(writer) = &mut self.writer
            && let Err(error) = writer.write_all(&self.out).and_then(|()| writer.flush())
        {
            self.writer = None;
            self.failure = Some(error).filter(|it| it.kind() != io::ErrorKind::BrokenPipe);
        }
        self.out.clear();
    }
}

impl Convert for Conversion<'_> {
    fn event(&mut self, seen: &Seen<'_, '_>) {
        self.converter.event(seen, &mut self.out);
        if self.out.len() >= CONVERTED_BYTES_MAX {
            self.deliver();
        }
    }

    fn flush(&mut self) {
        self.deliver();
    }

    fn end(&mut self) {
        self.converter.end(&mut self.out);
        self.deliver();
    }

    fn finish(&mut self, outcome: Outcome) {
        self.converter.finish(outcome, &mut self.out);
        self.deliver();
        self.abandon();
    }

    fn abandon(&mut self) {
        self.converter = converter(self.profile, self.form, self.raw);
    }
}

fn converter(profile: &Profile, form: Form, raw: bool) -> Box<dyn Converter + '_> {
    match form {
        Form::Text => Box::new(text::Text::new(profile, raw)),
        Form::Transcript => Box::new(transcript::Transcript::new(profile, raw)),
        Form::Answer => Box::new(answer::Answer::new(raw)),
        Form::Json => Box::new(json::Json::new(profile, raw)),
        Form::Valid => Box::new(valid::Valid),
    }
}
