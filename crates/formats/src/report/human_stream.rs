//! One stream in the human report.

use std::borrow::Cow;

use ndjson_check_core::{
    Diagnostic, Rule, SchemaLocation, Severity, StreamSummary, ToolCall, escape::visible,
};

use super::alike::{Alike, alike, causes, hidden};
use super::defect_words::unknown_part;
use super::wrapped::push_wrapped;
use super::{Headline, stats_text, stream_name, summary_text};

/// A space at which no line breaks: a figure stays whole.
const NO_BREAK: &str = "\u{a0}";

/// Between two figures: a line ends behind it.
const BETWEEN: &str = "\u{a0}· ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Name,
    Good,
    Bad,
    Warning,
    Quiet,
}

/// Where the report is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    pub(super) has_color: bool,
    /// The columns of the terminal.
    pub(super) width: Option<usize>,
    /// Alone, what is read from standard input needs no name.
    pub(super) names_stdin: bool,
}

impl Look {
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        use owo_colors::OwoColorize as _;
        match style {
            _ if !self.has_color => text.to_owned(),
            Style::Plain => text.to_owned(),
            Style::Name => text.bold().to_string(),
            Style::Good => text.green().bold().to_string(),
            Style::Bad => text.red().bold().to_string(),
            Style::Warning => text.yellow().bold().to_string(),
            Style::Quiet => text.dimmed().to_string(),
        }
    }

    /// Adds a line; what does not fit is indented by so many columns.
    pub(super) fn line(self, text: &str, indent: usize, out: &mut String) {
        let begin = out.len();
        push_wrapped(text, indent, self.width, out);
        if text.contains(NO_BREAK) {
            let line = out.split_off(begin).replace(NO_BREAK, " ");
            out.push_str(&line);
        }
    }
}

/// A line below the headline.
#[derive(Debug)]
struct ShownLine {
    indent: usize,
    label: (Style, String),
    rest: (Style, String),
}

impl ShownLine {
    fn plain(text: String) -> Self {
        Self { indent: 4, label: (Style::Plain, String::new()), rest: (Style::Plain, text) }
    }

    fn quiet(text: String) -> Self {
        let plain = Self::plain(text);
        Self { rest: (Style::Quiet, plain.rest.1), ..plain }
    }

    fn write(&self, look: Look, out: &mut String) {
        let [label, rest] = [&self.label, &self.rest].map(|(style, text)| look.paint(*style, text));
        let text = format!("{}{label}{rest}", " ".repeat(self.indent));
        look.line(&text, self.indent + 2, out);
    }
}

#[derive(Debug)]
pub(super) struct ShownStream {
    name: String,
    mark: (Style, char),
    reason: &'static str,
    rest: String,
    /// The rest, where it does not follow the reason.
    detail: String,
    lines: Vec<ShownLine>,
    figures: String,
    has_warnings: bool,
    has_stats: bool,
}

impl ShownStream {
    pub(super) fn new(
        name: String,
        title: &str,
        summary: &StreamSummary,
        headline: &Headline,
        diagnostics: &[Diagnostic],
    ) -> Self {
        let style = match headline.mark() {
            '✓' => Style::Good,
            '✗' => Style::Bad,
            _ => Style::Warning,
        };
        let mut lines = findings(diagnostics, &summary.tool_calls, headline);
        lines.extend(context(summary, headline));
        let stats = summary.stats.as_ref().map(|stats| stats_text::row(summary, stats));
        lines.extend(stats.iter().map(|row| ShownLine::quiet(format!("stats: {row}"))));
        Self {
            name,
            mark: (style, headline.mark()),
            reason: headline.reason,
            rest: headline.rest.clone(),
            detail: headline.detail().to_owned(),
            lines,
            figures: figures(title, summary, headline),
            has_warnings: headline.has_warnings,
            has_stats: stats.is_some(),
        }
    }

    pub(super) fn broken_off(name: String, message: &str, diagnostics: &[Diagnostic]) -> Self {
        let group = "not checked";
        let reason = if diagnostics.is_empty() { group } else { "checked only in part" };
        let rest = format!(": {}", visible(message));
        let (passed, has_warnings) = (false, false);
        let headline = Headline { passed, reason, group, rest: rest.clone(), has_warnings };
        let (lines, mark) = (findings(diagnostics, &[], &headline), (Style::Bad, headline.mark()));
        let (detail, figures) = (String::new(), String::new());
        let has_stats = false;
        Self { name, mark, reason, rest, detail, lines, figures, has_warnings, has_stats }
    }

    /// About how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let lines = self.lines.iter().map(|it| it.label.1.len() + it.rest.1.len() + 64);
        lines.sum::<usize>() + self.name.len() + self.rest.len() + self.figures.len() + 128
    }

    pub(super) fn has_warnings(&self) -> bool {
        self.has_warnings
    }

    pub(super) fn mark(&self) -> (Style, char) {
        self.mark
    }

    pub(super) fn has_stats(&self) -> bool {
        self.has_stats
    }

    pub(super) fn write(&self, look: Look, out: &mut String) {
        let mark = look.paint(self.mark.0, self.mark.1.encode_utf8(&mut [0; 4]));
        let reason = look.paint(self.mark.0, self.reason);
        let name = match &*self.name {
            "-" if !look.names_stdin => String::new(),
            name => format!("{}  ", look.paint(Style::Name, &stream_name(name))),
        };
        let head = format!("{mark} {name}{reason}{}", self.rest);
        if self.lines.is_empty() && self.mark.0 == Style::Good {
            let figures = look.paint(Style::Quiet, &format!(" · {}", self.figures));
            look.line(&format!("{head}{figures}"), 4, out);
        } else {
            look.line(&head, 4, out);
            self.body(look, out);
        }
    }

    /// Whether it ended like another one, and the same was found in it.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let texts = |stream: &Self| -> Vec<String> {
            stream.lines.iter().map(|it| format!("{}{}", it.label.1, it.rest.1)).collect()
        };
        self.detail == other.detail && texts(self) == texts(other)
    }

    pub(super) fn shown_name(&self) -> Cow<'_, str> {
        stream_name(&self.name)
    }

    /// In a group, of which the heading says the reason.
    pub(super) fn write_in_group(&self, look: Look, out: &mut String) {
        let name = look.paint(Style::Name, &stream_name(&self.name));
        look.line(format!("  {name}  {}", self.detail).trim_end(), 4, out);
        self.body(look, out);
    }

    fn body(&self, look: Look, out: &mut String) {
        self.lines.iter().for_each(|line| line.write(look, out));
        if !self.figures.is_empty() {
            ShownLine::quiet(self.figures.clone()).write(look, out);
        }
    }
}

