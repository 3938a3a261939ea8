//! The `JUnit` report: XML that CI services show as test results.
//!
//! Valid for `junit-10.xsd` of Jenkins. A stream is a test suite. The stream is a test case in
//! it, and so is each demand of the user. Findings are the text of these cases: rules and tool
//! calls are not tests.

use std::cmp::Reverse;
use std::io;

use ndjson_check_core::{
    Diagnostic, EndReason, Error, Outcome, Rule, RunFacts, Severity, StreamStart, StreamSummary,
    ToolCall,
    escape::{clipped, visible},
};
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::alike::{Alike, alike, causes, hidden};
use super::call_names::{named, noted};
use super::headline::TRIED_AGAIN;
use super::worst::SeverityCounts;
use super::{Headline, RunTotals, stream_name, summary_text};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::output::Output;

/// The test case of a stream.
const STREAM: &str = "stream";

/// What is found where the stream does not show whether a demand is met.
const UNKNOWN: [Rule; 2] = [Rule::ExpectationUnobservable, Rule::LimitUnknown];

const HEAD: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"ndjson-check\">
";

/// Writes the `JUnit` report.
#[derive(Default)]
pub struct Junit {
    /// Whether the head of the report is written.
    has_head: bool,
    /// Names, and the names of their test cases.
    demands: Vec<(String, String)>,
    stream: Option<String>,
    /// The name of the agent.
    title: String,
    found: Vec<Diagnostic>,
    /// Of inputs that could not be read, and the like.
    errors: u64,
}

/// All texts in it are valid in XML.
#[derive(Default)]
struct Suite {
    name: String,
    duration_ms: Option<u64>,
    properties: Vec<(&'static str, String)>,
    cases: Vec<TestCase>,
    output: String,
}

struct TestCase {
    name: String,
    result: TestResult,
}

enum TestResult {
    /// With what it prints.
    Passed(String),
    Skipped(String),
    /// Type, message, and text.
    Failed(&'static str, String, String),
    /// Why it could not be tested, and what was found before.
    Broken(String, String),
}

impl Junit {
    /// Each of these demands is a test case, also where it is met. The second text of each is the
    /// name of its test case.
    #[must_use]
    pub fn demands(mut self, demands: Vec<(String, String)>) -> Self {
        self.demands = demands;
        self
    }

    /// The test case of each demand: those that are known, then others that were found.
    fn of_demands(&self, summary: &StreamSummary) -> Vec<TestCase> {
        let known = self.demands.iter().map(|(demand, name)| (&**demand, &**name));
        let mut demands: Vec<(&str, &str)> = known.collect();
        for demand in self.found.iter().filter_map(|found| found.demand.as_deref()) {
            if demands.iter().all(|(known, _)| *known != demand) {
                demands.push((demand, demand));
            }
        }
        let of_demand = |(demand, name): (&str, &str)| {
            let found = self.found.iter().filter(|it| it.demand.as_deref() == Some(demand));
            let (errors, warnings): (Vec<_>, Vec<_>) = found.partition(|it| is_error(it));
            let message = |found: &[&Diagnostic]| {
                let messages: Vec<String> = found.iter().map(|it| valid(&it.message)).collect();
                messages.join("; ")
            };
            let result = if summary.was_tried_again() {
                TestResult::Skipped(TRIED_AGAIN.to_owned())
            } else if let Some(first) = errors.first() {
                let lines = errors.iter().map(|it| line(it, noted(it), &summary.tool_calls));
                let text = lines.collect::<Vec<String>>().join("\n");
                TestResult::Failed(first.rule.name(), message(&errors), text)
            } else if warnings.iter().any(|it| UNKNOWN.contains(&it.rule)) {
                TestResult::Skipped(message(&warnings))
            } else if summary.outcome == Outcome::Succeeded {
                TestResult::Passed(message(&warnings))
            } else if warnings.is_empty() {
                TestResult::Skipped("the run did not succeed".to_owned())
            } else {
                TestResult::Skipped(message(&warnings))
            };
            TestCase { name: valid(name), result }
        };
        demands.into_iter().map(of_demand).collect()
    }

