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
use crate::profile::{
    AfterRule, BackgroundRule, CallCorrection, CallRule, DefectRule, ErrorRule, EventRule, Profile,
    ProgressRule, RestartRule, RunFactRule, SegmentEndRule, Tags, TerminalRule, TextRule,
    UnavailableRule, ValueRule,
};

/// A rule, by its number in the profile, and which of its conditions the tag leaves open.
#[derive(Debug)]
struct OpenRule {
    when: Conditions,
    rule: usize,
}

/// Declares the lists of rules, and where each is in the profile. The method with the name of a
/// list finds those of its rules that hold for an event.
macro_rules! tag_rules {
    ($($name:ident: $($at:ident).+ => $rule:ty;)+) => {
        /// The rules that may apply to events of one tag, in the order of the profile.
        #[derive(Debug)]
        pub(super) struct TagRules {
            parts: Vec<KnownValue>,
            pub(super) tag: Arc<str>,
            pub(super) status: TagStatus,
            /// Whether an event may have details.
            pub(super) has_details: bool,
            $($name: Vec<OpenRule>,)+
        }

        impl TagRules {
            fn new(profile: &Profile, parts: Vec<KnownValue>) -> Self {
                let known = |path: &Path| {
                    let index = profile.tags.at.iter().position(|tag_path| tag_path == path);
                    index.map_or(KnownValue::Unknown, |index| parts[index].clone())
                };
                let tag = tag(&parts);
                Self {
                    status: status(&profile.tags, &tag),
                    tag: tag.into(),
                    has_details: conditions(profile).any(|when| when.specialize(known).is_some()),
                    $($name: open_rules(&profile.$($at).+, |it| it.when.specialize(known)),)+
                    parts,
                }
            }

            $(pub(super) fn $name<'r>(
                &'r self,
                profile: &'r Profile,
                root: JsonRef<'r>,
            ) -> impl Iterator<Item = &'r $rule> {
                let open = self.$name.iter().filter(move |open| open.when.hold(root));
                open.map(|open| &profile.$($at).+[open.rule])
            })+
        }
    };
}

tag_rules! {
    session_start: session.start => EventRule;
    session_restart: session.may_repeat_after => RestartRule;
    unavailable: session.unavailable => UnavailableRule;
    call_start: calls.start => CallRule;
    completion: calls.completion => CallRule;
    corrections: calls.corrections => CallCorrection;
    interruptions: calls.interruptions => EventRule;
    background_start: calls.background.start => BackgroundRule;
    background_end: calls.background.end => BackgroundRule;
    background_lost: calls.background.lost => EventRule;
    text: text.rules => TextRule;
    boundaries: text.ends_at => SegmentEndRule;
    abandoned_text: text.abandoned_at => EventRule;
    repeated_text: text.may_repeat_after => EventRule;
    final_text_start: text.final_may_begin_at => EventRule;
    errors: end.errors => ErrorRule;
    progress: end.progress => ProgressRule;
    terminal: end.rules => TerminalRule;
    reopen: end.reopen => EventRule;
    more_turns: end.more_turns => EventRule;
    after: end.after => AfterRule;
    run_facts: facts => RunFactRule;
    values: values => ValueRule;
    defects: defects => DefectRule;
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
        let parts = parts.iter().map(|part| known(*part)).collect();
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
