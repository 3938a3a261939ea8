//! Events → plans of facts, as one profile says.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::calls::{call_id, calls};
use super::corrections::corrections;
use super::session::{directory, order, time, unavailable};
use super::tag_rules::{TagCache, TagRules};
use super::template::{FactTemplate, Plan, TextTemplate, Thought, group_key};
use super::{
    BoundedId, Marks, RareFacts, ReportedDefect, Restart, RunEnd, TagStatus, TextKind, run_facts,
    thinking,
};
use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};
use crate::profile::{
    BackgroundRule, Profile, RunOutcome, TerminalOutcome, TerminalPolicy, TextMode,
};
use crate::rules::Rule;
use crate::stream::ParsedEvent;

/// Reads facts out of events; remembers the rules of tags, for one profile.
#[derive(Debug, Default)]
pub(crate) struct FactReader {
    pub(super) tags: TagCache,
    /// Whether every time of an event is read, not only one that never goes back.
    pub(crate) reads_all_times: bool,
    pub(crate) reads_thoughts: bool,
}

type Texts<'e> = SmallVec<[TextTemplate<JsonRef<'e>>; 1]>;
type Chunks<'e> = SmallVec<[JsonRef<'e>; 1]>;
pub(super) type Rare<'e> = Option<Box<RareFacts<'e>>>;

impl FactReader {
    pub(crate) fn plan<'e>(&mut self, profile: &Profile, event: &'e ParsedEvent<'_>) -> Plan<'e> {
        let root = event.root();
        let rules = self.tags.rules(profile, root);
        let mut rare = Rare::default();
        if event.lone_halves.is_some() {
            rare.get_or_insert_default().lone_halves = event.lone_halves;
        }
        let starts_session = is_any(rules.session_start(profile, root));
        if starts_session {
            directory(profile, root, &mut rare);
        }
        if let Some(restart) = restart(profile, rules, root) {
            rare.get_or_insert_default().restart = Some(restart);
        }
        if is_any(rules.interruptions(profile, root)) {
            rare.get_or_insert_default().interrupts_calls = true;
        }
        let session = profile.session.id.iter().find_map(|path| path.find(root));
        let session = session.and_then(JsonRef::as_str);
        // A rule judges the times of a profile that has `time`.
        let reads_all_times = self.reads_all_times && profile.session.time.is_none();
        let time = time(profile, root, reads_all_times);
        let order = order(profile, root);
        let has_ids = calls(profile, rules, root, &mut rare);
        corrections(profile, rules, root, &mut rare);
        background(profile, rules, root, &mut rare);
        values(profile, rules, root, &mut rare);
        defects(profile, rules, root, &mut rare);
        unavailable(profile, rules, root, &mut rare);
        let (texts, final_text, has_text) = texts(profile, rules, root, &mut rare);
        let ends_segment = boundary(profile, rules, root, &mut rare);
        other_texts(profile, rules, root, &mut rare);
        errors(profile, rules, root, &mut rare);
        let updates = run_facts::read(profile, rules, root);
        if !updates.is_empty() {
            rare.get_or_insert_default().run_facts = updates;
        }
        let progress = rules.progress(profile, root).next().map(|rule| rule.outcome);
        let starts_turn = is_any(rules.reopen(profile, root));
        let end = end(profile, rules, event);
        // A failure is not an answer.
        let has_failed = |end: RunEnd<'_>| end.outcome == Some(RunOutcome::Failure);
        let final_text = final_text.filter(|_| !end.is_some_and(has_failed));
        let is_told = rare.is_some() || progress.is_some() || end.is_some();
        let has_facts = session.is_none() || is_told || !texts.is_empty();
        let is_news = !has_facts && rules.status == TagStatus::Unknown && rules.is_harmless(root);
        let may_follow_end = follows_end(profile, rules, root, &mut rare) || is_news;
        let tag_status = if end.is_some() { TagStatus::Documented } else { rules.status };
        if end.is_some() {
            rare.get_or_insert_default().end = end;
        }
        let marks = Marks {
            is_incomplete: !(has_ids && has_text),
            starts_session,
            ends_segment,
            starts_turn,
            may_follow_end,
            progress,
        };
        let tag = rules.tag.clone();
        let thought = if self.reads_thoughts && rules.has_details {
            thinking::thought(profile, root)
        } else {
            Thought::Nothing
        };
        let template =
            FactTemplate { tag, tag_status, marks, session, time, order, texts, thought };
        Plan { event: root, template, rare, final_text }
    }
}

