//! The last round: counts everything that a profile describes, and writes the profile.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ndjson_check_core::escape::shown;
use ndjson_check_core::internals::{JsonPath, JsonRef, pointer};
use serde_json::{Map, Value, json};

use super::call_pairs::{CallPair, IdIndex};
use super::failure_markers::{and, failure_markers};
use super::fields::FieldStats;
use super::leaves::{LeafPath, LeafTable, leaves};
use super::recording_stats::RecordingStats;
use super::text_search::TextSearch;
use super::{Draft, Visitor, counted, last_token, tag_search};
use crate::limits::{DRAFT_NODES_MAX, DRAFT_PATH_BYTES_MAX, DRAFT_PATHS_MAX};

pub(super) struct Statistics<'t> {
    tag: &'t [JsonPath],
    /// The key under which elements of arrays name their kind: that of the tag's first part.
    kind: Option<String>,
    parts: BTreeMap<Rc<str>, Vec<String>>,
    /// The tags as a profile names them: missing parts are left out.
    tags: BTreeSet<String>,
    /// Events that were not counted, because of their tags.
    skipped: u64,
    pub(super) recordings: RecordingStats,
    pub(super) leaves: LeafTable,
    ids: IdIndex,
    pub(super) texts: TextSearch,
    fields: BTreeMap<Rc<str>, FieldStats>,
    /// How many more nodes the schemas may have.
    nodes_left: usize,
}

impl Visitor for Statistics<'_> {
    fn event(&mut self, root: JsonRef<'_>) {
        let parts = tag_search::parts(self.tag, root);
        let name: Rc<str> = joined(&parts).into();
        let observed = joined(&tag_search::all_parts(self.tag, root));
        if !self.has_room(&name, &observed) {
            self.skipped += 1;
            return;
        }
        self.tags.insert(observed);
        self.parts.entry(name.clone()).or_insert(parts);
        self.recordings.event(&name);
        self.fields.entry(name.clone()).or_default().add(root, 0, &mut self.nodes_left);
        let mut strings: BTreeMap<usize, String> = BTreeMap::new();
        for leaf in leaves(root, self.kind.as_deref()) {
            let number = self.leaves.count(&name, &leaf);
            if leaf.each.is_none() && self.tag.iter().any(|path| path.to_string() == leaf.path) {
                continue;
            }
            self.recordings.leaf(&name, &leaf);
            if let (Some(number), Some(text)) = (number, leaf.node.as_str()) {
                self.ids.add(number, &text, &self.leaves);
                strings.entry(number).or_default().push_str(&text);
            }
        }
        self.texts.event(root, &strings, &self.leaves);
    }

    fn end_of_recording(&mut self, is_cut: bool) {
        self.recordings.end_of_recording(is_cut);
        self.ids.end_of_recording();
        self.texts.end_of_recording();
    }
}

impl<'t> Statistics<'t> {
    pub(super) fn new(tag: &'t [JsonPath]) -> Self {
        let key = |path: &JsonPath| pointer::tokens(&path.to_string()).last().map(Cow::into_owned);
        Self {
            tag,
            kind: tag.first().and_then(key),
            parts: BTreeMap::new(),
            tags: BTreeSet::new(),
            skipped: 0,
            recordings: RecordingStats::default(),
            leaves: LeafTable::default(),
            ids: IdIndex::default(),
            texts: TextSearch::default(),
            fields: BTreeMap::new(),
            nodes_left: DRAFT_NODES_MAX,
        }
    }

    /// Whether events of this tag can be counted: all parts but the first may be anything.
    fn has_room(&self, name: &str, observed: &str) -> bool {
        let is_known = self.parts.contains_key(name) && self.tags.contains(observed);
        let has_room = self.parts.len().max(self.tags.len()) < DRAFT_PATHS_MAX;
        is_known || has_room && name.len().max(observed.len()) <= DRAFT_PATH_BYTES_MAX
    }

    pub(super) fn events(&self) -> u64 {
        self.recordings.events()
    }

