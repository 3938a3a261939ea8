//! The SARIF report, version 2.1.0: findings for code scanning services and editors.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use ndjson_check_core::{
    Diagnostic, Error, Note, Rule, RunFacts, Severity, StreamStart, StreamSummary, ToolCall,
    counted,
    escape::{escaped_json, visible},
};
use serde_json::{Value, json};

use super::alike::is_cause;
use super::call_names::{named, noted};
use super::headline::CUT_SHORT;
use super::worst::{SeverityCounts, WorstItems};
use super::{FileOf, Headline, NameOf, RunTotals, page_url, stream_name};
use crate::fingerprint::{fingerprint, message_without_place};
use crate::output::Output;

/// Results in a SARIF report: GitHub shows as many.
const SARIF_RESULTS_MAX: usize = 5_000;

/// Errors in a SARIF report that are not results, and headlines.
const SARIF_ERRORS_MAX: usize = 100;

/// Writes the SARIF report.
pub struct Sarif {
    file_of: FileOf,
    name_of: NameOf,
    /// The stream as messages name it, as fingerprints do, and its file as a URI.
    stream: String,
    name: String,
    uri: Option<String>,
    /// What was found in the open stream.
    open: Vec<Diagnostic>,
    /// How often each fingerprint occurred in the stream.
    occurrences: BTreeMap<String, u64>,
    /// The rules that were raised, in the order in which they came.
    rules: Vec<Rule>,
    results: WorstItems<Value>,
    /// Diagnostics of all streams, and those of the open one that were observed.
    found: SeverityCounts,
    seen: SeverityCounts,
    errors: Vec<Value>,
    omitted_errors: u64,
    /// Of streams that do not pass, as many as there is room for.
    headlines: Vec<Value>,
}

impl Sarif {
    /// Names the files of streams by `file_of`, and what has no file by `name_of`.
    pub fn new(file_of: FileOf, name_of: NameOf) -> Self {
        Self {
            file_of,
            name_of,
            stream: String::new(),
            name: String::new(),
            uri: None,
            open: Vec::new(),
            occurrences: BTreeMap::new(),
            rules: Vec::new(),
            results: WorstItems::default(),
            found: SeverityCounts::default(),
            seen: SeverityCounts::default(),
            errors: Vec::new(),
            omitted_errors: 0,
            headlines: Vec::new(),
        }
    }

    fn index(&mut self, rule: Rule) -> usize {
        let known = self.rules.iter().position(|it| *it == rule);
        known.unwrap_or_else(|| {
            self.rules.push(rule);
            self.rules.len() - 1
        })
    }

    fn location(&self, line: Option<u64>) -> Value {
        let Some(uri) = &self.uri else {
            return json!({"logicalLocations": [{"fullyQualifiedName": self.stream}]});
        };
        let mut physical = json!({"artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"}});
        if let Some(line) = line {
            physical["region"] = json!({"startLine": line});
        }
        json!({"physicalLocation": physical})
    }

    /// The findings of the open stream become results.
    fn close(&mut self, calls: &[ToolCall], headline: Option<&Headline>) {
        let mut sentence = headline.filter(|it| !it.passed);
        for diagnostic in std::mem::take(&mut self.open) {
            if headline.is_some_and(|headline| !is_cause(&diagnostic, headline)) {
                self.found = self.found.without([&diagnostic].into_iter().collect());
                continue;
            }
            let mut note = match headline {
                Some(headline) => headline.note_of(&diagnostic),
                None => noted(&diagnostic),
            };
            let message = named(&diagnostic, calls);
            // Without a file there is no other place for it.
            let mut text = match diagnostic.line.filter(|_| self.uri.is_none()) {
                Some(line) => format!("line {line}: {message}"),
                None => message.clone(),
            };
            // The first error is headed by the sentence about the stream.
            let is_error = diagnostic.severity == Severity::Error;
            if let Some(headline) = sentence.take_if(|_| is_error) {
                let says_all = headline.says_all_of(diagnostic.rule);
                let rest = if says_all || headline.says(&message) {
                    String::new()
                } else {
                    format!("; {text}")
                };
                text = format!("{}{rest}", headline.text());
                note = note.filter(|_| !(says_all && headline.reason == CUT_SHORT));
            }
            text.extend(note.map(|note| format!(" ({note})")));
            let result = self.result(&diagnostic, &text);
            self.results.add(SARIF_RESULTS_MAX, diagnostic.severity, 1, result);
        }
    }

    /// A run that failed is a result, though no rule was broken.
    fn failed_run(&mut self, summary: &StreamSummary, headline: &Headline) {
        let line = summary.notes.iter().find_map(|note| match note {
            Note::FailureReported { line, .. } => Some(*line),
            _ => None,
        });
        let (rule, location) = (Rule::RunFailed, self.location(line));
        // What the agent says is not the same in each run.
        let hash = fingerprint(&self.name, rule, headline.reason);
        let result = json!({
            "ruleId": rule.name(),
            "ruleIndex": self.index(rule),
            "level": Severity::Error.name(),
            "message": {"text": plain(&headline.text())},
            "locations": [location],
            "partialFingerprints": {"ndjsonCheckFinding/v1": format!("{hash}:1")},
        });
        self.found.add(Severity::Error);
        self.results.add(SARIF_RESULTS_MAX, Severity::Error, 1, result);
    }

    fn result(&mut self, diagnostic: &Diagnostic, text: &str) -> Value {
        let rule = diagnostic.rule;
        let hash = fingerprint(&self.name, rule, message_without_place(diagnostic));
        let occurrence = self.occurrences.entry(hash.clone()).or_default();
        *occurrence += 1;
        let identity = format!("{hash}:{occurrence}");
        let mut result = json!({
            "ruleId": rule.name(),
            "ruleIndex": self.index(rule),
            "level": diagnostic.severity.name(),
            "message": {"text": plain(text)},
            "locations": [self.location(diagnostic.line)],
            "partialFingerprints": {"ndjsonCheckFinding/v1": identity},
        });
        if let Some(line) = diagnostic.related_line {
            let mut related = self.location(Some(line));
            related["message"] = json!({"text": format!("line {line}")});
            result["relatedLocations"] = json!([related]);
        }
        result
    }
}

