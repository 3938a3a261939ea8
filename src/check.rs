//! The loop: every stage in order, on one screen.

use std::io::Read;

use serde_json::Value;

use crate::correlation::Correlation;
use crate::diagnostic::{Diagnostic, SchemaLocation, shown};
use crate::error::Error;
use crate::event::{self, Event};
use crate::facts::{Fact, Facts, Reader};
use crate::framing::Framing;
use crate::limits::{
    CALL_ROWS_MAX, CALLS_OPEN_MAX, LINE_BYTES_MAX, PRINTED_PER_RULE_MAX, TEXT_BYTES_MAX,
};
use crate::line::{Line, LineReader};
use crate::profile::{Profile, TerminalPolicy};
use crate::reassembly::Reassembly;
use crate::report::Report;
use crate::rule::{Rule, Severities, Severity};
use crate::schema::Schema;
use crate::sequence::Sequence;
use crate::summary::StreamSummary;
use crate::terminal::Terminal;
use crate::verdict::{Format, Verdict};
use crate::vocabulary::Vocabulary;

/// What streams are held against; compiled once, used for any number of them.
#[derive(Debug)]
pub struct Contract {
    profile: Profile,
    schema: Option<Schema>,
    single: Option<Schema>,
    user_schema: Option<Schema>,
    /// The severity of each rule.
    pub severities: Severities,
    /// Which format the producer was asked for; `None` tells it from the first event.
    pub format: Option<Format>,
    /// Longest line that is checked, in bytes.
    pub line_bytes_max: u64,
    /// The producer's exit status, where it is known.
    pub exit_status: Option<u8>,
}

impl Contract {
    /// The contract of a profile and, if it has one, the schema of its events.
    ///
    /// # Errors
    ///
    /// When the schema is none, or refers to something outside itself.
    pub fn new(profile: Profile, schema: Option<&Value>) -> Result<Self, Error> {
        let single = match (schema, &profile.single) {
            (Some(schema), Some(part)) => Some(Schema::compile_part(&profile.name, schema, part)?),
            _ => None,
        };
        Ok(Self {
            schema: schema.map(|it| Schema::compile(&profile.name, it)).transpose()?,
            single,
            user_schema: None,
            profile,
            severities: Severities::default(),
            format: None,
            line_bytes_max: LINE_BYTES_MAX,
            exit_status: None,
        })
    }

    /// Adds a schema that every event must satisfy as well; `origin` is its file.
    ///
    /// # Errors
    ///
    /// As [`Contract::new`].
    pub fn add_schema(&mut self, origin: &str, schema: &Value) -> Result<(), Error> {
        self.user_schema = Some(Schema::compile(origin, schema)?);
        Ok(())
    }
}

/// Checks one stream to its end and reports what it finds, line by line.
///
/// # Errors
///
/// When the stream cannot be read, the report cannot be written, or a schema cannot be evaluated.
/// What is wrong *with the stream* is a diagnostic, and the next line is checked all the same.
pub fn check(
    stream: impl Read,
    name: &str,
    contract: &Contract,
    report: &mut dyn Report,
) -> Result<StreamSummary, Error> {
    let mut lines = LineReader::new(stream, contract.line_bytes_max);
    let mut check = Check::new(name, contract);
    let failed = |source| Error::Read { stream: name.to_owned(), source };
    while let Some(line) = lines.next_line().map_err(failed)? {
        check.line(&line)?;
        check.deliver(report)?;
    }
    let bytes = lines.bytes();
    check.finish(bytes, report)
}

/// The check of one stream, line by line.
struct Check<'c> {
    name: &'c str,
    contract: &'c Contract,
    reader: Reader<'c>,
    framing: Framing,
    format: Option<Format>,
    vocabulary: Vocabulary,
    sequence: Sequence,
    correlation: Correlation,
    reassembly: Reassembly,
    terminal: Terminal,
    /// What the stages found and no report has seen yet.
    found: Vec<Diagnostic>,
    /// Whether the stream has been called something else than NDJSON.
    diagnosed: bool,
    /// The cut last line, kept until the end knows what else is missing.
    truncated: Option<Diagnostic>,
    counts: Vec<u64>,
    lines: u64,
    events: u64,
}

