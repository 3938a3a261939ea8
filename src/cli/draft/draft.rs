//! The last round: counts everything that a profile speaks of, and writes the profile.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::ends::Ends;
use super::fields::Fields;
use super::ids::{Ids, Pair};
use super::leaves::{Place, Places, leaves};
use super::outcomes::{and, signs};
use super::texts::{Keys, Texts};
use super::{Look, counted, survey};
use crate::stream::event::Node;
use crate::limits::INFER_NODES_MAX;
use crate::profile::path::Path;
use crate::json::pointer;
use crate::rules::escape::shown;

/// Counts what stands where in the events of each tag.
pub(super) struct Study<'t> {
    tag: &'t [Path],
    /// The key by which elements of arrays tell what they are: that of the tag's first part.
    kind: Option<String>,
    /// The parts of each tag.
    parts: BTreeMap<Rc<str>, Vec<String>>,
    /// The tags as a profile has them: a part that is missing is left out.
    tags: BTreeSet<String>,
    pub(super) ends: Ends,
    pub(super) places: Places,
    ids: Ids,
    pub(super) texts: Texts,
    fields: BTreeMap<Rc<str>, Fields>,
    /// How many more nodes the schemas may have.
    room: usize,
}

/// The members of a profile in order, and what they rest on.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) members: Vec<(&'static str, Value)>,
    pub(super) evidence: Vec<String>,
}

impl Look for Study<'_> {
    fn event(&mut self, root: Node<'_>) {
        let parts = survey::parts(self.tag, root);
        let name: Rc<str> = joined(parts.iter().map(String::as_str)).into();
        self.tags.insert(joined(survey::all_parts(self.tag, root).iter().map(String::as_str)));
        self.parts.entry(name.clone()).or_insert(parts);
        self.ends.event(&name);
        self.fields.entry(name.clone()).or_default().see(root, 0, &mut self.room);
        let mut strings: BTreeMap<usize, String> = BTreeMap::new();
        for leaf in leaves(root, self.kind.as_deref()) {
            let number = self.places.count(&name, &leaf);
            if self.tag.iter().any(|it| leaf.each.is_none() && it.to_string() == leaf.path) {
                continue;
            }
            self.ends.leaf(&name, &leaf);
            if let (Some(number), Some(text)) = (number, leaf.node.as_str()) {
                self.ids.see(number, &text, &self.places);
                strings.entry(number).or_default().push_str(&text);
            }
        }
        let keys: Keys = root.members().map(|(key, _)| key.into_owned()).collect();
        self.texts.event(&strings, &keys, &self.places);
    }

    fn end(&mut self) {
        self.ends.end();
        self.ids.end();
        self.texts.end();
    }
}

impl<'t> Study<'t> {
    pub(super) fn new(tag: &'t [Path]) -> Self {
        let last = |path: &Path| pointer::tokens(&path.to_string()).last();
        Self {
            tag,
            kind: tag.first().and_then(last),
            parts: BTreeMap::new(),
            tags: BTreeSet::new(),
            ends: Ends::default(),
            places: Places::default(),
            ids: Ids::default(),
            texts: Texts::default(),
            fields: BTreeMap::new(),
            room: INFER_NODES_MAX,
        }
    }

    pub(super) fn events(&self) -> u64 {
        self.ends.events()
    }

    /// The profile and the evidence.
    pub(super) fn draft(&self) -> Written {
        let mut written = Written::default();
        let recordings = counted(self.ends.recordings, "recording");
        let title = format!("A draft from {recordings}, to be edited");
        written.members.push(("name", json!("draft")));
        written.members.push(("title", json!(title)));
        self.tags(&mut written);
        self.session(&mut written);
        self.calls(&mut written);
        self.text(&mut written);
        self.terminal(&mut written);
        written.members.push(("schema", self.schema()));
        written
    }

    fn tags(&self, written: &mut Written) {
        let at: Vec<String> = self.tag.iter().map(Path::to_string).collect();
        // A profile names something: without a tag all events have the same, the empty one.
        let at = if at.is_empty() { json!([""]) } else { json!(at) };
        let observed: Vec<&str> =
            self.tags.iter().map(|it| &**it).filter(|it| !it.is_empty()).collect();
        written.members.push(("tags", json!({ "at": at, "observed": observed })));
        let counts = self.ends.tags().map(|(tag, it)| format!("{} {}", named(tag), it.events));
        written.evidence.push(format!("events: {}", counts.collect::<Vec<_>>().join(", ")));
    }

