//! Writes a baseline of what is found.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU64;

use ndjson_check_core::{
    Diagnostic, Error, Note, Rule, StreamStart, StreamSummary, escape::escaped_json,
};

use super::{NameOf, RunTotals};
use crate::baseline::{KnownFinding, NOT_SHOWN, VERSION};
use crate::fingerprint::{fingerprint, message_without_place};
use crate::output::Output;

/// Writes a baseline.
pub struct BaselineWriter {
    name_of: NameOf,
    /// The open stream, and its findings by their fingerprint.
    stream: String,
    found: BTreeMap<String, KnownFinding>,
    findings: BTreeMap<String, Vec<KnownFinding>>,
}

impl BaselineWriter {
    /// Names the streams in the baseline by `name_of`.
    pub fn new(name_of: NameOf) -> Self {
        let (found, findings) = (BTreeMap::new(), BTreeMap::new());
        Self { name_of, stream: String::new(), found, findings }
    }

    /// `words` are those of the message that do not change.
    fn add(&mut self, rule: Rule, (message, words): (&str, &str), count: u64) {
        let fingerprint = fingerprint(&self.stream, rule, words);
        let Some(count) = NonZeroU64::new(count) else { return };
        if let Some(known) = self.found.get_mut(&fingerprint) {
            known.count = known.count.saturating_add(count.get());
            return;
        }
        let known = KnownFinding {
            path: self.stream.clone(),
            rule: rule.name().to_owned(),
            message: message.to_owned(),
            fingerprint: fingerprint.clone(),
            count,
        };
        self.found.insert(fingerprint, known);
    }
}

impl Output for BaselineWriter {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.stream = (self.name_of)(start.name());
        self.found.clear();
        Ok(())
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic, _: &mut String) {
        let texts = (&*diagnostic.message, message_without_place(diagnostic));
        self.add(diagnostic.rule, texts, 1);
    }

    fn summary(&mut self, summary: &StreamSummary, _: &mut String) {
        for note in &summary.notes {
            if let Note::DiagnosticsOmitted { rule, count } = note {
                self.add(*rule, (NOT_SHOWN, NOT_SHOWN), *count);
            }
        }
        let found = std::mem::take(&mut self.found).into_values().collect();
        self.findings.insert(self.stream.clone(), found);
    }

    fn end(&mut self, totals: &RunTotals, _: u8, out: &mut String) -> io::Result<()> {
        if totals.not_checked > 0 || totals.streams == 0 {
            // The old file is better than half of a new one.
            return Err(io::Error::other("an input could not be checked"));
        }
        let findings = std::mem::take(&mut self.findings);
        let mut findings: Vec<KnownFinding> = findings.into_values().flatten().collect();
        findings.sort();
        let lines = findings.iter().map(|finding| {
            // Cannot fail: it has nothing but strings and a number.
            let line = serde_json::to_string(finding).unwrap_or_default();
            format!("\n    {}", escaped_json(&line))
        });
        let lines: Vec<String> = lines.collect();
        let end = if lines.is_empty() { "" } else { "\n  " };
        let text = format!(
            "{{\n  \"version\": {VERSION},\n  \"findings\": [{}{end}]\n}}\n",
            lines.join(",")
        );
        out.push_str(&text);
        Ok(())
    }
}
