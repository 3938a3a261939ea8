//! The content of one event: which of its strings decide something, and what the others become.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::calls::CallFillers;
use super::fill::{Filler, rewrite, text_of};
use crate::check::{Contract, validate};
use crate::facts::{Call, FactReader, Plan};
use crate::json::{Doc, JsonRef, Kind};
use crate::limits::UNKNOWN_EVENTS_MAX;
use crate::profile::CallRules;
use crate::profile::detect::{Author, DetectRules};
use crate::profile::vocabulary::Vocabulary;
use crate::redact::written::{WrittenString, decoded, strings};
use crate::rules::diagnostic::Diagnostic;
use crate::stream::{Line, LineParser, ParsedEvent};

/// Longest value next to a name that may be a name, too, in bytes.
const NAME_BYTES_MAX: usize = 80;

#[derive(Debug)]
pub(super) struct EventRedactor {
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) facts: FactReader,
    calls: CallFillers,
    parser: LineParser,
    /// For an event behind other text.
    glued: LineParser,
    events: usize,
    /// Whether parts of a text of this turn stay because they decide something.
    keeps_parts: bool,
}

/// What becomes of a string.
#[derive(Debug, Clone)]
enum Treatment {
    Stays,
    /// All but these parts of its text is replaced.
    Filled(Filler, Vec<Range<usize>>),
    /// It may be JSON, of which keys and numbers stay.
    Arguments(Filler),
}

impl Treatment {
    fn keeps_parts(&self) -> bool {
        matches!(self, Self::Filled(_, kept) if !kept.is_empty())
    }
}

/// By the place of the string in the text.
type Treatments = BTreeMap<usize, Treatment>;

struct EventJudgement<'e> {
    plan: Plan<'e>,
    detected: Vec<Author<'static>>,
    /// For each half of a call: the number of its action, and whether it may hide its exit status.
    actions: Vec<Option<(usize, bool)>>,
    /// The places of what fails a schema, and the keywords.
    violations: Vec<(Option<u64>, Option<String>)>,
}

impl EventJudgement<'_> {
    fn is_like(&self, other: &EventJudgement<'_>) -> bool {
        self.detected == other.detected
            && self.actions == other.actions
            && self.violations == other.violations
            && self.plan.decisions() == other.plan.decisions()
    }
}

impl EventRedactor {
    pub(super) fn new(contract: &Contract) -> Self {
        Self {
            vocabulary: contract.vocabulary(),
            facts: FactReader::default(),
            calls: CallFillers::default(),
            parser: LineParser::on_tape(),
            glued: LineParser::on_tape(),
            events: 0,
            keeps_parts: false,
        }
    }

    /// The text of an event with its content replaced; as long as it was.
    pub(super) fn event(
        &mut self,
        contract: &Contract,
        line: &Line<'_>,
        event: &ParsedEvent<'_>,
        text_filler: Filler,
    ) -> Vec<u8> {
        // As it came: a half of a character stays a half.
        let written = &line.bytes[line.bytes.len().saturating_sub(event.text.len())..];
        let mut text = written.to_vec();
        let Some(doc) = event.json.doc() else {
            apply(&mut text, &Treatments::new(), &self.vocabulary);
            return text;
        };
        doc.note_late_reads();
        let number = self.events;
        self.events = number.saturating_add(1);
        let judged = judge(&mut self.facts, contract, event, number);
        let names = self.facts.names(contract.profile(), event.root());
        let mut treatments = Treatments::new();
        stay(&names, &mut treatments);
        let names = names.iter().filter_map(|name| Some(name.cursor()?.index())).collect();
        object_names(event.root(), &names, &mut treatments);
        let decided = self.read_values(doc, &mut treatments);
        if !judged.violations.is_empty() {
            self.known_texts(doc, &mut treatments);
        }
        let values = self.call_values(&contract.profile().calls, &judged.plan);
        for (value, filler) in values {
            arguments(value, filler, &mut treatments);
        }
        let texts = fill_texts(&judged.plan, text_filler, &mut treatments);
        // The texts of a turn are compared with each other, and a rule may read only one of them.
        // So a part of a text stays only if it decides something, or if the reason of a failure
        // may be in it.
        let has_parts = texts.values().any(Treatment::keeps_parts);
        // If that is not enough, everything that was read stays.
        let read = decided.iter().map(|place| (*place, Treatment::Stays)).collect();
        let mut more = [texts, read].into_iter();
        if self.keeps_parts || judged.plan.has_unexplained_error() {
            treatments.extend(more.next().unwrap_or_default());
        }
        self.keeps_parts &= !judged.plan.ends_run();
        let has_filled_key = apply(&mut text, &treatments, &self.vocabulary);
        let is_filled = |place: &usize| !matches!(treatments[place], Treatment::Stays);
        if !has_filled_key && !decided.iter().any(is_filled) {
            return text;
        }
        for more in more {
            let mut again = Line::new(event.offset, &text, line.ending);
            again.number = line.number;
            let again = self.parser.read(&again);
            let is_like = |it| judged.is_like(&judge(&mut self.facts, contract, &it, number));
            if again.is_ok_and(is_like) {
                break;
            }
            treatments.extend(more);
            self.keeps_parts |= has_parts && !judged.plan.ends_run();
            text = written.to_vec();
            apply(&mut text, &treatments, &self.vocabulary);
        }
        text
    }

