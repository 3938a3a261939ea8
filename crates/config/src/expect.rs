//! The table `expect` of the configuration file.

use ndjson_check_core::{CallKind, Expectation, ExpectedCalls, internals::read_schema};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::source::ConfigText;
use crate::table::absolute;
use crate::values::{Count, Glob, Pattern};

/// An expectation, and its place in the file.
pub(crate) type Placed = (String, Expectation);

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(crate) struct ExpectTable {
    answer: Option<ExpectedAnswer>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Spanned<CallEntry>>,
    writes: Option<ExpectedWrites>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct ExpectedAnswer {
    matches: Option<Spanned<Pattern>>,
    /// A file.
    schema: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
struct CallEntry {
    kind: Option<CallKind>,
    tool: Option<String>,
    matches: Option<Pattern>,
    at_least: Option<Count<1>>,
    at_most: Option<Count<0>>,
    last: Option<LastOutcome>,
    after: Option<CallKind>,
    before: Option<CallKind>,
    output: Option<ExpectedOutput>,
    requires: Option<RequiredCall>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct ExpectedOutput {
    matches: Option<Pattern>,
    never: Option<Pattern>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct RequiredCall {
    kind: CallKind,
    same: SharedValue,
}

/// What a call and the one that it requires have in common.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum SharedValue {
    Path,
}

/// How the last of some calls may be expected to end.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum LastOutcome {
    Succeeded,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct ExpectedWrites {
    within: Option<Spanned<Vec<Glob>>>,
    never: Option<Spanned<Vec<Glob>>>,
}

impl ExpectTable {
    pub(crate) fn is_empty(&self) -> bool {
        self.answer.is_none() && self.calls.is_empty() && self.writes.is_none()
    }

    /// The expectations, in the order of their kinds. Makes the paths of schemas absolute.
    pub(crate) fn resolve(&mut self, source: &ConfigText) -> Result<Vec<Placed>, String> {
        let mut placed = Vec::new();
        if let Some(answer) = &mut self.answer {
            answer.resolve(source, &mut placed)?;
        }
        for entry in &self.calls {
            let calls = entry.get_ref().expected();
            let calls = calls.map_err(|message| source.fault(&entry.span(), message))?;
            placed.push((source.place(&entry.span()), Expectation::Calls(calls)));
        }
        if let Some(ExpectedWrites { within, never }) = &self.writes {
            let texts = |globs: &[Glob]| globs.iter().map(|glob| glob.0.clone()).collect();
            placed.extend(within.iter().map(|globs| {
                (source.place(&globs.span()), Expectation::WritesWithin(texts(globs.get_ref())))
            }));
            placed.extend(never.iter().map(|globs| {
                (source.place(&globs.span()), Expectation::WritesNever(texts(globs.get_ref())))
            }));
        }
        Ok(placed)
    }
}

impl ExpectedAnswer {
    fn resolve(&mut self, source: &ConfigText, placed: &mut Vec<Placed>) -> Result<(), String> {
        if let Some(pattern) = &self.matches {
            let expected = Expectation::AnswerMatches(pattern.get_ref().0.clone());
            placed.push((source.place(&pattern.span()), expected));
        }
        if let Some(schema) = &mut self.schema {
            let span = schema.span();
            let file = source.path(schema.get_ref());
            let origin = file.display().to_string();
            let json = read_schema(&file).map_err(|message| {
                source.fault(&span, &format!("failed to use the schema {origin}: {message}"))
            })?;
            *schema.get_mut() = absolute(&file);
            placed.push((source.place(&span), Expectation::AnswerSatisfies(json.to_string())));
        }
        Ok(())
    }
}

impl CallEntry {
    fn expected(&self) -> Result<ExpectedCalls, &'static str> {
        let (at_least, at_most) =
            (self.at_least.map(|count| count.0), self.at_most.map(|count| count.0));
        if self.kind.is_none() && self.tool.is_none() && self.matches.is_none() {
            return Err("an entry needs `kind`, `tool` or `matches`");
        }
        let is_counted = at_least.is_some() || at_most.is_some() || self.last.is_some();
        if !is_counted && self.requires.is_none() {
            return Err("an entry needs `at-least`, `at-most`, `last` or `requires`");
        }
        let is_placed = self.after.is_some() || self.before.is_some() || self.output.is_some();
        if is_placed && !is_counted {
            return Err("`after`, `before` and `output` need `at-least`, `at-most` or `last`");
        }
        let needed = at_least.unwrap_or_else(|| u64::from(self.last.is_some()));
        if at_most.is_some_and(|most| most < needed) {
            return Err("`at-most` is less than what the entry needs");
        }
        let mut calls = ExpectedCalls::default();
        (calls.kind, calls.tool) = (self.kind, self.tool.clone());
        calls.matches = self.matches.as_ref().map(|pattern| pattern.0.clone());
        (calls.at_least, calls.at_most) = (at_least, at_most);
        calls.last_succeeded = self.last.is_some();
        (calls.after, calls.before) = (self.after, self.before);
        calls.requires = self.requires.as_ref().map(|required| required.kind);
        if let Some(ExpectedOutput { matches, never }) = &self.output {
            let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|it| it.0.clone());
            (calls.output_matches, calls.output_never) = (text(matches), text(never));
        }
        Ok(calls)
    }
}
