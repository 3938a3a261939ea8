//! The rules of a profile that an event's tag leaves open, and what they still ask.
//!
//! Most conditions ask for the tag, and most events have one of few tags: what those conditions
//! say of a tag is found out once.

use std::rc::Rc;

use smallvec::SmallVec;

use super::Standing;
use crate::limits::{CALL_ID_BYTES_MAX, TAGS_REMEMBERED_MAX};
use crate::profile::path::{Conditions, KnownValue, Path};
use crate::profile::{
    CallCompletion, CallStart, ErrorRule, EventRule, Profile, Tags, TerminalRule, TextRule,
    VerdictRule,
};
use crate::stream::event::Node;

/// A rule, and which of its conditions are still to be asked.
#[derive(Debug)]
pub(super) struct Candidate<'p, R> {
    pub(super) when: Conditions,
    pub(super) rule: &'p R,
}

/// The rules that may hold for events of one tag, in the order of the profile.
#[derive(Debug)]
pub(super) struct Candidates<'p> {
    parts: Vec<KnownValue>,
    pub(super) tag: Rc<str>,
    pub(super) standing: Standing,
    pub(super) session_start: Vec<Conditions>,
    pub(super) call_start: Vec<Candidate<'p, CallStart>>,
    pub(super) completion: Vec<Candidate<'p, CallCompletion>>,
    pub(super) text: Vec<Candidate<'p, TextRule>>,
    pub(super) boundaries: Vec<Conditions>,
    pub(super) errors: Vec<Candidate<'p, ErrorRule>>,
    pub(super) verdict: Vec<Candidate<'p, VerdictRule>>,
    pub(super) reopen: Vec<Conditions>,
    pub(super) after: Vec<Conditions>,
    pub(super) terminal: Vec<Candidate<'p, TerminalRule>>,
}

/// Remembers the candidates of tags.
#[derive(Debug)]
pub(super) struct Memory<'p> {
    profile: &'p Profile,
    /// At most [`TAGS_REMEMBERED_MAX`]; the last gives way to a new one then.
    known: Vec<Candidates<'p>>,
    latest: usize,
}

impl<'p> Memory<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self { profile, known: Vec::new(), latest: 0 }
    }

    /// The rules that may hold for this event.
    pub(super) fn candidates(&mut self, root: Node<'_>) -> &Candidates<'p> {
        let parts: Parts<'_> = self.profile.tags.at.iter().map(|path| path.find(root)).collect();
        if !self.known.get(self.latest).is_some_and(|it| it.are_of(&parts)) {
            let index = self.known.iter().position(|it| it.are_of(&parts));
            self.latest = index.unwrap_or_else(|| self.learn(&parts));
        }
        &self.known[self.latest]
    }

    fn learn(&mut self, parts: &Parts<'_>) -> usize {
        // Of very long tags one at a time is kept.
        let is_long = self.known.last().is_some_and(|it| it.tag.len() > CALL_ID_BYTES_MAX);
        if is_long || self.known.len() == TAGS_REMEMBERED_MAX {
            self.known.pop();
        }
        self.known.push(Candidates::new(self.profile, parts));
        self.known.len() - 1
    }
}

/// What stands where the parts of the tag should be.
type Parts<'e> = SmallVec<[Option<Node<'e>>; 2]>;

/// What is known of one of them: nothing, if it is no string.
fn known(part: Option<Node<'_>>) -> KnownValue {
    match part {
        None => KnownValue::Absent,
        Some(node) => {
            node.as_str().map_or(KnownValue::Unknown, |it| KnownValue::Text(it.into_owned()))
        }
    }
}

impl<'p> Candidates<'p> {
    fn new(profile: &'p Profile, parts: &Parts<'_>) -> Self {
        let parts: Vec<KnownValue> = parts.iter().map(|it| known(*it)).collect();
        let known = |path: &Path| {
            let index = profile.tags.at.iter().position(|it| it == path);
            index.map_or(KnownValue::Unknown, |index| parts[index].clone())
        };
        let left = |when: &Conditions| when.specialize(known);
        let all_left = |rules: &[EventRule]| rules.iter().filter_map(|it| left(&it.when)).collect();
        let tag = tag(&parts);
        Self {
            standing: standing(&profile.tags, &tag),
            tag: tag.into(),
            session_start: all_left(&profile.session.start),
            call_start: candidates(&profile.calls.start, |it| left(&it.when)),
            completion: candidates(&profile.calls.completion, |it| left(&it.when)),
            text: candidates(&profile.text.rules, |it| left(&it.when)),
            boundaries: all_left(&profile.text.ends_at),
            errors: candidates(&profile.end.errors, |it| left(&it.when)),
            verdict: candidates(&profile.end.verdict, |it| left(&it.when)),
            reopen: all_left(&profile.end.reopen),
            after: all_left(&profile.end.after),
            terminal: candidates(&profile.end.rules, |it| left(&it.when)),
            parts,
        }
    }

    fn are_of(&self, parts: &Parts<'_>) -> bool {
        parts.iter().zip(&self.parts).all(|(part, known)| match (part, known) {
            (None, KnownValue::Absent) => true,
            (Some(node), KnownValue::Text(text)) => node.is(text),
            (Some(node), KnownValue::Unknown) => !node.is_string(),
            _ => false,
        })
    }
}

fn candidates<R>(rules: &[R], left: impl Fn(&R) -> Option<Conditions>) -> Vec<Candidate<'_, R>> {
    rules.iter().filter_map(|rule| left(rule).map(|when| Candidate { when, rule })).collect()
}

/// The parts that are there, with a slash between them; what follows one that is no string is
/// left out.
fn tag(parts: &[KnownValue]) -> String {
    let texts = parts.iter().take_while(|part| **part != KnownValue::Unknown);
    let texts = texts.filter_map(|part| match part {
        // A slash in a part is told from those between parts.
        KnownValue::Text(text) => Some(text.replace('~', "~0").replace('/', "~1")),
        KnownValue::Absent | KnownValue::Unknown => None,
    });
    texts.collect::<Vec<_>>().join("/")
}

fn standing(tags: &Tags, tag: &str) -> Standing {
    let known = |tags: &[String]| tags.iter().any(|known| known == tag);
    if known(&tags.documented) {
        Standing::Documented
    } else if known(&tags.observed) {
        Standing::Observed
    } else {
        Standing::Unknown
    }
}
