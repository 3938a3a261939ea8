//! The baseline: findings that are known, and that do not fail a check.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use ndjson_check_core::{Diagnostic, Note, Rule, Severity, StreamSummary, Verdict};
use serde::{Deserialize, Serialize};

use super::fingerprint::{fingerprint, message_without_place};
use super::report::NameOf;

/// Stale entries of the baseline that are shown for one stream; the others are counted.
const STALE_SHOWN_MAX: usize = 10;

/// The JSON Schema of the file.
pub const SCHEMA: &str = include_str!("baseline.schema.json");

/// The version of the file's format.
pub const VERSION: u64 = 1;

/// In place of the message of findings that a report only counts.
pub const NOT_SHOWN: &str = "more findings, which reports do not show";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    #[serde(rename = "version")]
    _version: KnownVersion,
    findings: Vec<KnownFinding>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "u64")]
struct KnownVersion;

impl TryFrom<u64> for KnownVersion {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        if version == VERSION {
            return Ok(Self);
        }
        Err(format!("version {version} is not known; this program reads version {VERSION}"))
    }
}

/// A known finding, and how often its stream has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFinding {
    /// The name of the stream.
    pub path: String,
    /// The name of the rule.
    pub rule: String,
    /// For a reader; it is not compared.
    pub message: String,
    /// What makes it equal to another finding.
    pub fingerprint: String,
    /// How often the stream has it.
    pub count: NonZeroU64,
}

/// The known findings, and what the open stream has of them.
pub struct Baseline {
    name_of: NameOf,
    findings: BTreeMap<String, Vec<KnownFinding>>,
    stream: String,
    /// Findings of the open stream that are known and did not come yet, by their fingerprint.
    expected: BTreeMap<String, u64>,
    /// Findings of the open stream that are known.
    known: BTreeMap<Rule, u64>,
    severities: BTreeMap<Rule, Severity>,
}

impl Baseline {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// When it is not a baseline; begins with the line and the column, if they are known.
    pub fn read(text: &str, name_of: NameOf) -> Result<Self, String> {
        let file: BaselineFile = serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let (message, _) = message.rsplit_once(" at line ").unwrap_or((&message, ""));
            format!("{}:{}: {message}", error.line(), error.column())
        })?;
        let mut findings: BTreeMap<String, Vec<KnownFinding>> = BTreeMap::new();
        for (number, finding) in (1..).zip(file.findings) {
            let of_stream = findings.entry(finding.path.clone()).or_default();
            if of_stream.iter().any(|other| other.fingerprint == finding.fingerprint) {
                return Err(format!(" finding {number} has the fingerprint of another one"));
            }
            of_stream.push(finding);
        }
        Ok(Self {
            name_of,
            findings,
            stream: String::new(),
            expected: BTreeMap::new(),
            known: BTreeMap::new(),
            severities: BTreeMap::new(),
        })
    }

    /// A stream begins.
    pub fn begin(&mut self, stream: &str) {
        self.stream = (self.name_of)(stream);
        self.known.clear();
        let findings = self.findings.get(&self.stream).into_iter().flatten();
        self.expected = findings.map(|it| (it.fingerprint.clone(), it.count.get())).collect();
    }

    /// Whether a finding is known. Each known one counts once.
    pub fn knows(&mut self, diagnostic: &Diagnostic) -> bool {
        self.severities.insert(diagnostic.rule, diagnostic.severity);
        self.take(diagnostic.rule, message_without_place(diagnostic), 1) == 1
    }

    /// Counts as many findings as are known; returns the number.
    fn take(&mut self, rule: Rule, message: &str, count: u64) -> u64 {
        let expected = self.expected.get_mut(&fingerprint(&self.stream, rule, message));
        let Some(expected) = expected else { return 0 };
        let known = count.min(*expected);
        *expected -= known;
        *self.known.entry(rule).or_default() += known;
        known
    }

    /// The summary without what is known, and the verdict on the rest.
    pub fn summary(&mut self, summary: &StreamSummary) -> StreamSummary {
        let mut rest = summary.clone();
        for note in &mut rest.notes {
            if let Note::DiagnosticsOmitted { rule, count } = note {
                *count -= self.take(*rule, NOT_SHOWN, *count);
            }
        }
        rest.notes.retain(|note| !matches!(note, Note::DiagnosticsOmitted { count: 0, .. }));
        for (rule, known) in &self.known {
            // Of a redacted stream the original is counted, which may differ.
            let count = rest.rule_counts.entry(*rule).or_default();
            let known = (*known).min(*count);
            *count -= known;
            match self.severities.get(rule) {
                Some(Severity::Error) => rest.errors = rest.errors.saturating_sub(known),
                _ => rest.warnings = rest.warnings.saturating_sub(known),
            }
            rest.known += known;
        }
        rest.rule_counts.retain(|_, count| *count > 0);
        if rest.errors == 0 {
            rest.verdict = Verdict::Conforming;
        }
        rest
    }

    /// The known findings that the stream does not have any more: how many entries, and a text for
    /// each of the first ones.
    pub fn stale(&mut self) -> (u64, Vec<String>) {
        let findings = self.findings.get(&self.stream).into_iter().flatten();
        let stale = findings.filter_map(|finding| {
            let missing = *self.expected.get(&finding.fingerprint)?;
            let KnownFinding { path, rule, message, count, .. } = finding;
            let found = match count.get() - missing {
                0 => String::new(),
                found => format!(" ({found} of {count} found)"),
            };
            (missing > 0).then(|| format!("no longer found: {path}: {rule}: {message}{found}"))
        });
        let mut stale: Vec<String> = stale.collect();
        let count = stale.len();
        stale.truncate(STALE_SHOWN_MAX);
        if count > STALE_SHOWN_MAX {
            let omitted = count - STALE_SHOWN_MAX;
            stale.push(format!("no longer found: {}: {omitted} more", self.stream));
        }
        (count as u64, stale)
    }
}
