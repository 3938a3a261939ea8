//! Which of the strings that make others are the assistant's text, and the rules for it.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::counted;
use super::draft::{Study, Written, event, place_named};
use super::leaves::Place;
use super::outcomes::{and, signs};
use super::texts::Made;
use crate::json::pointer;

/// The strings that are taken for the text, by the numbers of their places.
#[derive(Debug, Default)]
struct Prose {
    delta: Option<usize>,
    whole: Option<usize>,
    /// Whether deltas and whole texts stand at the same place.
    mixed: bool,
    /// The final text, and how it was made.
    last: Option<(usize, Made)>,
}

impl Study<'_> {
    /// The rules for text, if strings of the terminal event, or others, are made of others.
    pub(super) fn text(&self, written: &mut Written) {
        let prose = self.prose();
        let Prose { delta, whole, last, .. } = prose;
        let mut rules = Vec::new();
        let keys = delta.filter(|_| prose.mixed).and_then(|it| self.texts.kinds[&it].told_by());
        if let Some(delta) = delta {
            let conditions = keys
                .into_iter()
                .flatten()
                .map(|(key, exists)| (pointer::joined("", key), json!({ "exists": exists })));
            rules.push(self.text_rule("delta", delta, conditions.collect()));
        }
        rules.extend(whole.map(|it| self.text_rule("whole", it, Vec::new())));
        rules.extend(last.map(|(it, _)| self.final_rule(it)));
        if rules.is_empty() {
            let told = "text: no string is made of others; look for the assistant's text yourself";
            written.evidence.push(told.to_owned());
            return;
        }
        let mut text = json!({ "rules": rules });
        written.evidence.extend(self.told(&prose));
        if let Some((number, made)) = last {
            let count = self.texts.kinds[&number].count;
            let is = match made {
                Made { all, .. } if all == count => None,
                Made { last, .. } if last == count => Some("last"),
                Made { either, .. } if either == count => Some("either"),
                _ => Some("free"),
            };
            if let Some(is) = is {
                text["final"] = is.into();
            }
        }
        written.members.push(("text", text));
    }

    fn prose(&self) -> Prose {
        // What may be anywhere else has no text that is the answer for sure.
        let ends = self.ends.terminals().into_iter().filter(|it| !it.is_suspect());
        let ends: Vec<&Rc<str>> = ends.map(|it| it.tag).collect();
        let is_end = |number: usize| {
            let place = self.places.place(number);
            place.each.is_none() && ends.contains(&&place.tag)
        };
        let made = self.made();
        let mut finals: BTreeMap<usize, u64> = BTreeMap::new();
        for ((source, target), it) in &made {
            if is_end(*target) && !is_end(*source) {
                *finals.entry(*target).or_default() += it.either;
            }
        }
        let last = finals.into_iter().filter(|it| it.1 > 0).max_by_key(|it| it.1);
        let Some((last, _)) = last else { return self.prose_without_end(is_end) };
        let sources = || made.iter().filter(move |((_, it), made)| *it == last && made.either > 0);
        let whole_of = |delta: usize| {
            let mut wholes = sources().map(|((it, _), _)| *it).filter(|it| *it != delta);
            wholes.find(|it| made.get(&(delta, *it)).is_some_and(|made| made.open > 0))
        };
        let pair = sources().find_map(|((it, _), _)| whole_of(*it).map(|whole| (*it, whole)));
        if let Some((delta, whole)) = pair {
            let last = Some((last, made[&(whole, last)]));
            return Prose { delta: Some(delta), whole: Some(whole), mixed: false, last };
        }
        let source = sources().max_by_key(|(_, it)| (it.either, it.all));
        let Some(((source, _), how)) = source else { return Prose::default() };
        let (pieces, last) = (&self.texts.kinds[source], Some((last, *how)));
        let source = Some(*source);
        if pieces.repeats > 0 && pieces.told_by().is_some() {
            Prose { delta: source, whole: source, mixed: true, last }
        } else if pieces.adjacent * 2 >= pieces.count {
            Prose { delta: source, last, ..Prose::default() }
        } else {
            Prose { whole: source, last, ..Prose::default() }
        }
    }

    /// What makes what, of strings that are prose, and not the same all the time.
    fn made(&self) -> BTreeMap<(usize, usize), Made> {
        let is_prose = |number: usize| {
            let place = self.places.place(number);
            let same = place.each.is_none() && self.ends.is_constant(&place.path);
            !same && self.texts.kinds.get(&number).is_some_and(|it| it.prose)
        };
        let made = self.texts.made.iter();
        made.filter(|((a, b), _)| is_prose(*a) && is_prose(*b)).map(|(k, v)| (*k, *v)).collect()
    }

    /// Deltas and the whole text they make, if there is one such pair of places.
    fn prose_without_end(&self, is_end: impl Fn(usize) -> bool) -> Prose {
        let made = self.made();
        let pairs = made.iter().filter(|((source, target), made)| {
            let (pieces, wholes) = (&self.texts.kinds[source], &self.texts.kinds[target]);
            let repeated = wholes.count <= made.open * 2;
            !is_end(*target) && repeated && pieces.count > wholes.count
        });
        let pairs: Vec<_> = pairs.map(|(pair, _)| *pair).collect();
        match pairs[..] {
            [(delta, whole)] => {
                Prose { delta: Some(delta), whole: Some(whole), ..Prose::default() }
            }
            _ => Prose::default(),
        }
    }

    fn text_rule(&self, mode: &str, number: usize, also: Vec<(String, Value)>) -> Value {
        let place = self.places.place(number);
        let rule = self.rule(place);
        let none = Map::new();
        let when = rule.get("when").and_then(Value::as_object).unwrap_or(&none);
        let there = (place.each.is_none() && !self.is_always_there(place))
            .then(|| (place.path.clone(), json!({ "exists": true })));
        let when = and(when, also.into_iter().chain(there));
        let mut whole = Map::new();
        whole.insert("mode".to_owned(), json!(mode));
        whole.extend(rule.clone());
        whole.insert("when".to_owned(), when);
        whole.insert("value".to_owned(), json!(place.path));
        whole.into()
    }

    fn is_always_there(&self, place: &Place) -> bool {
        let events = self.ends.tags().find(|(tag, _)| **tag == place.tag).map(|(_, it)| it.events);
        let strings = self.places.iter().find(|(it, _)| it == place).map(|(_, seen)| seen.strings);
        events == strings
    }

    /// The final text is that of a run that did not fail.
    fn final_rule(&self, number: usize) -> Value {
        let signs = signs(&event(&self.places.place(number).tag), &self.places);
        let good = signs.iter().map(|it| (it.path.clone(), it.does_not()));
        self.text_rule("final", number, good.collect())
    }

    fn told(&self, prose: &Prose) -> Vec<String> {
        let named = |number: usize| place_named(self.places.place(number));
        let mut told = Vec::new();
        if let (Some(delta), Some(whole)) = (prose.delta, prose.whole) {
            let pieces = &self.texts.kinds[&delta];
            let (whole, repeats) = if prose.mixed {
                ("the same place".to_owned(), pieces.repeats)
            } else {
                let made = self.texts.made.get(&(delta, whole));
                (named(whole), made.map_or(0, |it| it.open))
            };
            told.push(format!(
                "text: the pieces at {} are repeated as one at {whole}, {}",
                named(delta),
                counted(repeats, "time")
            ));
        }
        if let (Some((last, made)), Some(source)) = (prose.last, prose.whole.or(prose.delta)) {
            told.push(format!(
                "text: of {} at {}, {} are all those at {} together, and {} the last of them",
                counted(self.texts.kinds[&last].count, "string"),
                named(last),
                made.all,
                named(source),
                made.last
            ));
        }
        told
    }
}