    /// The test case of the stream. A demand that is not met fails in its own case.
    fn of_stream(&self, summary: &StreamSummary, headline: &Headline) -> TestCase {
        let figures = summary_text::figures_below(&self.title, summary, headline);
        let message = [headline.text()].into_iter().chain(figures).collect::<Vec<_>>();
        let message = valid(&message.join(" · "));
        let mut of_stream = causes(&self.found, headline);
        of_stream.retain(|found| found.demand.is_none());
        let all = self.found.iter().filter(|found| found.demand.is_none()).count();
        let hidden = hidden(all - of_stream.len(), headline);
        of_stream.sort_by_key(|found| Reverse(found.severity));
        let grouped = alike(of_stream.iter().copied(), &summary.tool_calls);
        let mut lines: Vec<String> = grouped.iter().map(|it| lines_of(it, headline)).collect();
        let shown = SeverityCounts {
            errors: self.count(Severity::Error),
            warnings: self.count(Severity::Warning),
        };
        let more = SeverityCounts::of(summary).without(shown).more();
        lines.extend(more.map(|more| format!("and {more}")));
        lines.extend(hidden);
        let has_error = summary.errors > shown.errors || of_stream.iter().any(|it| is_error(it));
        let is_met = summary.outcome == Outcome::Succeeded && !has_error;
        let result = if summary.was_tried_again() {
            TestResult::Skipped(message)
        } else if headline.passed || is_met {
            let text = [message].into_iter().chain(lines).collect::<Vec<_>>().join("\n");
            TestResult::Passed(text)
        } else {
            let kind = match summary.outcome {
                Outcome::Succeeded => summary.verdict.name(),
                outcome => outcome.name(),
            };
            let reasons = summary_text::reasons(summary, headline).into_iter();
            let text: Vec<String> = reasons.map(|it| valid(&it)).chain(lines).collect();
            TestResult::Failed(kind, message, text.join("\n"))
        };
        TestCase { name: STREAM.to_owned(), result }
    }

    fn count(&self, severity: Severity) -> u64 {
        self.found.iter().filter(|found| found.severity == severity).count() as u64
    }

    /// The name of the next error: CI services show one case of each name.
    fn error_case(&mut self) -> String {
        self.errors += 1;
        if self.errors == 1 { "error".to_owned() } else { format!("error {}", self.errors) }
    }

    fn head(&mut self, out: &mut String) {
        if !std::mem::replace(&mut self.has_head, true) {
            out.push_str(HEAD);
        }
    }

    fn suite(&mut self, out: &mut String, suite: &Suite) {
        self.head(out);
        // Cannot fail: it is written to memory, and is text.
        let xml = suite.xml().unwrap_or_default();
        out.push_str(&String::from_utf8_lossy(&xml));
        out.push('\n');
    }
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

fn line(found: &Diagnostic, note: Option<String>, calls: &[ToolCall]) -> String {
    let place = found.line.map_or(String::new(), |line| format!("line {line}: "));
    let note = note.map_or(String::new(), |note| format!(" ({note})"));
    let (severity, rule) = (found.severity.name(), found.rule);
    valid(&format!("{severity}[{rule}] {place}{}{note}", named(found, calls)))
}

/// Findings that are alike, on one line.
fn lines_of(alike: &Alike<'_>, headline: &Headline) -> String {
    let place = Some(alike.place()).filter(|place| !place.is_empty());
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    let note = headline.note_of(alike.first).map_or(String::new(), |note| format!(" ({note})"));
    let (severity, rule) = (alike.first.severity.name(), alike.first.rule);
    valid(&format!("{severity}[{rule}] {place}{}{note}", alike.message()))
}

impl Output for Junit {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = Some(valid(&stream_name(start.name())));
        start.title().clone_into(&mut self.title);
        self.found.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.found.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        let headline = Headline::new(summary, &self.found.as_slice().into());
        let mut cases = vec![self.of_stream(summary, &headline)];
        cases.extend(self.of_demands(summary));
        let notes = summary_text::news(summary, &headline).map(ToString::to_string);
        let notes = notes.filter(|note| !headline.says(note));
        let lines = notes.map(|note| valid(&format!("note: {note}")));
        let stderr = summary.stderr.iter().map(|line| valid(&format!("stderr: {line}")));
        let output: Vec<String> = lines.chain(stderr).collect();
        self.stream = None;
        self.found.clear();
        self.suite(
            out,
            &Suite {
                name: valid(&stream_name(&summary.name)),
                duration_ms: summary.facts.duration_ms,
                properties: properties(&summary.facts),
                cases,
                output: output.join("\n"),
            },
        );
    }