impl<'c> Check<'c> {
    fn new(name: &'c str, contract: &'c Contract) -> Self {
        let same = contract.profile.calls.same.iter().map(|path| path.as_str().to_owned());
        Self {
            name,
            contract,
            reader: Reader::new(&contract.profile),
            framing: Framing::Unseen,
            format: contract.format,
            vocabulary: Vocabulary::default(),
            sequence: Sequence::default(),
            correlation: Correlation::new(same),
            reassembly: Reassembly::default(),
            terminal: Terminal::default(),
            found: Vec::new(),
            diagnosed: false,
            truncated: None,
            counts: vec![0; Rule::ALL.len()],
            lines: 0,
            events: 0,
        }
    }

    fn line(&mut self, line: &Line<'_>) -> Result<(), Error> {
        self.lines += 1;
        if let Framing::Foreign(_) = self.framing {
            return Ok(());
        }
        let event = event::parse(line, &mut self.found);
        self.framing = self.framing.observe(line, event.is_some());
        if let Some(event) = &event {
            return self.event(event);
        }
        self.truncated = self.found.pop_if(|it| it.rule == Rule::TruncatedLine);
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        self.events += 1;
        let facts = self.reader.facts(event);
        let ends = facts.list.iter().any(|fact| matches!(fact, Fact::Terminal(_)));
        // Nothing but a terminal event: the single object of the other format.
        let guess = if ends { Format::Json } else { Format::StreamJson };
        let format = *self.format.get_or_insert(guess);
        let valid = self.schemas(event)?;
        if !self.terminal.is_closed() {
            self.stages(&facts, valid, format);
        }
        self.terminal.observe(&facts, &mut self.found);
        Ok(())
    }

    /// The stages that follow the run; after its end there is nothing for them to follow.
    fn stages(&mut self, facts: &Facts<'_>, valid: bool, format: Format) {
        self.vocabulary.observe(facts, valid, &mut self.found);
        self.sequence.observe(facts, &mut self.found);
        self.correlation.observe(facts, &mut self.found);
        self.reassembly.observe(facts, format == Format::Json, &mut self.found);
    }

    /// Holds an event against the profile's schema and the user's; false if it fails one.
    fn schemas(&mut self, event: &Event<'_>) -> Result<bool, Error> {
        let own = match self.contract.format {
            Some(Format::Json) => self.contract.single.as_ref().or(self.contract.schema.as_ref()),
            Some(Format::StreamJson) | None => self.contract.schema.as_ref(),
        };
        let mut violations = Vec::new();
        for schema in own.iter().chain(&self.contract.user_schema.as_ref()) {
            for violation in schema.violations(event.value())? {
                violations.push((event.offset_of(&violation.instance), violation));
            }
        }
        // In the order of the document, whatever order the validator works in.
        violations.sort_by_key(|(offset, _)| *offset);
        let valid = violations.is_empty();
        self.found.extend(violations.into_iter().map(|(offset, violation)| {
            let diagnostic = Diagnostic::new(Rule::SchemaViolation, violation.message);
            let location =
                SchemaLocation { instance: violation.instance, keyword: violation.keyword };
            Diagnostic { location: Some(location), ..diagnostic.at(event.line, offset) }
        }));
        Ok(valid)
    }

    /// Hands what was found to the report, unless the stream's framing is still in doubt.
    fn deliver(&mut self, report: &mut dyn Report) -> Result<(), Error> {
        match self.framing {
            Framing::Foreign(other) if !self.diagnosed => {
                self.diagnosed = true;
                self.found.clear();
                self.found.push(other.diagnostic());
            }
            Framing::Suspect { .. } | Framing::Foreign(_) => return Ok(()),
            Framing::Unseen | Framing::Ndjson => {}
        }
        if self.found.is_empty() {
            return Ok(());
        }
        for diagnostic in self.found.drain(..) {
            let Some(severity) = self.contract.severities.of(diagnostic.rule) else { continue };
            let count = &mut self.counts[diagnostic.rule as usize];
            *count += 1;
            if *count <= PRINTED_PER_RULE_MAX {
                report.diagnostic(self.name, severity, &diagnostic)?;
            }
        }
        report.flush()
    }

    fn finish(mut self, bytes: u64, report: &mut dyn Report) -> Result<StreamSummary, Error> {
        self.framing = self.framing.finish();
        self.deliver(report)?;
        if !matches!(self.framing, Framing::Foreign(_)) {
            self.reassembly.finish();
            self.end();
            self.deliver(report)?;
        }
        let summary = self.summary(bytes);
        report.stream(&summary)?;
        report.flush()?;
        Ok(summary)
    }