/// Whether the event may follow the terminal event.
fn follows_end(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'_>,
    rare: &mut Rare<'_>,
) -> bool {
    let is_reply = rules.after(profile, root).map(|rule| rule.is_reply).max();
    if is_reply == Some(true) {
        rare.get_or_insert_default().is_reply = true;
    }
    is_reply.is_some()
}

fn is_any<T>(mut rules: impl Iterator<Item = T>) -> bool {
    rules.next().is_some()
}

fn restart(profile: &Profile, rules: &TagRules, root: JsonRef<'_>) -> Option<Restart> {
    let rule = rules.session_restart(profile, root).next()?;
    Some(Restart { has_new_id: rule.new_id, is_turn: rule.new_turn })
}

fn background(profile: &Profile, rules: &TagRules, root: JsonRef<'_>, rare: &mut Rare<'_>) {
    let ids = |rule: &BackgroundRule| -> SmallVec<[BoundedId; 1]> {
        rule.of.objects(root).filter_map(|scope| call_id(scope, &rule.id)).collect()
    };
    let started = rules.background_start(profile, root);
    let started = started.flat_map(|rule| ids(rule).into_iter().map(|id| (id, rule.session)));
    let ended = rules.background_end(profile, root);
    let ended = ended.flat_map(|rule| ids(rule).into_iter().map(|id| (id, rule.only_in_run)));
    let (started, ended): (Vec<_>, Vec<_>) = (started.collect(), ended.collect());
    if !(started.is_empty() && ended.is_empty()) {
        let rare = rare.get_or_insert_default();
        (rare.background_started, rare.background_ended) = (started, ended);
    }
    if is_any(rules.background_lost(profile, root)) {
        rare.get_or_insert_default().loses_stopped_work = true;
    }
}

fn values(profile: &Profile, rules: &TagRules, root: JsonRef<'_>, rare: &mut Rare<'_>) {
    for rule in rules.values(profile, root) {
        let texts = rule.of.objects(root).filter_map(|scope| rule.value.find(scope)?.as_str());
        let unknown = texts.filter(|text| rule.known.iter().all(|known| known != text));
        let unknown: Vec<_> =
            unknown.map(|text| (rule.value.to_string(), text.into_owned())).collect();
        if !unknown.is_empty() {
            rare.get_or_insert_default().unknown_values.extend(unknown);
        }
    }
}

fn defects(profile: &Profile, rules: &TagRules, root: JsonRef<'_>, rare: &mut Rare<'_>) {
    for rule in rules.defects(profile, root) {
        let text =
            |path: &Option<Path>| path.as_ref()?.find(root)?.scalar_text().map(Cow::into_owned);
        let Some(name) = rule.rule.find(root).and_then(JsonRef::as_str) else { continue };
        let rare = rare.get_or_insert_default();
        match Rule::named(&name) {
            Some(named) => rare.defects.push(ReportedDefect {
                rule: named,
                line: text(&rule.line),
                message: text(&rule.message),
            }),
            None => rare.unknown_values.push((rule.rule.to_string(), name.into_owned())),
        }
    }
}

fn errors<'e>(profile: &Profile, rules: &TagRules, root: JsonRef<'e>, rare: &mut Rare<'e>) {
    let mut errors = rules.errors(profile, root);
    if let Some(error) = errors.find(|rule| rule.of.objects(root).next().is_some()) {
        rare.get_or_insert_default().error = Some(error.severity);
    }
}

/// Whether the event ends a segment; it may name the group of the texts that follow.
fn boundary(profile: &Profile, rules: &TagRules, root: JsonRef<'_>, rare: &mut Rare<'_>) -> bool {
    let Some(rule) = rules.boundaries(profile, root).next() else {
        return false;
    };
    let paths = &rule.group;
    if !paths.is_empty() {
        let key =
            group_key(&group(paths, root.into()), |part| part.scalar_text().unwrap_or_default());
        rare.get_or_insert_default().next_group = Some(key.into_owned());
    }
    true
}

