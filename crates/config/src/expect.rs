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
        for preset in self.presets.clone() {
            self.add(Preset::table(&preset, source)?, &preset.span());
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
        let model = self.model.as_ref().map(|model| {
            (source.place(&model.span()), Expectation::Model(model.get_ref().0.clone()))
        });
        let session = self.session.as_ref().map(|session| {
            (source.place(&session.span()), Expectation::Session(session.get_ref().clone()))
        });
        let servers = self.servers.as_ref().map(|servers| {
            (source.place(&servers.span()), Expectation::Servers(names(servers.get_ref())))
        });
        let tools = self
            .tools
            .as_ref()
            .map(|tools| (source.place(&tools.span()), Expectation::Tools(names(tools.get_ref()))));
        [model, session, servers, tools].into_iter().flatten().collect()
    }
}

impl ExpectedWrites {
    fn is_empty(&self) -> bool {
        self.within.is_none() && self.never.is_none()
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

/// Whether a pattern for commands has a space that no command has: at an end, or after another
/// one. Groups, classes, alternatives and repetitions may give a space another meaning.
fn has_idle_space(pattern: &str) -> bool {
    let has = pattern.trim() != pattern || pattern.contains("  ");
    has && !pattern.contains(['(', '[', '|', '*', '?', '+', '{', '\\'])
}

/// Whether a pattern for commands has what no command has by itself: an operator between commands,
/// a redirection, a quote, or a variable that is set in front.
fn has_shell_syntax(pattern: &str) -> bool {
    const OPERATORS: [&str; 8] = [" && ", " \\|", "\\| ", "\\|\\s", " > ", " 2>", "\"", "'"];
    let first = pattern.trim_start_matches('^').split([' ', '\\']).next().unwrap_or_default();
    let variable = first.split_once('=').map(|(name, _)| name);
    let is_name = |name: &str| name.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    let is_plain = !pattern.starts_with("(?");
    let has_operator = OPERATORS.iter().any(|operator| pattern.contains(operator));
    is_plain && (has_operator || variable.is_some_and(is_name))
}

impl CallEntry {
    /// Whether the words of the entry mean something together.
    fn check_words(&self) -> Result<(), &'static str> {
        let kind = self.kind.or(self.runs.as_ref().map(|_| CallKind::Command));
        let is_empty = |it: &Option<Pattern>| it.as_ref().is_some_and(|it| it.0.is_empty());
        let has_text = self.matches.is_some() || self.runs.is_some();
        let output = self.output.as_ref();
        let is_judged = output.is_some_and(|it| it.passed.is_some() || it.failed.is_some());
        let is_compared = output
            .is_some_and(|it| it.matches.is_some() || it.never.is_some() || it.nothing.is_some());
        match () {
            () if kind.is_none() && self.tool.is_none() && !has_text => {
                Err("an entry needs `kind`, `tool`, `matches` or `runs`")
            }
            () if self.name.as_deref() == Some("") => Err("`name` is empty"),
            () if is_empty(&self.runs) => Err("`runs` is empty"),
            () if is_empty(&self.except) => Err("`except` is empty: every command matches it"),
            () if self.runs.as_ref().is_some_and(|it| has_idle_space(&it.0)) => {
                Err("`runs` cannot match: single spaces separate words, and none is at an end")
            }
            () if self.runs.as_ref().is_some_and(|it| has_shell_syntax(&it.0)) => Err(
                "`runs` cannot match: it sees each command of a line by itself, without quotes \
                     and variables; for the whole line, use `matches`",
            ),
            () if self.runs.is_some() && kind != Some(CallKind::Command) => {
                Err("`runs` is for calls of the kind `command`")
            }
            () if self.after.is_some() && self.after == kind => {
                Err("`after` names the kind of the entry: no call comes after the last of its kind")
            }
            () if self.before.is_some() && self.before == kind => Err(
                "`before` names the kind of the entry: no call comes before the first of its kind",
            ),
            () if output.is_some() && !is_judged && !is_compared => {
                Err("`output` needs `matches`, `never`, `nothing`, `passed` or `failed`")
            }
            () if self.except.is_some() && self.runs.is_none() => Err("`except` needs `runs`"),
            () if is_judged && self.runs.is_none() => {
                Err("`output.passed` and `output.failed` need `runs`")
            }
            () => Ok(()),
        }
    }

    fn expected(&self) -> Result<ExpectedCalls, &'static str> {
        let (at_least, at_most) =
            (self.at_least.map(|count| count.0), self.at_most.map(|count| count.0));
        self.check_words()?;
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
        (calls.name, calls.kind) = (self.name.clone(), self.kind);
        calls.tool = self.tool.as_ref().map(|tool| tool.0.clone());
        let text = |pattern: &Option<Pattern>| pattern.as_ref().map(|it| it.0.clone());
        (calls.matches, calls.runs) = (text(&self.matches), text(&self.runs));
        (calls.at_least, calls.at_most) = (at_least, at_most);
        calls.last_must_succeed = self.last.is_some();
        (calls.after, calls.before) = (self.after, self.before);
        calls.requires = self.requires.as_ref().map(|required| required.kind);
        calls.except = text(&self.except);
        if let Some(ExpectedOutput { matches, never, nothing, passed, failed }) = &self.output {
            (calls.output_matches, calls.output_never) = (text(matches), text(never));
            calls.output_nothing = text(nothing);
            (calls.output_passed, calls.output_failed) = (text(passed), text(failed));
        }
        Ok(calls)
    }
}
