//! What an event means, in words that no producer invented: [`Facts`].

mod plan;
mod raw_str;
mod reader;
mod recipe;
mod tag_rules;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use smallvec::SmallVec;

use crate::stream::event::Node;
use crate::limits::CALL_ID_BYTES_MAX;
use crate::profile::{CallOutcome, RunOutcome, WithoutStart};
use crate::rules::escape::{clipped, shown};

pub use plan::Plan;
pub use raw_str::Prose;
pub use reader::Reader;
pub use recipe::Recipe;

/// What one event means.
#[derive(Debug)]
pub struct Facts<'e> {
    /// The number of its line, from 1.
    pub line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub offset: u64,
    /// Its tag, the parts joined by `/`; empty if it has none.
    pub tag: Rc<str>,
    /// What the profile knows of the tag.
    pub standing: Standing,
    /// Whether a rule of the profile holds and what it points to is not there.
    pub incomplete: bool,
    /// The session it belongs to.
    pub session: Option<Cow<'e, str>>,
    /// Its time in milliseconds.
    pub time: Option<f64>,
    /// What the facts are about.
    subjects: u8,
    list: SmallVec<[Fact<'e>; 1]>,
}

/// What facts are about; a stage that none of them concerns need not look at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The session's start.
    Start = 1,
    /// Tool calls.
    Call = 2,
    /// The assistant's text, and what ends a piece of it.
    Text = 4,
    /// The outcome of the run.
    End = 8,
}

impl<'e> Facts<'e> {
    /// Those of an event that tells nothing but its tag, so far.
    #[inline]
    pub fn new(line: u64, offset: u64, tag: Rc<str>, standing: Standing) -> Self {
        Self {
            line,
            offset,
            tag,
            standing,
            incomplete: false,
            session: None,
            time: None,
            subjects: 0,
            list: SmallVec::new(),
        }
    }

    /// Adds a fact.
    #[inline]
    pub fn push(&mut self, fact: Fact<'e>) {
        self.subjects |= fact.subject() as u8;
        self.list.push(fact);
    }

    /// The facts, in the order in which the stages want them.
    pub fn list(&self) -> &[Fact<'e>] {
        &self.list
    }

    /// The event as messages name it.
    pub fn named(&self) -> String {
        if self.tag.is_empty() { "without a tag".to_owned() } else { shown(&self.tag) }
    }

    /// Whether one of them is about this.
    #[inline]
    pub fn are_about(&self, subject: Subject) -> bool {
        self.subjects & subject as u8 != 0
    }
}

/// What a profile knows of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The producer's documentation promises it, or it tells the run's outcome.
    Documented,
    /// It is known from real streams only.
    Observed,
    /// The profile does not know it.
    Unknown,
}

/// One thing that an event says, besides its session and time.
#[derive(Debug)]
pub enum Fact<'e> {
    /// A session begins.
    SessionStart,
    /// The directory the agent works in.
    Directory(Cow<'e, str>),
    /// A tool call starts.
    CallStarted(Box<Call<'e>>),
    /// A tool call completes.
    CallCompleted(Box<Call<'e>>, CallOutcome),
    /// The group that the texts after it belong to.
    Group(Cow<'e, str>),
    /// Text to append to the open segment.
    TextDelta(Cow<'e, str>),
    /// The text of a whole segment.
    TextWhole(Cow<'e, str>),
    /// The text of the answer.
    FinalText(Prose<'e>),
    /// The open text segment ends here.
    Boundary,
    /// An error; with a fatal one the run cannot succeed.
    Error {
        /// Whether it is one.
        fatal: bool,
    },
    /// How the run goes, so far.
    Verdict(RunOutcome),
    /// After the end of a turn a new one begins.
    Reopen,
    /// It may come after the end of the run.
    Epilogue,
    /// The run ends here, with this outcome.
    Terminal(Box<Last>),
    /// The run's outcome, from a producer without a terminal event.
    Outcome(Box<Last>),
}

impl Fact<'_> {
    /// What it is about.
    #[inline]
    pub fn subject(&self) -> Subject {
        match self {
            Self::SessionStart | Self::Directory(_) => Subject::Start,
            Self::CallStarted(_) | Self::CallCompleted(..) => Subject::Call,
            Self::Group(_)
            | Self::TextDelta(_)
            | Self::TextWhole(_)
            | Self::FinalText(_)
            | Self::Boundary => Subject::Text,
            Self::Error { .. }
            | Self::Verdict(_)
            | Self::Reopen
            | Self::Epilogue
            | Self::Terminal(_)
            | Self::Outcome(_) => Subject::End,
        }
    }
}

/// One half of a tool call.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Call<'e> {
    /// What correlates the halves.
    pub id: CallId,
    /// The tool's name, if the event names one.
    pub tool: Option<Cow<'e, str>>,
    /// Whether the profile knows the tool.
    pub tool_known: bool,
    /// Whether the profile knows the kind of result; a start has none.
    pub result_known: bool,
    /// Whether this half may come again.
    pub repeat: bool,
    /// What a completion is if there was no start.
    pub alone: WithoutStart,
    /// Whether a completion says two things at once.
    pub contradicts: bool,
    /// The half itself: the event, or an element of an array in it.
    pub object: Node<'e>,
    /// What both halves must have in common, in the order of the profile's `same`.
    pub same: Vec<Option<Node<'e>>>,
}

/// What the producer says at the end of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Last {
    /// The outcome; without one the latest verdict tells it.
    pub outcome: Option<RunOutcome>,
    /// Whether it is the end only if nothing follows.
    pub suspect: bool,
    /// The run's duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// The tokens it used.
    pub usage: Usage,
}

/// Token counts, where the producer gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input_tokens: Option<u64>,
    /// Tokens it wrote.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_write_tokens: Option<u64>,
}

/// What correlates the two halves of a tool call. Opaque: any strings, line breaks included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallId {
    /// The parts with a space between them, or the start of that.
    text: Box<str>,
    /// What `text` does not tell of a long id, or of one with several parts.
    rest: u64,
}

impl CallId {
    /// The id that these parts make together.
    pub fn new(parts: &[Cow<'_, str>]) -> Self {
        let text = match parts {
            [part] => Cow::Borrowed(&**part),
            parts => Cow::Owned(parts.join(" ")),
        };
        let whole = text.len() <= CALL_ID_BYTES_MAX;
        let rest = if whole && parts.len() == 1 {
            0
        } else {
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        Self { text: clipped(&text, CALL_ID_BYTES_MAX).into(), rest }
    }

    /// The id as reports show it; the start of a very long one.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