    fn session(&self, written: &mut Written) {
        let all = self.ends.recordings;
        let mut session = Map::new();
        if let Some((tag, it)) = self.ends.start() {
            let (name, times) = (named(tag), counted(it.events, "time"));
            let recordings = counted(all, "recording");
            let told = format!("start: {name} is first in all of {recordings}, {times} in all");
            // What comes again and again begins no session.
            let (once, turns) = (it.events == all, self.ends.has_turns());
            let told = match (once, turns) {
                (true, _) => told,
                (_, true) => told + ", one for each turn",
                _ => told + "; not taken for one",
            };
            written.evidence.push(told);
            if once || turns {
                session.insert("start".to_owned(), json!([{ "when": self.when(tag) }]));
            }
            if turns {
                session.insert("repeats".to_owned(), "each_turn".into());
            }
        } else {
            written.evidence.push("start: recordings begin with different events".to_owned());
        }
        if let Some((path, seen, values)) = self.ends.session() {
            session.insert("id".to_owned(), json!([path]));
            written.evidence.push(format!(
                "session: {} is in {seen} of {} events, one in each recording, {} in all",
                shown(path),
                self.events(),
                counted(values as u64, "value")
            ));
        } else {
            written.evidence.push("session: no string is the same in all events".to_owned());
        }
        if let Some((path, seen)) = self.ends.time() {
            session.insert("time".to_owned(), json!(path));
            let path = shown(path);
            written.evidence.push(format!("time: {path} grows, in {}", counted(seen, "event")));
        }
        written.members.push(("session", session.into()));
    }

    fn calls(&self, written: &mut Written) {
        let pairs = self.ids.pairs(&self.places, &self.ends);
        if pairs.is_empty() {
            written.evidence.push("calls: no id comes again in an event of another tag".to_owned());
            return;
        }
        let (mut starts, mut completions, mut tools) = (Vec::new(), Vec::new(), Vec::new());
        for pair in &pairs {
            let (start, completion) =
                (self.places.place(pair.start), self.places.place(pair.completion));
            let mut rule = self.rule(start);
            rule.insert("id".to_owned(), json!([start.path]));
            starts.push(Value::Object(rule));
            completions.push(self.completion(completion));
            let tool = self.tool(start, pair);
            if !tools.contains(&tool) {
                tools.push(tool.clone());
            }
            written.evidence.push(self.pair_told(pair, &tool));
        }
        tools.retain(|it| !it.is_null());
        let mut calls = Map::new();
        calls.insert("start".to_owned(), starts.into());
        calls.insert("completion".to_owned(), completions.into());
        if !tools.is_empty() {
            calls.insert("tool".to_owned(), tools.into());
        }
        written.members.push(("calls", calls.into()));
    }

    fn completion(&self, place: &Place) -> Value {
        let signs = signs(place, &self.places);
        let mut outcomes: Vec<Value> = signs
            .iter()
            .map(|it| json!({ "outcome": "failed", "when": { it.path.clone(): it.says_so() } }))
            .collect();
        let rest = if signs.is_empty() { "unknown" } else { "succeeded" };
        outcomes.push(json!({ "outcome": rest, "when": {} }));
        let mut rule = self.rule(place);
        rule.insert("id".to_owned(), json!([place.path]));
        rule.insert("outcomes".to_owned(), outcomes.into());
        rule.into()
    }

    /// Where the tool's name may stand: beside the id of the start, as a word that all starts
    /// have, or as the key of what they have one of; null if nowhere.
    fn tool(&self, start: &Place, pair: &Pair) -> Value {
        let near = self.places.iter().filter(|(it, seen)| {
            let key = it.path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
            it.is_beside(start)
                && seen.strings >= pair.starts
                && (key.contains("name") || key.contains("tool"))
                && seen.words.few().is_some()
        });
        if let Some((place, _)) = near.min_by_key(|(it, _)| (it.depth(), it.path.clone())) {
            return json!({ "value": place.path });
        }
        let fields = self.fields.get(&start.tag).filter(|_| start.each.is_none());
        fields
            .and_then(Fields::one_of)
            .map_or(Value::Null, |(path, suffix)| json!({ "key": format!("{path}/*{suffix}") }))
    }