    /// Reads a line that is an event in a way that notes what is read.
    pub(super) fn on_tape<T>(
        &mut self,
        line: &Line<'_>,
        take: impl FnOnce(&mut Self, &ParsedEvent<'_>) -> T,
    ) -> Option<T> {
        let mut parser = std::mem::take(&mut self.glued);
        let taken = parser.read(line).ok().map(|event| take(self, &event));
        self.glued = parser;
        taken
    }

    /// What becomes of the strings that a schema or a rule of the profile has read, if they have no
    /// treatment; returns their places.
    fn read_values(&self, doc: &Doc<'_>, treatments: &mut Treatments) -> Vec<usize> {
        let mut places = Vec::new();
        for (index, entry) in doc.entries().iter().enumerate() {
            if entry.kind != Kind::String || !doc.was_read(index) {
                continue;
            }
            let (start, end) = (entry.start as usize, entry.end as usize);
            places.push(start);
            if treatments.contains_key(&start) {
                continue;
            }
            let text = text_of(&doc.text()[start..end]);
            let treatment = if self.vocabulary.has(&text) {
                Treatment::Stays
            } else {
                let fill = |kept: &[Range<usize>]| Filler::X.filled(&text, kept);
                Treatment::Filled(Filler::X, self.vocabulary.matched(&text, fill))
            };
            treatments.insert(start, treatment);
        }
        places
    }

    /// Of an event that fails a schema it is not known what was read: all texts of the schema stay.
    fn known_texts(&self, doc: &Doc<'_>, treatments: &mut Treatments) {
        for entry in doc.entries().iter().filter(|entry| entry.kind == Kind::String) {
            let (start, end) = (entry.start as usize, entry.end as usize);
            if self.vocabulary.has(&text_of(&doc.text()[start..end])) {
                treatments.insert(start, Treatment::Stays);
            }
        }
    }

    /// The arguments of the calls of an event, and what both halves of a call have in common.
    fn call_values<'e>(
        &mut self,
        rules: &CallRules,
        plan: &Plan<'e>,
    ) -> Vec<(JsonRef<'e>, Filler)> {
        let (started, completed) = plan.calls();
        let started = started.iter().flat_map(|call| self.calls.started(rules, call));
        let mut values: Vec<_> = started.collect();
        values.extend(completed.iter().flat_map(|(call, _)| self.calls.completed(rules, call)));
        if plan.ends_run() {
            self.calls.new_turn();
        }
        values
    }
}

/// Reads an event as the check does. What it reads is noted.
fn judge<'e>(
    facts: &mut FactReader,
    contract: &Contract,
    event: &'e ParsedEvent<'_>,
    number: usize,
) -> EventJudgement<'e> {
    let root = event.root();
    let is_early = number < UNKNOWN_EVENTS_MAX;
    let detected = is_early.then(|| DetectRules::built_in().matching(root));
    let detected = detected.into_iter().flatten().collect();
    let plan = facts.plan(contract.profile(), event);
    let rules = &contract.profile().calls;
    let (started, completed) = plan.calls();
    let calls = started.iter().chain(completed.iter().map(|(call, _)| call));
    let action = |call: &Call<'_>| {
        let tool = call.tool.as_deref().unwrap_or_default();
        let object = rules.actions.object(call.scope)?;
        let number = rules.actions.first(tool, object, None)?;
        let hides = rules.hiding_commands.as_ref().is_some_and(|hiding| {
            let command = rules.actions.rule(number).detail(object);
            command.is_some_and(|it| hiding.matches.is_in(&it))
        });
        Some((number, hides))
    };
    let actions = calls.map(action).collect();
    let mut found = Vec::new();
    let tag = &*plan.template.tag;
    // A schema that cannot be evaluated ends the check.
    let _ = validate(contract, event, tag, number == 0, &mut found);
    let place = |it: Diagnostic| (it.offset, it.location.map(|location| location.keyword));
    let violations = found.into_iter().map(place).collect();
    EventJudgement { plan, detected, actions, violations }
}

/// Where a string begins in the text.
fn place(value: JsonRef<'_>) -> Option<usize> {
    let cursor = value.cursor().filter(|cursor| cursor.kind() == Kind::String)?;
    Some(cursor.start())
}

