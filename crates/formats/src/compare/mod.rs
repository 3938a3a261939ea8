//! Compares two runs: what each did, and what it took.

mod outline;
mod text;

use ndjson_check_core::{Rule, StreamSummary, ToolStats};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::report::{self, Change, ChangedItem, diff_line, dollars, duration, grouped};

pub use outline::Outline;

/// Lines whose event is not known.
const UNREADABLE: [Rule; 6] = [
    Rule::InvalidJson,
    Rule::InvalidUtf8,
    Rule::LineTooLong,
    Rule::NestingTooDeep,
    Rule::NotAnObject,
    Rule::TruncatedLine,
];

/// What a run does not show.
const NOTHING: &str = "-";

/// Two runs, and how they differ.
#[derive(Debug)]
pub struct RunComparison<'o> {
    a: &'o StreamSummary,
    b: &'o StreamSummary,
    /// What must be equal in equal runs.
    results: Vec<ComparedFigure>,
    /// What changes with every run.
    figures: Vec<ComparedFigure>,
    calls: Changes,
    has_more_calls: bool,
    text: Changes,
    /// What the profile does not know.
    unknown: Changes,
    /// What was not compared, and why: sentences.
    left_out: Vec<&'static str>,
}

#[derive(Debug)]
struct ComparedFigure {
    name: &'static str,
    a: String,
    b: String,
}

/// How one list becomes the other.
#[derive(Debug)]
struct Changes {
    list: Vec<ChangedItem>,
    kept: usize,
}

impl<'o> RunComparison<'o> {
    /// None if a run has no summary: then its stream was not read to its end.
    pub fn new(a: &'o Outline, b: &'o Outline) -> Option<Self> {
        let (of_a, of_b) = (a.summary.as_ref()?, b.summary.as_ref()?);
        let pairs = |of: fn(&StreamSummary) -> Vec<(&'static str, String)>| {
            let both = of(of_a).into_iter().zip(of(of_b));
            both.map(|((name, a), (_, b))| ComparedFigure { name, a, b }).collect()
        };
        let unknown = |summary: &StreamSummary| -> Vec<String> {
            let names = summary.unknown.iter().map(report::unknown_name);
            names.collect()
        };
        Some(Self {
            a: of_a,
            b: of_b,
            results: pairs(results),
            figures: pairs(figures),
            calls: Changes::between(&a.calls(), &b.calls()),
            has_more_calls: a.has_more_calls || b.has_more_calls,
            text: Changes::between(&a.lines(), &b.lines()),
            unknown: Changes::between(&unknown(of_a), &unknown(of_b)),
            left_out: left_out(a, b, (of_a, of_b)),
        })
    }

    /// Whether the runs differ in what they did. What they took does not count.
    pub fn differs(&self) -> bool {
        let lists = [&self.calls, &self.text, &self.unknown];
        self.results.iter().any(ComparedFigure::differs)
            || lists.iter().any(|changes| !changes.list.is_empty())
    }

    /// Whether the runs are known to have done the same: nothing differs, and all was compared.
    pub fn is_same(&self) -> bool {
        !self.differs() && self.left_out.is_empty()
    }

    /// The comparison as one line of JSON, with all that is known of both streams.
    pub fn json(&self) -> String {
        let lists = [&self.calls, &self.text, &self.unknown].map(|changes| &changes.list[..]);
        diff_line((self.a, self.b), self.differs(), !self.left_out.is_empty(), lists)
    }

    /// The tools that either run called, with their figures in both.
    fn tools(&self) -> Vec<(String, Option<&'o ToolStats>, Option<&'o ToolStats>)> {
        fn of(summary: &StreamSummary) -> &[ToolStats] {
            summary.stats.as_ref().map_or(&[], |stats| &stats.tools)
        }
        let find = |tools: &'o [ToolStats], name: &Option<String>| {
            tools.iter().find(|tool| tool.tool == *name)
        };
        let (a, b) = (of(self.a), of(self.b));
        let mut names: Vec<_> = a.iter().chain(b).map(|tool| &tool.tool).collect();
        names.sort();
        names.dedup();
        let row = |name: &Option<String>| {
            let shown = name.clone().unwrap_or_else(|| "(no name)".to_owned());
            (shown, find(a, name), find(b, name))
        };
        names.into_iter().map(row).collect()
    }
}