    fn pair_told(&self, pair: &Pair, tool: &Value) -> String {
        let Pair { start, completion, both, starts, completions } = *pair;
        let (start, completion) = (self.places.place(start), self.places.place(completion));
        let tool = match tool.as_object().and_then(|it| it.values().next()?.as_str()) {
            Some(path) => format!("the tool's name may be {}", shown(path)),
            None => "no name of a tool was found".to_owned(),
        };
        format!(
            "calls: {both} of {starts} ids at {} come again at {}, which has {completions}; {tool}",
            place_named(start),
            place_named(completion),
        )
    }

    /// The schema: for each tag what its events have; other events are not its matter.
    fn schema(&self) -> Value {
        let case = |(tag, fields): (&Rc<str>, &Fields)| {
            let parts = &self.parts[tag];
            let mut schema = fields.schema();
            let Some(test) = self.test(parts) else { return schema.into() };
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

    /// A schema for events of this tag; none if all events have it.
    fn test(&self, parts: &[String]) -> Option<Value> {
        let mut tests = Vec::new();
        for (path, part) in self.tag.iter().zip(parts) {
            tests.push(below(&path.to_string(), &json!({ "const": part })));
        }
        // A tag that ends early has no string where the next part would be.
        let next = self.tag.get(parts.len());
        let no_more = next
            .map(|path| json!({ "not": below(&path.to_string(), &json!({ "type": "string" })) }));
        tests.extend(no_more);
        if tests.len() > 1 { Some(json!({ "allOf": tests })) } else { tests.pop() }
    }

    /// The conditions for events of a tag.
    pub(super) fn when(&self, tag: &str) -> Map<String, Value> {
        let parts = &self.parts[tag];
        let equal = self.tag.iter().zip(parts);
        let mut when: Map<String, Value> =
            equal.map(|(path, part)| (path.to_string(), json!(part))).collect();
        let longer = self.parts.values().any(|it| it.len() > parts.len() && it.starts_with(parts));
        if let Some(next) = self.tag.get(parts.len()).filter(|_| longer) {
            when.insert(next.to_string(), json!({ "exists": false }));
        }
        when
    }

    /// The beginning of a rule about a place: which events, and which elements.
    pub(super) fn rule(&self, place: &Place) -> Map<String, Value> {
        let mut rule = Map::new();
        rule.insert("when".to_owned(), self.when(&place.tag).into());
        if let Some(each) = &place.each {
            rule.insert("each".to_owned(), json!(&**each));
            let condition = match (&place.kind, &self.kind) {
                (Some(kind), Some(key)) => (pointer::joined("", key), json!(&**kind)),
                _ => (place.path.clone(), json!({ "exists": true })),
            };
            rule.insert("where".to_owned(), and(&Map::new(), [condition]));
        }
        rule
    }
}

/// A tag of these parts.
fn joined<'p>(parts: impl Iterator<Item = &'p str>) -> String {
    let parts = parts.map(|it| it.replace('~', "~0").replace('/', "~1"));
    parts.collect::<Vec<_>>().join("/")
}

/// The place of an event itself.
pub(super) fn event(tag: &Rc<str>) -> Place {
    Place { tag: tag.clone(), each: None, kind: None, path: String::new() }
}

/// A schema for objects that have a value at `path` that satisfies `schema`.
fn below(path: &str, schema: &Value) -> Value {
    let tokens: Vec<String> = pointer::tokens(path).collect();
    tokens.iter().rev().fold(
        schema.clone(),
        |schema, token| json!({ "properties": { token.clone(): schema }, "required": [token] }),
    )
}

/// A tag as a sentence shows it.
pub(super) fn named(tag: &str) -> Cow<'_, str> {
    if tag.is_empty() { "(no tag)".into() } else { shown(tag).into() }
}

/// A place as a sentence shows it.
pub(super) fn place_named(place: &Place) -> String {
    let Place { tag, each, kind, path } = place;
    let each = each.as_ref().map_or(String::new(), |it| {
        let kind = kind.as_deref().unwrap_or("*");
        format!("{it}[{kind}]")
    });
    format!("{} {}", named(tag), shown(&(each + path)))
}