fn stay(values: &[JsonRef<'_>], treatments: &mut Treatments) {
    let places = values.iter().filter_map(|value| place(*value));
    treatments.extend(places.map(|place| (place, Treatment::Stays)));
}

/// In an object with a name that the profile reads, other ids, times and states stay, too.
fn object_names(value: JsonRef<'_>, names: &HashSet<usize>, treatments: &mut Treatments) {
    let is_name = |value: JsonRef<'_>| value.cursor().is_some_and(|it| names.contains(&it.index()));
    if value.members().any(|(_, value)| is_name(value)) {
        for (key, value) in value.members() {
            let text = value.cursor().filter(|it| it.kind() == Kind::String);
            if text.is_some_and(|it| names_something(&key) && is_like_name(it.written())) {
                stay(&[value], treatments);
            }
        }
    }
    value.members().for_each(|(_, value)| object_names(value, names, treatments));
    value.items().for_each(|value| object_names(value, names, treatments));
}

/// Whether the value of a key is an id, a time, or a state by its name.
fn names_something(key: &str) -> bool {
    let ends = ["_id", "Id", "ID", "_uuid", "Uuid", "_at", "At", "timestamp", "Timestamp"];
    let whole = ["id", "uuid", "ts", "time", "type", "subtype", "role", "status", "version"];
    whole.contains(&key) || ends.iter().any(|end| key.ends_with(end))
}

/// Whether a string has the form of a name: one short word.
fn is_like_name(written: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:+".contains(&byte);
    written.len() <= NAME_BYTES_MAX && written.bytes().all(is_part)
}

/// The texts of the assistant get this filler. Returns the treatment with which parts of them stay.
fn fill_texts(plan: &Plan<'_>, filler: Filler, treatments: &mut Treatments) -> Treatments {
    let mut with_parts = Treatments::new();
    for place in plan.text_values().filter_map(place) {
        let kept = match treatments.remove(&place) {
            Some(Treatment::Filled(_, kept)) => kept,
            Some(Treatment::Stays | Treatment::Arguments(_)) | None => Vec::new(),
        };
        treatments.insert(place, Treatment::Filled(filler, Vec::new()));
        with_parts.insert(place, Treatment::Filled(filler, kept));
    }
    with_parts
}

/// The strings of arguments get this filler, but for those that stay.
fn arguments(value: JsonRef<'_>, filler: Filler, treatments: &mut Treatments) {
    if let Some(place) = place(value) {
        let treatment = match treatments.get(&place) {
            Some(Treatment::Stays) => Treatment::Stays,
            Some(Treatment::Filled(_, kept)) if !kept.is_empty() => {
                Treatment::Filled(filler, kept.clone())
            }
            _ => Treatment::Arguments(filler),
        };
        treatments.insert(place, treatment);
    }
    value.members().for_each(|(_, value)| arguments(value, filler, treatments));
    value.items().for_each(|value| arguments(value, filler, treatments));
}

/// Replaces the strings of an event; those without a treatment get the usual filler. Returns
/// whether one is a key.
fn apply(text: &mut [u8], treatments: &Treatments, vocabulary: &Vocabulary) -> bool {
    let mut found = Vec::new();
    strings(text, |string| found.push(string));
    let mut keys = BTreeMap::new();
    for WrittenString { content, place, is_key, .. } in found {
        if is_key {
            let key = decoded(&text[content.clone()]);
            if is_no_name(&key) && !vocabulary.has_key(&key) {
                fill_key(&mut text[content], place, &mut keys);
            }
            continue;
        }
        match treatments.get(&content.start) {
            None => Filler::X.string(&mut text[content], &[]),
            Some(Treatment::Stays) => {}
            Some(Treatment::Filled(filler, kept)) => filler.string(&mut text[content], kept),
            Some(Treatment::Arguments(filler)) => json_in_string(&mut text[content], *filler),
        }
    }
    !keys.is_empty()
}

/// Whether a key is a path, an address, or a sentence.
fn is_no_name(key: &[u8]) -> bool {
    key.iter().any(|byte| b"/\\@ ".contains(byte))
}

/// Replaces a key. Keys at the same place that become equal get a number in letters.
fn fill_key(key: &mut [u8], place: u64, keys: &mut BTreeMap<(u64, Vec<u8>), usize>) {
    Filler::X.string(key, &[]);
    let count = keys.entry((place, key.to_vec())).or_default();
    let mut number = *count;
    *count += 1;
    for byte in key.iter_mut().rev().filter(|byte| **byte == b'x') {
        *byte = b"xabcdefghijklmnopqrstuvwyz"[number % 26];
        number /= 26;
    }
}

/// Arguments that are JSON in a string keep their numbers, and the keys that are names.
fn json_in_string(written: &mut [u8], filler: Filler) {
    if !matches!(written.first(), Some(b'{' | b'[')) {
        return filler.string(written, &[]);
    }
    let old = decoded(written).into_owned();
    if serde_json::from_slice::<serde::de::IgnoredAny>(&old).is_err() {
        return filler.string(written, &[]);
    }
    let mut new = old.clone();
    let (mut inner, mut keys) = (Vec::new(), BTreeMap::new());
    strings(&old, |string| inner.push(string));
    for WrittenString { content, place, is_key, .. } in inner {
        if !is_key {
            filler.string(&mut new[content], &[]);
        } else if is_no_name(&decoded(&old[content.clone()])) {
            fill_key(&mut new[content], place, &mut keys);
        }
    }
    rewrite(written, &old, &new);
}