impl ComparedFigure {
    fn differs(&self) -> bool {
        self.a != self.b
    }
}

impl Changes {
    fn between(a: &[String], b: &[String]) -> Self {
        let mut changes = Self { list: Vec::new(), kept: 0 };
        for operation in capture_diff_slices(Algorithm::Myers, a, b) {
            if let DiffOp::Equal { len, .. } = operation {
                changes.kept += len;
                continue;
            }
            let item =
                |change: Change| move |item: &String| ChangedItem { change, item: item.clone() };
            let removed = a[operation.old_range()].iter().map(item(Change::Removed));
            let added = b[operation.new_range()].iter().map(item(Change::Added));
            changes.list.extend(removed.chain(added));
        }
        changes
    }
}

/// No shorter text is clipped, in bytes.
const CLIPPED_BYTES_MIN: usize = 400;

/// Whether the end of a text was left out.
fn is_clipped(text: &str) -> bool {
    text.len() >= CLIPPED_BYTES_MIN && text.ends_with('…')
}

fn left_out(
    a: &Outline,
    b: &Outline,
    streams: (&StreamSummary, &StreamSummary),
) -> Vec<&'static str> {
    // A stream did the same as itself.
    if streams.0.sha256.is_some() && streams.0.sha256 == streams.1.sha256 {
        return Vec::new();
    }
    let has = |is: &dyn Fn(&StreamSummary) -> bool| is(streams.0) || is(streams.1);
    let found = |rule: Rule| has(&|stream| stream.rule_counts.contains_key(&rule));
    let has_long_error = has(&|stream| stream.facts.error_text.as_deref().is_some_and(is_clipped));
    let reasons = [
        (
            a.is_clipped() || b.is_clipped(),
            "Only the beginning was compared: there is too much text, or too many calls.",
        ),
        (
            a.has_long_details() || b.has_long_details() || has_long_error,
            "Of long commands and errors, only the beginning was compared.",
        ),
        (
            found(Rule::EventAfterTerminal),
            "Only the first run of each file was compared: other events follow its end.",
        ),
        (
            found(Rule::WrongProfile),
            "A file is not a stream of this profile: its events were not compared.",
        ),
        (
            UNREADABLE.iter().any(|rule| found(*rule)),
            "Lines that cannot be read were not compared.",
        ),
    ];
    reasons.into_iter().filter(|(is, _)| *is).map(|(_, reason)| reason).collect()
}

fn results(summary: &StreamSummary) -> Vec<(&'static str, String)> {
    let findings = summary.rule_counts.iter().map(|(rule, count)| format!("{count} {rule}"));
    let findings: Vec<String> = findings.collect();
    let findings = if findings.is_empty() { "none".to_owned() } else { findings.join(", ") };
    vec![
        ("profile", summary.profile.clone()),
        ("verdict", summary.verdict.name().to_owned()),
        ("outcome", report::outcome(summary)),
        ("findings", findings),
        ("error", known(summary.facts.error_text.clone())),
    ]
}

fn known(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NOTHING.to_owned())
}

fn figures(summary: &StreamSummary) -> Vec<(&'static str, String)> {
    let (facts, stats) = (&summary.facts, summary.stats.as_deref());
    let time = |of: Option<u64>| known(of.map(duration));
    vec![
        ("version", known(facts.agent_version.clone())),
        ("model", known(facts.model.clone())),
        ("events", grouped(summary.events)),
        ("turns", known(facts.turns.map(grouped))),
        ("time", time(stats.and_then(|stats| stats.elapsed_ms))),
        ("time with a call open", time(stats.and_then(|stats| stats.calls_ms))),
        ("reported time", time(facts.duration_ms)),
        ("tokens in", known(facts.usage.tokens_in().map(grouped))),
        ("tokens out", known(facts.usage.output_tokens.map(grouped))),
        ("cost", known(facts.cost_usd.map(dollars))),
        ("bytes of text", grouped(summary.text_bytes)),
    ]
}