    fn error(&mut self, message: &str, out: &mut String) {
        let (suite, case) = match self.stream.take() {
            Some(stream) => (stream, STREAM.to_owned()),
            None => ("ndjson-check".to_owned(), self.error_case()),
        };
        let found = std::mem::take(&mut self.found);
        let lines: Vec<String> = found.iter().map(|it| line(it, noted(it), &[])).collect();
        let result = TestResult::Broken(valid(message), lines.join("\n"));
        let cases = vec![TestCase { name: case, result }];
        self.suite(out, &Suite { name: suite, cases, ..Suite::default() });
    }

    fn end(&mut self, _: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        self.head(out);
        out.push_str("</testsuites>\n");
        Ok(())
    }
}

/// Why the run did not succeed, and whether a retry is worth it.
fn properties(facts: &RunFacts) -> Vec<(&'static str, String)> {
    let reason = facts.reason.filter(|it| *it != EndReason::Completed);
    let reason = reason.map(|it| ("reason", it.name().to_owned()));
    let retryable = facts.retryable.map(|it| ("retryable", it.name().to_owned()));
    let after = facts.retry_after.map(|it| ("retry-after", it.to_string()));
    reason.into_iter().chain(retryable).chain(after).collect()
}

impl Suite {
    fn xml(&self) -> io::Result<Vec<u8>> {
        let count = |of: fn(&TestResult) -> bool| {
            self.cases.iter().filter(|case| of(&case.result)).count().to_string()
        };
        let failures = count(|it| matches!(it, TestResult::Failed(..)));
        let errors = count(|it| matches!(it, TestResult::Broken(..)));
        let skipped = count(|it| matches!(it, TestResult::Skipped(_)));
        let tests = self.cases.len().to_string();
        let time = self.duration_ms.map(|ms| format!("{}.{:03}", ms / 1_000, ms % 1_000));
        let attributes = [
            ("name", self.name.as_str()),
            ("tests", &tests),
            ("failures", &failures),
            ("errors", &errors),
            ("skipped", &skipped),
        ];
        let time = time.iter().map(|time| ("time", time.as_str()));
        let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
        let suite = writer.create_element("testsuite").with_attributes(attributes);
        suite.with_attributes(time).write_inner_content(|writer| {
            if !self.properties.is_empty() {
                writer.create_element("properties").write_inner_content(|writer| {
                    self.properties.iter().try_for_each(|(name, value)| {
                        let attributes = [("name", *name), ("value", value)];
                        let property = writer.create_element("property");
                        property.with_attributes(attributes).write_empty().map(|_| ())
                    })
                })?;
            }
            self.cases.iter().try_for_each(|case| case.write(&self.name, writer))?;
            if !self.output.is_empty() {
                let output = writer.create_element("system-out");
                output.write_text_content(BytesText::new(&self.output))?;
            }
            Ok(())
        })?;
        Ok(writer.into_inner())
    }
}

impl TestCase {
    fn write(&self, suite: &str, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
        let case = writer.create_element("testcase");
        let case = case.with_attributes([("classname", suite), ("name", &self.name)]);
        let written = match &self.result {
            TestResult::Passed(output) if output.is_empty() => case.write_empty(),
            TestResult::Passed(output) => case.write_inner_content(|writer| {
                let element = writer.create_element("system-out");
                element.write_text_content(BytesText::new(output)).map(drop)
            }),
            TestResult::Skipped(message) => case.write_inner_content(|writer| {
                let element = writer.create_element("skipped");
                element.with_attribute(("message", message.as_str())).write_empty().map(drop)
            }),
            TestResult::Failed(kind, message, text) => case.write_inner_content(|writer| {
                let attributes = [("type", *kind), ("message", message.as_str())];
                let element = writer.create_element("failure").with_attributes(attributes);
                element.write_text_content(BytesText::new(text)).map(drop)
            }),
            TestResult::Broken(message, text) => case.write_inner_content(|writer| {
                let element = writer.create_element("error");
                let element = element.with_attribute(("message", message.as_str()));
                element.write_text_content(BytesText::new(text)).map(drop)
            }),
        };
        written.map(drop)
    }
}

/// The text on one line, of characters that XML 1.0 allows; the writer escapes the rest.
fn valid(text: &str) -> String {
    let text = visible(text);
    let text = clipped(&text, 2 * MESSAGE_BYTES_MAX);
    text.replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: every character of a stream is one that XML 1.0 has.
    #[test]
    fn every_text_is_valid_in_xml() {
        let is_valid = |it: char| {
            matches!(it, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
                || it >= '\u{10000}'
        };
        for character in '\0'..=char::MAX {
            let text = valid(&character.to_string());
            assert!(!text.is_empty() && text.chars().all(is_valid), "{character:?}: {text}");
        }
    }
}
