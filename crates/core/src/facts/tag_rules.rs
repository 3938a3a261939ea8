//! The rules of a profile that may apply to events of one tag.
//!
//! Most conditions ask for the tag, and most events have one of few tags, so those conditions are
//! answered once for each tag.

use std::sync::Arc;

use smallvec::SmallVec;

use super::TagStatus;
use super::details::conditions;
use crate::json::JsonRef;
use crate::limits::{CALL_ID_BYTES_MAX, TAGS_REMEMBERED_MAX};
use crate::profile::path::{Conditions, KnownValue, Path};
use crate::profile::{BackgroundRule, EventRule, Profile, Tags};

/// A rule, by its number in the profile, and which of its conditions the tag leaves open.
#[derive(Debug)]
pub(super) struct OpenRule {
    pub(super) when: Conditions,
    pub(super) rule: usize,
}

/// The rules that may apply to events of one tag, in the order of the profile.
#[derive(Debug)]
pub(super) struct TagRules {
    parts: Vec<KnownValue>,
    pub(super) tag: Arc<str>,
    pub(super) status: TagStatus,
    pub(super) session_start: Vec<OpenRule>,
    pub(super) session_restart: Vec<OpenRule>,
    pub(super) interruptions: Vec<OpenRule>,
    pub(super) call_start: Vec<OpenRule>,
    pub(super) completion: Vec<OpenRule>,
    pub(super) corrections: Vec<OpenRule>,
    pub(super) text: Vec<OpenRule>,
    pub(super) boundaries: Vec<OpenRule>,
    pub(super) abandoned_text: Vec<OpenRule>,
    pub(super) repeated_text: Vec<OpenRule>,
    pub(super) final_text_start: Vec<OpenRule>,
    pub(super) errors: Vec<OpenRule>,
    pub(super) progress: Vec<OpenRule>,
    pub(super) reopen: Vec<OpenRule>,
    pub(super) after: Vec<OpenRule>,
    pub(super) terminal: Vec<OpenRule>,
    pub(super) run_facts: Vec<OpenRule>,
    pub(super) background_start: Vec<OpenRule>,
    pub(super) background_end: Vec<OpenRule>,
    pub(super) background_lost: Vec<OpenRule>,
    pub(super) values: Vec<OpenRule>,
    pub(super) defects: Vec<OpenRule>,
    pub(super) unavailable: Vec<OpenRule>,
    /// Whether an event may have details.
    pub(super) has_details: bool,
}

#[derive(Debug, Default)]
pub(super) struct TagCache {
    /// At most [`TAGS_REMEMBERED_MAX`]; then a new one replaces the last.
    known: Vec<TagRules>,
    latest: usize,
}

impl TagCache {
    pub(super) fn rules(&mut self, profile: &Profile, root: JsonRef<'_>) -> &TagRules {
        let parts: Parts<'_> = profile.tags.at.iter().map(|path| path.find(root)).collect();
        if !self.known.get(self.latest).is_some_and(|rules| rules.are_for(&parts)) {
            let index = self.known.iter().position(|rules| rules.are_for(&parts));
            self.latest = index.unwrap_or_else(|| self.add(profile, &parts));
        }
        &self.known[self.latest]
    }

    fn add(&mut self, profile: &Profile, parts: &Parts<'_>) -> usize {
        // Of very long tags one at a time is kept.
        let is_long = self.known.last().is_some_and(|rules| rules.tag.len() > CALL_ID_BYTES_MAX);
        if is_long || self.known.len() == TAGS_REMEMBERED_MAX {
            self.known.pop();
        }
        self.known.push(TagRules::new(profile, parts));
        self.known.len() - 1
    }
}

/// The values where the parts of the tag should be.
type Parts<'e> = SmallVec<[Option<JsonRef<'e>>; 2]>;

/// What is known of a part: nothing, if it is not a string.
fn known(part: Option<JsonRef<'_>>) -> KnownValue {
    match part {
        None => KnownValue::Absent,
        Some(node) => {
            node.as_str().map_or(KnownValue::Unknown, |text| KnownValue::Text(text.into_owned()))
        }
    }
}

impl TagRules {
    /// Whether an event of an unknown kind may come after the end: it has its own warning. An event
    /// that sounds like a failure may be one.
    pub(super) fn is_harmless(&self, root: JsonRef<'_>) -> bool {
        let tag = self.tag.to_ascii_lowercase();
        let has_error = root.members().any(|(key, value)| key == "error" && !value.is_null());
        !(tag.is_empty() || tag.contains("error") || tag.contains("fail") || has_error)
    }