    pub(super) fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        let recordings = counted(self.recordings.recordings, "recording");
        let title = format!("A draft from {recordings}, to be edited");
        draft.members = vec![("name", json!("draft")), ("title", json!(title))];
        self.add_tags(&mut draft);
        self.add_session(&mut draft);
        self.add_calls(&mut draft);
        self.add_text(&mut draft);
        self.add_terminal(&mut draft);
        draft.members.push(("schema", self.schema()));
        draft
    }

    fn add_tags(&self, draft: &mut Draft) {
        // Without a path of a tag, it is that of all events.
        let has_tag = |tag: &&String| !tag.is_empty() || !self.tag.is_empty();
        let observed: Vec<&String> = self.tags.iter().filter(has_tag).collect();
        let mut at: Vec<String> = self.tag.iter().map(JsonPath::to_string).collect();
        if at.is_empty() {
            at.push(String::new()); // A profile must have one: all events have the empty tag.
        }
        draft.members.push(("tags", json!({ "at": at, "observed": observed })));
        let tags = self.recordings.tags();
        let counts: Vec<String> =
            tags.map(|(tag, counts)| format!("{} {}", shown_tag(tag), counts.events)).collect();
        draft.evidence.push(format!("events: {}", counts.join(", ")));
        if self.skipped > 0 {
            draft.evidence.push(format!(
                "limit: {} not used, because there are too many tags, or too long ones",
                counted(self.skipped, "event")
            ));
        }
    }

    fn add_session(&self, draft: &mut Draft) {
        let recordings = self.recordings.recordings;
        let mut session = Map::new();
        if let Some((tag, counts)) = self.recordings.start() {
            // An event that occurs again and again does not begin a session.
            let (is_once, has_turns) = (counts.events == recordings, self.recordings.has_turns());
            let conclusion = match (is_once, has_turns) {
                (true, _) => "",
                (_, true) => ", once in each turn",
                _ => ", so it is not drafted as a session start",
            };
            let all = counted(recordings, "recording");
            draft.evidence.push(format!(
                "start: {} is the first event of {recordings} of {all} and occurs {}{conclusion}",
                shown_tag(tag),
                counted(counts.events, "time")
            ));
            if is_once || has_turns {
                session.insert("start".to_owned(), json!([{ "when": self.when(tag) }]));
            }
            if has_turns {
                session.insert("repeats".to_owned(), "each_turn".into());
            }
        } else {
            draft.evidence.push("start: the recordings begin with different events".to_owned());
        }
        if let Some((path, events, values)) = self.recordings.session() {
            session.insert("id".to_owned(), json!([path]));
            draft.evidence.push(format!(
                "session: {} is in {events} of {} events, with one value in each \
                 recording and {} in total",
                shown(path),
                self.events(),
                counted(values as u64, "value")
            ));
        } else {
            draft.evidence.push("session: no string is the same in all events".to_owned());
        }
        if let Some((path, events)) = self.recordings.time() {
            session.insert("time".to_owned(), path.into());
            let (path, events) = (shown(path), counted(events, "event"));
            draft.evidence.push(format!("time: {path} is in {events} and never decreases"));
        }
        draft.members.push(("session", session.into()));
    }

    fn add_calls(&self, draft: &mut Draft) {
        let pairs = self.ids.pairs(&self.leaves, &self.recordings);
        if pairs.is_empty() {
            let evidence = "calls: no id occurs again in an event with another tag (numbers, and \
                strings without a digit or below 3 characters, are not taken for ids); add rules \
                for calls yourself if there are any";
            return draft.evidence.push(evidence.to_owned());
        }
        let (mut starts, mut completions, mut tools) = (Vec::new(), Vec::new(), Vec::new());
        for pair in &pairs {
            let start = self.leaves.path(pair.start);
            let mut rule = Value::from(self.rule(start));
            rule["id"] = json!([start.path]);
            starts.push(rule);
            completions.push(self.completion(self.leaves.path(pair.completion)));
            let tool = self.tool(start, pair.starts);
            draft.evidence.push(self.pair_evidence(pair, tool.as_ref()));
            tools.extend(tool.filter(|tool| !tools.contains(tool)));
        }
        let mut calls = json!({ "start": starts, "completion": completions });
        if !tools.is_empty() {
            calls["tool"] = tools.into();
        }
        draft.members.push(("calls", calls));
    }

    fn completion(&self, path: &LeafPath) -> Value {
        let markers = failure_markers(path, &self.leaves);
        let failed = markers.iter().map(|marker| {
            json!({ "outcome": "failed", "when": { marker.path.clone(): marker.condition() } })
        });
        let rest = if markers.is_empty() { "unknown" } else { "succeeded" };
        let outcomes: Vec<Value> = failed.chain([json!({ "outcome": rest, "when": {} })]).collect();
        let mut rule = Value::from(self.rule(path));
        rule["id"] = json!([path.path]);
        rule["outcomes"] = outcomes.into();
        rule
    }

    /// Where the name of the tool may be: a value in the same object as the id, which all starts
    /// have, or a key that is one of several.
    fn tool(&self, start: &LeafPath, starts: u64) -> Option<Value> {
        let near = self.leaves.iter().filter(|(leaf, counts)| {
            let key = last_token(&leaf.path).to_ascii_lowercase();
            leaf.is_in_same_object(start)
                && counts.strings >= starts
                && (key.contains("name") || key.contains("tool"))
                && counts.values.get().is_some()
        });
        if let Some((leaf, _)) = near.min_by_key(|(leaf, _)| (leaf.depth(), &leaf.path)) {
            return Some(json!({ "value": leaf.path }));
        }
        let fields = self.fields.get(&start.tag).filter(|_| start.each.is_none())?;
        let (path, suffix) = fields.one_of()?;
        Some(json!({ "key": format!("{path}/*{suffix}") }))
    }

    fn pair_evidence(&self, pair: &CallPair, tool: Option<&Value>) -> String {
        let CallPair { start, completion, both, starts, completions } = *pair;
        let path = tool.and_then(|tool| tool.as_object()?.values().next()?.as_str());
        let tool = path.map(|path| format!("the tool name may be at {}", shown(path)));
        let tool = tool.unwrap_or("no tool name was found".to_owned());
        format!(
            "calls: {both} of {starts} ids at {} occur again at {}, which has {}; {tool}",
            shown_path(self.leaves.path(start)),
            shown_path(self.leaves.path(completion)),
            counted(completions, "id")
        )
    }

    /// One case for each tag. It accepts events of other tags.
    fn schema(&self) -> Value {
        let case = |(tag, fields): (&Rc<str>, &FieldStats)| {
            let mut schema = fields.schema();
            let Some(test) = self.tag_schema(&self.parts[tag]) else { return schema.into() };
            schema.remove("type");
            json!({ "if": test, "then": schema })
        };
        let cases: Vec<Value> = self.fields.iter().map(case).collect();
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "allOf": cases,
        })
    }

    /// A schema that events of this tag satisfy and no others; none if all events have the tag.
    fn tag_schema(&self, parts: &[String]) -> Option<Value> {
        let mut tests: Vec<Value> = self
            .tag
            .iter()
            .zip(parts)
            .map(|(path, part)| schema_at(&path.to_string(), json!({ "const": part })))
            .collect();
        // A tag that ends early has no string where the next part would be.
        if let Some(path) = self.tag.get(parts.len()) {
            tests.push(json!({ "not": schema_at(&path.to_string(), json!({ "type": "string" })) }));
        }
        if tests.len() > 1 { Some(json!({ "allOf": tests })) } else { tests.pop() }
    }

    pub(super) fn when(&self, tag: &str) -> Map<String, Value> {
        let parts = &self.parts[tag];
        let equal = self.tag.iter().zip(parts);
        let mut when: Map<String, Value> =
            equal.map(|(path, part)| (path.to_string(), json!(part))).collect();
        let is_longer = |other: &Vec<String>| other.len() > parts.len() && other.starts_with(parts);
        if let Some(next) = self.tag.get(parts.len())
            && self.parts.values().any(is_longer)
        {
            when.insert(next.to_string(), json!({ "exists": false }));
        }
        when
    }

    /// The beginning of a rule about a path: which events, and which elements.
    pub(super) fn rule(&self, path: &LeafPath) -> Map<String, Value> {
        let mut rule = Map::new();
        rule.insert("when".to_owned(), self.when(&path.tag).into());
        if let Some(each) = &path.each {
            rule.insert("each".to_owned(), json!(&**each));
            let condition = match (&path.kind, &self.kind) {
                (Some(kind), Some(key)) => (pointer::joined("", key), json!(&**kind)),
                _ => (path.path.clone(), json!({ "exists": true })),
            };
            rule.insert("where".to_owned(), and(&Map::new(), [condition]));
        }
        rule
    }
}

