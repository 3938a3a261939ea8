//! The `JUnit` report: XML that CI services show as test results.
//!
//! Valid for `junit-10.xsd` of Jenkins. A stream is a test suite. The stream, each rule that was
//! raised and each tool call is a test case in it.

use std::collections::BTreeMap;
use std::io;

use ndjson_check_core::{
    CallOutcome, Diagnostic, EndReason, Error, Outcome, Rule, RunFacts, Severity, StreamStart,
    StreamSummary, ToolCall, Verdict,
    escape::{clipped, visible},
};
use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::{FirstFindings, Headline, RunTotals, summary_text};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::output::Output;

const HEAD: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"ndjson-check\">
";

/// Writes the `JUnit` report.
pub struct Junit {
    /// What must be written before the first suite.
    head: &'static str,
    /// The open stream.
    stream: Option<String>,
    first: FirstFindings,
    /// What each rule found in the open stream.
    found: BTreeMap<Rule, (Severity, Vec<String>)>,
}

/// A test suite. All texts in it are valid in XML.
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
    /// Why it could not be tested.
    Broken(String),
}

impl Default for Junit {
    fn default() -> Self {
        let first = FirstFindings::default();
        Self { head: HEAD, stream: None, first, found: BTreeMap::new() }
    }
}

impl Junit {
    /// The rules that were raised in the open stream. `count` says how often in all.
    fn rules(&mut self, count: impl Fn(Rule) -> u64) -> impl Iterator<Item = TestCase> {
        let found = std::mem::take(&mut self.found).into_iter();
        found.map(move |(rule, (severity, texts))| of_rule(rule, severity, texts, count(rule)))
    }

    fn suite(&mut self, out: &mut String, suite: &Suite) {
        out.push_str(std::mem::take(&mut self.head));
        // Cannot fail: it is written to memory, and is text.
        let xml = suite.xml().unwrap_or_default();
        out.push_str(&String::from_utf8_lossy(&xml));
        out.push('\n');
    }
}

impl Output for Junit {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = Some(valid(start.name()));
        self.first.begin();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.first.add(diagnostic);
        let line = diagnostic.line.map_or(String::new(), |line| format!("line {line}: "));
        let note = diagnostic.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        let text = valid(&format!("{line}{}{note}", diagnostic.message));
        let empty = || (diagnostic.severity, Vec::new());
        self.found.entry(diagnostic.rule).or_insert_with(empty).1.push(text);
    }

    fn summary(&mut self, summary: &StreamSummary, out: &mut String) {
        let count = |rule| summary.rule_counts.get(&rule).copied().unwrap_or_default();
        if summary.was_tried_again() {
            self.found.values_mut().for_each(|(severity, _)| *severity = Severity::Warning);
        }
        let rules: Vec<TestCase> = self.rules(count).collect();
        let headline = Headline::new(summary, &self.first);
        let mut cases = vec![of_stream(summary, &headline, &rules)];
        cases.extend(rules);
        cases.extend(summary.tool_calls.iter().map(of_call));
        let lines = summary.notes.iter().map(|note| valid(&format!("note: {note}")));
        let stderr = summary.stderr.iter().map(|line| valid(&format!("stderr: {line}")));
        let output: Vec<String> = lines.chain(stderr).collect();
        self.stream = None;
        self.suite(
            out,
            &Suite {
                name: valid(&summary.name),
                duration_ms: summary.facts.duration_ms,
                properties: properties(&summary.facts),
                cases,
                output: output.join("\n"),
            },
        );
    }

    fn error(&mut self, message: &str, out: &mut String) {
        let name = self.stream.take().unwrap_or_else(|| "ndjson-check".to_owned());
        let mut cases: Vec<TestCase> = self.rules(|_| 0).collect();
        let result = TestResult::Broken(valid(message));
        cases.push(TestCase { name: "error".to_owned(), result });
        self.suite(out, &Suite { name, cases, ..Suite::default() });
    }

    fn end(&mut self, _: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        out.push_str(self.head);
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

/// The headline. It fails for the outcome: a rule that fails is a case already.
fn of_stream(summary: &StreamSummary, headline: &Headline, rules: &[TestCase]) -> TestCase {
    let numbers = summary_text::numbers(summary).join(" · ");
    let message = format!("{} · profile {} · {numbers}", headline.text(), summary.profile);
    let mut errors = rules.iter().filter_map(|case| match &case.result {
        TestResult::Failed(_, first, _) => Some(format!("{}: {first}", case.name)),
        _ => None,
    });
    let first = errors.next();
    let is_good = summary.outcome == Outcome::Succeeded
        && (summary.verdict == Verdict::Conforming || first.is_some());
    let result = if summary.was_tried_again() {
        TestResult::Skipped(valid(&message))
    } else if is_good {
        TestResult::Passed(valid(&message))
    } else {
        let kind = match summary.outcome {
            Outcome::Succeeded => summary.verdict.name(),
            outcome => outcome.name(),
        };
        let reasons = summary_text::reasons(summary).into_iter().chain(first);
        let text: Vec<String> = reasons.map(|reason| valid(&reason)).collect();
        TestResult::Failed(kind, valid(&message), text.join("\n"))
    };
    TestCase { name: "stream".to_owned(), result }
}

/// A rule that was raised. A warning does not fail.
fn of_rule(rule: Rule, severity: Severity, mut texts: Vec<String>, count: u64) -> TestCase {
    let first = texts.first().cloned().unwrap_or_default();
    let omitted = count.saturating_sub(texts.len() as u64);
    if omitted > 0 {
        texts.push(format!("and {omitted} more"));
    }
    let text = texts.join("\n");
    let result = match severity {
        Severity::Error => TestResult::Failed(severity.name(), first, text),
        Severity::Warning => TestResult::Passed(text),
    };
    TestCase { name: rule.name().to_owned(), result }
}

/// A tool call. One that did not succeed does not fail: agents go on after it.
fn of_call(call: &ToolCall) -> TestCase {
    let tool = call.tool.as_deref().unwrap_or_default();
    let result = match call.outcome {
        Some(CallOutcome::Succeeded | CallOutcome::Unknown) => TestResult::Passed(String::new()),
        Some(outcome) => TestResult::Skipped(outcome.name().to_owned()),
        None => TestResult::Skipped("unfinished".to_owned()),
    };
    TestCase { name: valid(&format!("tool call {}: {tool}", call.number)), result }
}

impl Suite {
    fn xml(&self) -> io::Result<Vec<u8>> {
        let count = |of: fn(&TestResult) -> bool| {
            self.cases.iter().filter(|case| of(&case.result)).count().to_string()
        };
        let failures = count(|it| matches!(it, TestResult::Failed(..)));
        let errors = count(|it| matches!(it, TestResult::Broken(_)));
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
            TestResult::Broken(message) => case.write_inner_content(|writer| {
                let element = writer.create_element("error");
                element.with_attribute(("message", message.as_str())).write_empty().map(drop)
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