    fn new(profile: &Profile, parts: &Parts<'_>) -> Self {
        let parts: Vec<KnownValue> = parts.iter().map(|part| known(*part)).collect();
        let known = |path: &Path| {
            let index = profile.tags.at.iter().position(|tag_path| tag_path == path);
            index.map_or(KnownValue::Unknown, |index| parts[index].clone())
        };
        let event_rules =
            |rules: &[EventRule]| open_rules(rules, |rule| rule.when.specialize(known));
        let background =
            |rules: &[BackgroundRule]| open_rules(rules, |rule| rule.when.specialize(known));
        let tag = tag(&parts);
        Self {
            status: status(&profile.tags, &tag),
            tag: tag.into(),
            session_start: event_rules(&profile.session.start),
            session_restart: open_rules(&profile.session.may_repeat_after, |rule| {
                rule.when.specialize(known)
            }),
            interruptions: event_rules(&profile.calls.interruptions),
            call_start: open_rules(&profile.calls.start, |rule| rule.when.specialize(known)),
            completion: open_rules(&profile.calls.completion, |rule| rule.when.specialize(known)),
            corrections: open_rules(&profile.calls.corrections, |rule| rule.when.specialize(known)),
            text: open_rules(&profile.text.rules, |rule| rule.when.specialize(known)),
            boundaries: open_rules(&profile.text.ends_at, |rule| rule.when.specialize(known)),
            abandoned_text: event_rules(&profile.text.abandoned_at),
            repeated_text: event_rules(&profile.text.may_repeat_after),
            final_text_start: event_rules(&profile.text.final_may_begin_at),
            errors: open_rules(&profile.end.errors, |rule| rule.when.specialize(known)),
            progress: open_rules(&profile.end.progress, |rule| rule.when.specialize(known)),
            reopen: event_rules(&profile.end.reopen),
            after: event_rules(&profile.end.after),
            terminal: open_rules(&profile.end.rules, |rule| rule.when.specialize(known)),
            background_start: background(&profile.calls.background.start),
            background_end: background(&profile.calls.background.end),
            background_lost: event_rules(&profile.calls.background.lost),
            values: open_rules(&profile.values, |rule| rule.when.specialize(known)),
            defects: open_rules(&profile.defects, |rule| rule.when.specialize(known)),
            unavailable: open_rules(&profile.session.unavailable, |rule| {
                rule.when.specialize(known)
            }),
            run_facts: open_rules(&profile.facts, |rule| rule.when.specialize(known)),
            has_details: conditions(profile).any(|when| when.specialize(known).is_some()),
            parts,
        }
    }

    fn are_for(&self, parts: &Parts<'_>) -> bool {
        // Two tags mostly differ in their last part.
        parts.iter().zip(&self.parts).rev().all(|(part, known)| match (part, known) {
            (None, KnownValue::Absent) => true,
            (Some(node), KnownValue::Text(text)) => node.is(text),
            (Some(node), KnownValue::Unknown) => !node.is_string(),
            _ => false,
        })
    }
}

/// Those of the rules that hold for the event.
pub(super) fn holding<'r, R>(
    open: &'r [OpenRule],
    rules: &'r [R],
    root: JsonRef<'r>,
) -> impl Iterator<Item = &'r R> {
    open.iter().filter(move |open| open.when.hold(root)).map(|open| &rules[open.rule])
}

fn open_rules<R>(rules: &[R], open: impl Fn(&R) -> Option<Conditions>) -> Vec<OpenRule> {
    let open = |(rule, it)| open(it).map(|when| OpenRule { when, rule });
    rules.iter().enumerate().filter_map(open).collect()
}

/// The parts that are there, with a slash between them, up to one that is not a string.
fn tag(parts: &[KnownValue]) -> String {
    let texts = parts.iter().take_while(|part| **part != KnownValue::Unknown);
    let texts = texts.filter_map(|part| match part {
        // A slash in a part differs from those between parts.
        KnownValue::Text(text) => Some(text.replace('~', "~0").replace('/', "~1")),
        KnownValue::Absent | KnownValue::Unknown => None,
    });
    texts.collect::<Vec<_>>().join("/")
}

fn status(tags: &Tags, tag: &str) -> TagStatus {
    let is_in = |known: &String| match known.strip_suffix('*') {
        Some(prefix) => tag.starts_with(prefix),
        None => known == tag,
    };
    let known = |tags: &[String]| tags.iter().any(is_in);
    match (known(&tags.documented), known(&tags.observed), known(&tags.notices)) {
        (true, ..) | (_, true, true) => TagStatus::Documented,
        (_, true, false) => TagStatus::Observed,
        (_, false, true) => TagStatus::Notice,
        (_, false, false) => TagStatus::Unknown,
    }
}
