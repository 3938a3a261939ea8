//! Which facts an event tells, before their values are read.

use std::borrow::Cow;
use std::rc::Rc;

use smallvec::SmallVec;

use super::{Fact, Facts, Prose, Standing};
use crate::stream::event::Node;
use crate::profile::TextMode;

/// Which facts an event tells, and where in it their values stand.
///
/// All decisions have been made, so all that they rest on has been looked at. The values of the
/// steps that name a node have not: whatever they are, the steps are the same.
#[derive(Debug)]
pub struct Plan<'e> {
    pub(super) tag: Rc<str>,
    pub(super) standing: Standing,
    pub(super) incomplete: bool,
    /// Looked at: within a session it is the same in every line.
    pub(super) session: Option<Cow<'e, str>>,
    /// A number.
    pub(super) time: Option<Node<'e>>,
    pub(super) steps: Steps<'e>,
}

pub(super) type Steps<'e> = SmallVec<[Step<'e>; 4]>;
pub(super) type Nodes<'e> = SmallVec<[Node<'e>; 1]>;
pub(super) type Parts<'e> = SmallVec<[Option<Node<'e>>; 1]>;

/// One fact to be read.
#[derive(Debug)]
pub(super) enum Step<'e> {
    /// It has been read, with all that it rests on.
    Ready(Fact<'e>),
    SessionStart,
    Boundary,
    Reopen,
    Epilogue,
    /// These values together name the group of the texts that follow.
    Group(Parts<'e>),
    /// These strings together are a text; without `complete` more was to be there.
    Text {
        mode: TextMode,
        pieces: Nodes<'e>,
        complete: bool,
    },
}

impl<'e> Plan<'e> {
    /// Whether the profile has events of this kind.
    pub(crate) fn is_known(&self) -> bool {
        self.standing != Standing::Unknown
    }

    /// Whether other lines can have the same plan with other values: it starts, completes and
    /// ends nothing, and nothing is missing.
    pub fn is_repeatable(&self) -> bool {
        let whole =
            |step: &Step<'_>| !matches!(step, Step::Ready(_) | Step::Text { complete: false, .. });
        !self.incomplete && self.steps.iter().all(whole)
    }

    /// Whether the event may have a place behind the terminal one.
    pub fn may_follow_the_end(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Reopen | Step::Epilogue))
    }

    /// Reads the values.
    pub fn facts(self, line: u64, offset: u64) -> Facts<'e> {
        let Self { tag, standing, incomplete, session, time, steps } = self;
        let mut facts = Facts::new(line, offset, tag, standing);
        facts.incomplete = incomplete;
        facts.session = session;
        facts.time = time.and_then(Node::as_f64);
        steps.into_iter().filter_map(Step::fact).for_each(|fact| facts.push(fact));
        facts
    }
}

impl<'e> Step<'e> {
    fn fact(self) -> Option<Fact<'e>> {
        match self {
            Self::Ready(fact) => Some(fact),
            Self::SessionStart => Some(Fact::SessionStart),
            Self::Boundary => Some(Fact::Boundary),
            Self::Reopen => Some(Fact::Reopen),
            Self::Epilogue => Some(Fact::Epilogue),
            Self::Group(parts) => {
                let parts = parts.into_iter().map(|it| it.and_then(Node::scalar_text));
                Some(Fact::Group(group_key(parts.map(Option::unwrap_or_default))))
            }
            Self::Text { mode: TextMode::Final, pieces, complete: true } if pieces.len() == 1 => {
                Prose::of(pieces[0]).map(Fact::FinalText)
            }
            Self::Text { mode, pieces, complete } => {
                let text = joined(pieces.into_iter().filter_map(Node::as_str));
                // An array without any text is an empty text; without the array there is none.
                (complete || !text.is_empty()).then(|| text_fact(mode, text))
            }
        }
    }
}

/// The pieces as one text.
pub(super) fn joined<'e>(pieces: impl Iterator<Item = Cow<'e, str>>) -> Cow<'e, str> {
    let mut text = Cow::Borrowed("");
    for piece in pieces {
        if text.is_empty() {
            text = piece;
        } else {
            text.to_mut().push_str(&piece);
        }
    }
    text
}

/// The parts of a group's key as one text.
pub(super) fn group_key<'e>(parts: impl Iterator<Item = Cow<'e, str>>) -> Cow<'e, str> {
    parts.reduce(|key, part| Cow::Owned(format!("{key}\n{part}"))).unwrap_or_default()
}

pub(super) fn text_fact(mode: TextMode, text: Cow<'_, str>) -> Fact<'_> {
    match mode {
        TextMode::Delta => Fact::TextDelta(text),
        TextMode::Whole => Fact::TextWhole(text),
        TextMode::Final => Fact::FinalText(text.into()),
    }
}