/// A tag of these parts, in which a slash separates parts.
fn joined(parts: &[String]) -> String {
    let escaped = parts.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
    escaped.collect::<Vec<_>>().join("/")
}

/// The path of an event itself.
pub(super) fn event_path(tag: &Rc<str>) -> LeafPath {
    LeafPath { tag: tag.clone(), each: None, kind: None, path: String::new() }
}

/// A schema for objects whose value at `path` exists and satisfies `schema`.
fn schema_at(path: &str, schema: Value) -> Value {
    let tokens: Vec<Cow<'_, str>> = pointer::tokens(path).collect();
    tokens.iter().rev().fold(
        schema,
        |schema, token| json!({ "properties": { token.clone(): schema }, "required": [token] }),
    )
}

pub(super) fn shown_tag(tag: &str) -> Cow<'_, str> {
    if tag.is_empty() { "(no tag)".into() } else { shown(tag).into() }
}

pub(super) fn shown_path(leaf: &LeafPath) -> String {
    let LeafPath { tag, each, kind, path } = leaf;
    let kind = kind.as_deref().unwrap_or("*");
    let element = each.as_ref().map_or(String::new(), |each| format!("{each}[{kind}]"));
    format!("{} {}", shown_tag(tag), shown(&(element + path)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use serde_json::{Value, json};

    use super::super::Visitor as _;
    use super::{JsonPath, LeafPath, Statistics, event_path, joined, schema_at, shown_path};
    use crate::limits::DRAFT_PATHS_MAX;
    use ndjson_check_core::internals::JsonRef;

    fn tag() -> Vec<JsonPath> {
        ["/t", "/s"].map(|path| JsonPath::try_from(path).unwrap()).into()
    }

    #[test]
    fn a_shorter_tag_excludes_the_longer_one() {
        let tag = tag();
        let mut statistics = Statistics::new(&tag);
        for event in [json!({"t": "a"}), json!({"t": "a", "s": "x"}), json!({"t": "b"})] {
            statistics.event(JsonRef::tree(&event));
        }
        let when = |tag: &str| Value::from(statistics.when(tag));
        assert_eq!(when("a"), json!({"/t": "a", "/s": {"exists": false}}));
        assert_eq!(when("a/x"), json!({"/t": "a", "/s": "x"}));
        assert_eq!(when("b"), json!({"/t": "b"}));
    }

    #[test]
    fn tags_are_bounded_and_the_draft_says_so() {
        let tag = tag();
        let mut statistics = Statistics::new(&tag);
        for number in 0..DRAFT_PATHS_MAX + 10 {
            statistics.event(JsonRef::tree(&json!({"t": "a", "s": number.to_string()})));
        }
        statistics.event(JsonRef::tree(&json!({"t": "a", "s": "0"})));
        assert_eq!(statistics.parts.len(), DRAFT_PATHS_MAX);
        assert_eq!(statistics.events(), DRAFT_PATHS_MAX as u64 + 1);
        let evidence = statistics.draft().evidence;
        assert!(evidence.iter().any(|line| line.starts_with("limit: 10 events")), "{evidence:?}");
    }

    #[test]
    fn tags_and_paths_have_one_spelling() {
        assert_eq!(joined(&["a/b".to_owned(), "c~".to_owned()]), "a~1b/c~0");
        let each = Some("/list".into());
        let path = LeafPath { each, path: "/id".to_owned(), ..event_path(&"t".into()) };
        assert_eq!(shown_path(&path), "`t` `/list[*]/id`");
    }

    #[test]
    fn a_schema_is_wrapped_for_a_deep_value() {
        let schema = schema_at("/a/b~1c", json!({"const": 1}));
        let inner = json!({"properties": {"b/c": {"const": 1}}, "required": ["b/c"]});
        assert_eq!(schema, json!({"properties": {"a": inner}, "required": ["a"]}));
    }
}