impl Output for Sarif {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = visible(&stream_name(start.name())).into_owned();
        self.name = (self.name_of)(start.name());
        self.uri = (self.file_of)(start.name()).as_deref().map(uri);
        self.occurrences.clear();
        self.seen = SeverityCounts::default();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        self.seen.add(diagnostic.severity);
        self.open.push(diagnostic.clone());
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        let over = summary.was_tried_again();
        // Those of a rule that has too many are counted, and not observed.
        let unseen = SeverityCounts::of(summary).without(self.seen);
        let headline = Headline::of(summary, &self.open);
        let mut counts = std::mem::take(&mut self.seen).plus(unseen);
        if over {
            counts = counts.lowered();
            self.open.iter_mut().for_each(|found| found.severity = Severity::Warning);
        }
        self.found = self.found.plus(counts);
        self.close(&summary.tool_calls, Some(&headline));
        if !headline.passed && summary.errors == 0 && !over {
            self.failed_run(summary, &headline);
        }
        if !headline.passed && self.headlines.len() < SARIF_ERRORS_MAX {
            let text = plain(&format!("{}: {}", self.stream, headline.text()));
            let level = if over { Severity::Warning } else { Severity::Error };
            let mut headline = notification(level, &text);
            headline["properties"] = retry(&summary.facts);
            self.headlines.push(headline);
        }
    }

    fn error(&mut self, message: &str, _: &mut String) {
        self.found = self.found.plus(std::mem::take(&mut self.seen));
        self.close(&[], None);
        if self.errors.len() < SARIF_ERRORS_MAX {
            self.errors.push(notification(Severity::Error, &plain(message)));
        } else {
            self.omitted_errors += 1;
        }
    }

    fn end(&mut self, totals: &RunTotals, exit_code: u8, out: &mut String) -> io::Result<()> {
        let mut notifications = std::mem::take(&mut self.errors);
        if self.omitted_errors > 0 {
            let errors = counted(self.omitted_errors, "more error");
            let text = format!("{errors} not in this report");
            notifications.push(notification(Severity::Error, &text));
        }
        let results = std::mem::take(&mut self.results);
        if let Some(more) = self.found.without(results.counts()).more() {
            let text = format!("{more} not in this report");
            notifications.push(notification(Severity::Warning, &text));
        }
        notifications.append(&mut self.headlines);
        let results: Vec<Value> = results.into_items().collect();
        let rules: Vec<Value> = self.rules.iter().map(|rule| described(*rule)).collect();
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "ndjson-check",
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules,
                }},
                "automationDetails": {"id": "ndjson-check/"},
                "invocations": [{
                    "executionSuccessful": totals.not_checked == 0 && totals.streams > 0,
                    "exitCode": exit_code,
                    "toolExecutionNotifications": notifications,
                }],
                "results": results,
            }],
        });
        out.push_str(&escaped_json(&log.to_string()));
        out.push('\n');
        Ok(())
    }

    fn shows_exit_code(&self) -> bool {
        true
    }
}

fn notification(level: Severity, text: &str) -> Value {
    json!({"level": level.name(), "message": {"text": text}})
}

/// Why the run ended, and whether a retry is worth it.
fn retry(facts: &RunFacts) -> Value {
    let mut properties = json!({"reason": facts.reason});
    if let Some(retryable) = facts.retryable {
        properties["retryable"] = json!(retryable);
    }
    if let Some(after) = facts.retry_after {
        properties["retryAfter"] = json!(after);
    }
    properties
}

fn described(rule: Rule) -> Value {
    let severity = rule.severity();
    let level = severity.or(rule.strict_severity()).unwrap_or(Severity::Warning);
    json!({
        "id": rule.name(),
        "shortDescription": {"text": rule.summary()},
        "help": {"text": rule.page(), "markdown": rule.page()},
        "helpUri": page_url(rule),
        "defaultConfiguration": {"enabled": severity.is_some(), "level": level.name()},
    })
}

/// A message without links: in plain text, too, `[text](target)` is one.
fn plain(message: &str) -> String {
    visible(message).replace("](", "] (")
}

/// A relative path as a URI.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into());
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