/// The figures, each of which stays whole.
fn figures(title: &str, summary: &StreamSummary, headline: &Headline) -> String {
    let figures = summary_text::figures_below(title, summary, headline);
    let whole: Vec<String> = figures.iter().map(|figure| figure.replace(' ', NO_BREAK)).collect();
    whole.join(BETWEEN)
}

/// What a reader should know besides the findings, as far as the headline does not say it.
fn context(summary: &StreamSummary, headline: &Headline) -> Vec<ShownLine> {
    let is_new = |text: &str| {
        let text = text.strip_prefix("the exit status means: ").unwrap_or(text);
        !headline.says(text)
    };
    let stderr = summary.stderr.iter().map(|line| ("stderr: ", line.clone()));
    let error = summary.facts.error_text.iter().map(|text| ("agent: ", text.clone()));
    let notes = summary_text::news(summary, headline).filter(|note| !note.is_of_check());
    let notes = notes.map(|note| ("note: ", note.to_string()));
    let all = stderr.chain(error).chain(notes).filter(|(_, text)| is_new(text));
    all.map(|(label, text)| ShownLine::quiet(format!("{label}{}", visible(&text)))).collect()
}

/// The findings, errors first, those of a rule together.
fn findings(found: &[Diagnostic], calls: &[ToolCall], headline: &Headline) -> Vec<ShownLine> {
    let all = found.len();
    let found = causes(found, headline);
    let mut rules: Vec<(Severity, Rule)> = Vec::new();
    for it in &found {
        if !rules.contains(&(it.severity, it.rule)) {
            rules.push((it.severity, it.rule));
        }
    }
    rules.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let mut lines = Vec::new();
    for (severity, rule) in rules {
        let of_rule = found.iter().copied().filter(|it| (it.severity, it.rule) == (severity, rule));
        of_one_rule((severity, rule), &alike(of_rule, calls), headline, &mut lines);
    }
    lines.extend(hidden(all - found.len(), headline).map(ShownLine::quiet));
    lines
}

fn of_one_rule(
    (severity, rule): (Severity, Rule),
    alike: &[Alike<'_>],
    headline: &Headline,
    lines: &mut Vec<ShownLine>,
) {
    let style = match severity {
        Severity::Error => Style::Bad,
        Severity::Warning => Style::Warning,
    };
    let label = (style, format!("{}[{rule}]", severity.name()));
    if let [one] = alike {
        let is_of_headline =
            [Rule::AllCallsRefused, Rule::AllCallsFailed, Rule::NotNdjson, Rule::EmptyStream];
        let message = one.message();
        let part = unknown_part(&message).unwrap_or(&message);
        let is_said = is_of_headline.contains(&rule) || headline.rest.contains(part);
        let place = one.place();
        let rest = if place.is_empty() { place } else { format!(" {place}") };
        let message =
            if is_said { String::new() } else { format!(": {}", one.message_with_line()) };
        lines.push(ShownLine { indent: 4, label, rest: (Style::Plain, rest + &message) });
        lines.extend(one.note(headline).map(|note| ShownLine { indent: 6, ..note }));
        return;
    }
    lines.push(ShownLine { indent: 4, label, rest: (Style::Plain, String::new()) });
    let mut alike = alike.iter().peekable();
    while let Some(one) = alike.next() {
        let (indent, label) = (6, (Style::Plain, String::new()));
        let parts = [one.place(), one.message_with_line()];
        let parts: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
        lines.push(ShownLine { indent, label, rest: (Style::Plain, parts.join(": ")) });
        let note = one.note_text(headline);
        // Once for all in a row that have it.
        if alike.peek().is_none_or(|next| next.note_text(headline) != note) {
            lines.extend(one.note(headline).map(|note| ShownLine { indent: 8, ..note }));
        }
    }
}

impl Alike<'_> {
    /// With the line that belongs to it.
    fn message_with_line(&self) -> String {
        let related = self.first.related_line.filter(|_| self.lines.len() < 2);
        let related = related.map(|line| format!(" (see line {line})"));
        format!("{}{}", self.message(), related.unwrap_or_default())
    }

    fn note_text(&self, headline: &Headline) -> String {
        let note = headline.note_of(self.first);
        let notes = [self.first.location.as_ref().map(described), note];
        notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn note(&self, headline: &Headline) -> Option<ShownLine> {
        let note = self.note_text(headline);
        (!note.is_empty()).then(|| ShownLine::plain(format!("note: {note}")))
    }
}

/// Where an event fails which part of a schema.
fn described(location: &SchemaLocation) -> String {
    let place = if location.instance.is_empty() { "the event" } else { &location.instance };
    let keyword = if location.keyword.is_empty() { "" } else { ", " };
    let keyword = format!("{keyword}{}", visible(&location.keyword));
    format!("at {}; schema {}{keyword}", visible(place), visible(&location.schema))
}