    /// What only the end of the stream shows.
    fn end(&mut self) {
        let exit_status = self.contract.exit_status;
        let failed_status = exit_status.is_some_and(|status| status != 0);
        let needs_terminal = self.needs_terminal();
        if let Some(truncated) = self.truncated.take() {
            let missing = needs_terminal && !self.terminal.is_closed();
            let note = missing.then(|| self.missing("no terminal event came"));
            self.found.push(Diagnostic { note, ..truncated });
        } else if self.events == 0 {
            if !failed_status {
                let message = "the stream has no event";
                self.found.push(Diagnostic::new(Rule::EmptyStream, message));
            }
        } else if needs_terminal && !self.terminal.is_closed() && !failed_status {
            let (line, _) = self.terminal.last_event().unwrap_or_default();
            let message = format!("the stream ends after line {line} without a terminal event");
            let diagnostic = Diagnostic::new(Rule::MissingTerminalEvent, message);
            self.found.push(diagnostic.related(line).note(self.missing("the run was cut short")));
        }
        if self.events > 0 {
            let format = self.format.unwrap_or(Format::StreamJson);
            let starts = !self.contract.profile.session.start.is_empty();
            self.sequence.finish(starts && format == Format::StreamJson, &mut self.found);
            if !needs_terminal {
                let (line, offset) = self.terminal.last_event().unwrap_or_default();
                self.correlation.report_open(line, offset, &mut self.found);
            }
            self.found.extend(self.terminal.contradiction(exit_status));
        }
    }

    fn needs_terminal(&self) -> bool {
        self.contract.profile.terminal.policy == TerminalPolicy::Required
    }

    /// Whether the stream ended before the run did.
    fn is_cut(&self) -> bool {
        let open = self.correlation.counts().unfinished > 0;
        let run_goes_on = if self.needs_terminal() { !self.terminal.is_closed() } else { open };
        run_goes_on || self.events == 0
    }

    /// What a stream without its terminal event leaves behind.
    fn missing(&self, fact: &str) -> String {
        [Some(fact.to_owned()), self.correlation.open_summary()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn summary(self, bytes: u64) -> StreamSummary {
        let notes = self.notes();
        let severities = &self.contract.severities;
        let raised: Vec<(Rule, u64)> = Rule::ALL
            .iter()
            .copied()
            .zip(self.counts.clone())
            .filter(|(_, count)| *count > 0)
            .collect();
        let total = |severity| -> u64 {
            let of = raised.iter().filter(|(rule, _)| severities.of(*rule) == Some(severity));
            of.map(|(_, count)| count).sum()
        };
        let (errors, warnings) = (total(Severity::Error), total(Severity::Warning));
        let cut = self.is_cut();
        let end = self.terminal.end();
        StreamSummary {
            stream: self.name.to_owned(),
            profile: self.contract.profile.name.clone(),
            format: self.format.unwrap_or(Format::StreamJson),
            verdict: if errors > 0 { Verdict::NonConforming } else { Verdict::Conforming },
            outcome: self.terminal.outcome(cut, self.contract.exit_status),
            lines: self.lines,
            events: self.events,
            bytes,
            errors,
            warnings,
            rules: raised.into_iter().collect(),
            session_id: self.sequence.session_id().map(str::to_owned),
            calls: self.correlation.counts(),
            tool_calls: self.correlation.into_rows(),
            exit_status: self.contract.exit_status,
            duration_ms: end.and_then(|end| end.duration_ms),
            usage: end.map(|end| end.usage).unwrap_or_default(),
            text_bytes: self.reassembly.text_bytes(),
            notes,
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (rule, count) in Rule::ALL.iter().zip(&self.counts) {
            if let Some(more) = count.checked_sub(PRINTED_PER_RULE_MAX).filter(|more| *more > 0) {
                notes.push(format!("{more} more of {rule} are not shown"));
            }
        }
        for (tag, count) in self.vocabulary.repeated() {
            notes.push(format!("the unknown event {} occurs {count} times", shown(tag)));
        }
        if self.correlation.overflowed() {
            notes.push(format!(
                "more than {CALLS_OPEN_MAX} tool calls were open at once, or too many ended: \
                 not all of them were correlated"
            ));
        }
        if self.correlation.counts().total > CALL_ROWS_MAX as u64 {
            notes.push(format!("the list of tool calls holds the first {CALL_ROWS_MAX}"));
        }
        if self.reassembly.overflowed() {
            notes.push(format!(
                "text beyond {TEXT_BYTES_MAX} bytes was compared by length and fingerprint"
            ));
        }
        notes
    }
}
