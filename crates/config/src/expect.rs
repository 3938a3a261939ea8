//! The table `expect` of the configuration file.

use std::ops::Range;

use ndjson_check_core::{CallKind, Expectation, ExpectedCalls, internals::read_schema};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::presets::Preset;
use crate::source::ConfigText;
use crate::table::absolute;
use crate::values::{Count, Glob, Name, Pattern};

/// An expectation, and its place in the file.
pub(crate) type Placed = (String, Expectation);

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub(crate) struct ExpectTable {
    /// They become entries of the other keys; then only their names matter.
    #[serde(skip_serializing)]
    presets: Vec<Spanned<Preset>>,
    model: Option<Spanned<Name>>,
    session: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Spanned<Vec<Name>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Spanned<Vec<Name>>>,
    answer: Option<Spanned<ExpectedAnswer>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Spanned<CallEntry>>,
    writes: Option<Spanned<ExpectedWrites>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = r#"a table, such as `{ matches = "done" }`"#)]
struct ExpectedAnswer {
    matches: Option<Spanned<Pattern>>,
    /// A file.
    schema: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[serde(expecting = r#"a table, such as `{ kind = "write", at-least = 1 }`"#)]
struct CallEntry {
    name: Option<String>,
    kind: Option<CallKind>,
    tool: Option<Name>,
    matches: Option<Pattern>,
    runs: Option<Pattern>,
    except: Option<Pattern>,
    at_least: Option<Count<1>>,
    at_most: Option<Count<0>>,
    last: Option<LastOutcome>,
    after: Option<CallKind>,
    before: Option<CallKind>,
    output: Option<ExpectedOutput>,
    requires: Option<RequiredCall>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = r#"a table, such as `{ matches = "passed" }`"#)]
struct ExpectedOutput {
    matches: Option<Pattern>,
    never: Option<Pattern>,
    nothing: Option<Pattern>,
    passed: Option<Pattern>,
    failed: Option<Pattern>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = r#"a table, such as `{ kind = "read", same = "path" }`"#)]
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

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum LastOutcome {
    Succeeded,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, expecting = r#"a table, such as `{ within = ["src/**"] }`"#)]
struct ExpectedWrites {
    within: Option<Spanned<Vec<Glob>>>,
    never: Option<Spanned<Vec<Glob>>>,
}

impl ExpectTable {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { presets, model, session, servers, tools, answer, calls, writes } = self;
        let names = [servers, tools].into_iter().all(Option::is_none);
        let is_one = model.is_none() && session.is_none() && names;
        presets.is_empty() && is_one && answer.is_none() && calls.is_empty() && writes.is_none()
    }

    /// The expectations, in the order of their kinds. Makes the paths of schemas absolute, and puts
    /// the entries of presets in their place.
    pub(crate) fn resolve(&mut self, source: &ConfigText) -> Result<Vec<Placed>, String> {
        let mut added = Vec::new();
        for preset in self.presets.clone() {
            if !added.contains(&preset.get_ref().name()) {
                added.push(preset.get_ref().name());
                self.add(Preset::table(&preset, source)?, &preset.span());
            }
        }
        let meaningless = self.meaningless();
        if let Some((span, message)) = meaningless {
            return Err(source.fault(&span, message));
        }
        let mut placed = self.at_start(source);
        if let Some(answer) = &mut self.answer {
            answer.get_mut().resolve(source, &mut placed)?;
        }
        for entry in &self.calls {
            let calls = entry.get_ref().expected();
            let calls = calls.map_err(|message| source.fault(&entry.span(), message))?;
            placed.push((source.place(&entry.span()), Expectation::Calls(calls)));
        }
        if let Some(writes) = &self.writes {
            let ExpectedWrites { within, never } = writes.get_ref();
            let texts = |globs: &[Glob]| globs.iter().map(|glob| glob.0.clone()).collect();
            placed.extend(at(source, within.as_ref(), |it| Expectation::WritesWithin(texts(it))));
            placed.extend(at(source, never.as_ref(), |it| Expectation::WritesNever(texts(it))));
        }
        Ok(placed)
    }
}

impl ExpectTable {
    pub(crate) fn presets(&self) -> Vec<&'static str> {
        self.presets.iter().map(|preset| preset.get_ref().name()).collect()
    }

    pub(crate) fn answer_schema(&self) -> Option<&str> {
        let schema = self.answer.as_ref()?.get_ref().schema.as_ref()?;
        Some(schema.get_ref())
    }

    /// A demand that every run meets, and what is wrong with it.
    fn meaningless(&self) -> Option<(Range<usize>, &'static str)> {
        let empty = |names: &Option<Spanned<Vec<Name>>>, message| {
            let names = names.as_ref().filter(|names| names.get_ref().is_empty())?;
            Some((names.span(), message))
        };
        let session = self.session.as_ref().filter(|it| it.get_ref().is_empty());
        let answer = self.answer.as_ref().filter(|it| it.get_ref().is_empty());
        let matches = self.answer.as_ref().and_then(|it| it.get_ref().matches.as_ref());
        let matches = matches.filter(|it| it.get_ref().0.is_empty());
        let writes = self.writes.as_ref().filter(|it| it.get_ref().is_empty());
        let never = self.writes.as_ref().and_then(|it| it.get_ref().never.as_ref());
        let never = never.filter(|globs| globs.get_ref().is_empty());
        let faults = [
            empty(&self.servers, "`servers` names no server"),
            empty(&self.tools, "`tools` names no tool"),
            session.map(|it| (it.span(), "`session` is empty")),
            answer.map(|it| (it.span(), "`answer` needs `matches` or `schema`")),
            matches.map(|it| (it.span(), "`matches` is empty: every answer matches it")),
            writes.map(|it| (it.span(), "`writes` needs `within` or `never`")),
            never.map(|it| (it.span(), "`never` names no file")),
        ];
        faults.into_iter().flatten().next()
    }

    /// Adds the entries of a preset at this place.
    fn add(&mut self, other: Self, span: &Range<usize>) {
        let calls = other.calls.into_iter().map(Spanned::into_inner);
        self.calls.extend(calls.map(|entry| Spanned::new(span.clone(), entry)));
        if let Some(pattern) = other.answer.and_then(|answer| answer.into_inner().matches) {
            let empty = ExpectedAnswer { matches: None, schema: None };
            let answer = self.answer.get_or_insert_with(|| Spanned::new(span.clone(), empty));
            // A pattern of the user asks for more.
            let pattern = Spanned::new(span.clone(), pattern.into_inner());
            answer.get_mut().matches.get_or_insert(pattern);
        }
    }

    fn at_start(&self, source: &ConfigText) -> Vec<Placed> {
        let names = |globs: &[Name]| globs.iter().map(|glob| glob.0.clone()).collect();
        let model = at(source, self.model.as_ref(), |it| Expectation::Model(it.0.clone()));
        let session = at(source, self.session.as_ref(), |it| Expectation::Session(it.clone()));
        let servers = at(source, self.servers.as_ref(), |it| Expectation::Servers(names(it)));
        let tools = at(source, self.tools.as_ref(), |it| Expectation::Tools(names(it)));
        [model, session, servers, tools].into_iter().flatten().collect()
    }
}

/// What a value demands, if there is one, with its place.
fn at<T>(
    source: &ConfigText,
    value: Option<&Spanned<T>>,
    demand: impl Fn(&T) -> Expectation,
) -> Option<Placed> {
    let value = value?;
    Some((source.place(&value.span()), demand(value.get_ref())))
}

impl ExpectedWrites {
    fn is_empty(&self) -> bool {
        self.within.is_none() && self.never.is_none()
    }
}

impl ExpectedOutput {
    fn is_empty(&self) -> bool {
        let Self { matches, never, nothing, passed, failed } = self;
        [matches, never, nothing, passed, failed].into_iter().all(Option::is_none)
    }
}

impl ExpectedAnswer {
    fn is_empty(&self) -> bool {
        self.matches.is_none() && self.schema.is_none()
    }

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
    /// What only the words of the entry show; [`ExpectedCalls::check`] knows the rest.
    fn check_words(&self) -> Result<(), &'static str> {
        let is_counted = self.at_least.is_some() || self.at_most.is_some() || self.last.is_some();
        let is_placed = self.after.is_some() || self.before.is_some() || self.output.is_some();
        match () {
            () if self.name.as_deref() == Some("") => Err("`name` is empty"),
            () if self.output.as_ref().is_some_and(ExpectedOutput::is_empty) => {
                Err("`output` needs `matches`, `never`, `nothing`, `passed` or `failed`")
            }
            () if !is_counted && self.requires.is_none() => {
                Err("an entry needs `at-least`, `at-most`, `last` or `requires`")
            }
            () if is_placed && !is_counted => {
                Err("`after`, `before` and `output` need `at-least`, `at-most` or `last`")
            }
            () => Ok(()),
        }
    }

    fn expected(&self) -> Result<ExpectedCalls, &'static str> {
        self.check_words()?;
        let mut calls = ExpectedCalls::default();
        (calls.name, calls.kind) = (self.name.clone(), self.kind);
        calls.tool = self.tool.as_ref().map(|tool| tool.0.clone());
        let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|it| it.0.clone());
        (calls.matches, calls.runs) = (text(&self.matches), text(&self.runs));
        calls.at_least = self.at_least.map(|count| count.0);
        calls.at_most = self.at_most.map(|count| count.0);
        calls.last_must_succeed = self.last.is_some();
        (calls.after, calls.before) = (self.after, self.before);
        calls.requires = self.requires.as_ref().map(|required| required.kind);
        calls.except = text(&self.except);
        if let Some(ExpectedOutput { matches, never, nothing, passed, failed }) = &self.output {
            (calls.output_matches, calls.output_never) = (text(matches), text(never));
            calls.output_nothing = text(nothing);
            (calls.output_passed, calls.output_failed) = (text(passed), text(failed));
        }
        calls.check()?;
        Ok(calls)
    }
}