/// The texts of an event, its final text, and whether all that must be there is there.
fn texts<'e>(
    profile: &Profile,
    rules: &TagRules,
    root: JsonRef<'e>,
    rare: &mut Rare<'e>,
) -> (Texts<'e>, Option<Chunks<'e>>, bool) {
    let mut texts = Texts::new();
    let Some(rule) = rules.text(profile, root).next() else {
        return (texts, None, true);
    };
    if rule.final_text.is_some() {
        rare.get_or_insert_default().final_is = rule.final_text;
    }
    let kind = match rule.mode {
        TextMode::Delta => Some(TextKind::Delta),
        TextMode::Whole => Some(TextKind::Whole),
        TextMode::Final => None,
    };
    // Elements of an array may be of a group each.
    let has_groups_in_it = rule.of.are_elements() && rule.group.iter().any(|it| !it.is_of_event());
    let mut is_complete = rule.of.is_there(root);
    let mut chunks = Chunks::new();
    for scope in rule.of.objects(root) {
        match (rule.value.find(scope).filter(|it| it.is_string()), kind) {
            (Some(chunk), Some(kind)) if has_groups_in_it => {
                let group = Some(group(&rule.group, scope));
                let chunks = Chunks::from_iter([chunk]);
                texts.push(TextTemplate { kind, group, paragraphs: false, chunks });
            }
            (Some(chunk), _) => chunks.push(chunk),
            (None, _) => is_complete = false,
        }
    }
    // No text is left in it, or nothing in it is text.
    let is_empty = chunks.is_empty() && (!is_complete || rule.of.is_among_others(root));
    match kind {
        _ if is_empty => (texts, None, is_complete),
        None => (texts, Some(chunks), is_complete),
        Some(_) if has_groups_in_it => (texts, None, is_complete),
        Some(kind) => {
            let has_group = !rule.group.is_empty();
            let group = has_group.then(|| group(&rule.group, root.into()));
            texts.push(TextTemplate { kind, group, paragraphs: rule.paragraphs, chunks });
            (texts, None, is_complete)
        }
    }
}

/// What the event says about the texts before and after it.
fn other_texts(profile: &Profile, rules: &TagRules, root: JsonRef<'_>, rare: &mut Rare<'_>) {
    if is_any(rules.abandoned_text(profile, root)) {
        rare.get_or_insert_default().abandons_text = true;
    }
    if is_any(rules.repeated_text(profile, root)) {
        rare.get_or_insert_default().may_repeat_text = true;
    }
    if is_any(rules.final_text_start(profile, root)) {
        rare.get_or_insert_default().may_begin_final_text = true;
    }
}

/// The values that name the group of a text.
fn group<'e>(paths: &[Path], scope: Scope<'e>) -> SmallVec<[Option<JsonRef<'e>>; 1]> {
    let is_name = |it: &JsonRef<'_>| it.is_string() || it.is_number();
    paths.iter().map(|path| path.find(scope).filter(is_name)).collect()
}

fn end<'e>(profile: &Profile, rules: &TagRules, event: &'e ParsedEvent<'_>) -> Option<RunEnd<'e>> {
    let root = event.root();
    let rule = rules.terminal(profile, root).next()?;
    Some(RunEnd {
        expects_turn: is_any(rules.more_turns(profile, root)),
        is_terminal: profile.end.policy != TerminalPolicy::None,
        is_provisional: rule.provisional,
        without_status: rule.without_status,
        outcome: match rule.outcome {
            TerminalOutcome::Failure => Some(RunOutcome::Failure),
            TerminalOutcome::Success => Some(RunOutcome::Success),
            TerminalOutcome::Neutral => None,
        },
        source: &event.text,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::stream::{Ending, Line, parse_line};

    /// Goal: what streams are full of is read once for all lines that are alike.
    #[test]
    fn chunks_and_whole_texts_are_repeatable() {
        let profile = json!({
            "name": "x", "title": "x",
            "tags": { "at": ["/at"], "documented": ["bit", "text", "call", "over"] },
            "calls": { "start": [{ "when": { "/at": "call" }, "id": ["/id"] }] },
            "text": { "rules": [
                { "mode": "delta", "when": { "/at": "bit" }, "value": "/text", "group": ["/no"] },
                { "mode": "whole", "when": { "/at": "text" }, "value": "/text", "group": ["/no"] }
            ] },
            "end": { "rules": [{ "outcome": "success", "when": { "/at": "over" } }] }
        });
        let profile: Profile = serde_json::from_value(profile).expect("a profile");
        let is_repeatable = |event: Value| {
            let bytes = event.to_string().into_bytes();
            let line = Line::new(0, &bytes, Ending::Lf);
            let Ok(event) = parse_line(&line) else { panic!("not an event") };
            FactReader::default().plan(&profile, &event).is_repeatable()
        };
        assert!(is_repeatable(json!({"at": "bit", "no": 1, "text": "x"})));
        assert!(is_repeatable(json!({"at": "text", "no": 1, "text": "x"})));
        assert!(!is_repeatable(json!({"at": "bit", "no": 1})));
        assert!(!is_repeatable(json!({"at": "call", "id": "1"})));
        assert!(!is_repeatable(json!({"at": "over"})));
    }
}
