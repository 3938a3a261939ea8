//! The loop: every stage in order, on one screen.

use std::io::Read;

use crate::contract::Contract;
use crate::convert::{Convert, Seen};
use crate::correlation::Correlation;
use crate::diagnostic::{Diagnostic, SchemaLocation};
use crate::error::Error;
use crate::event::{self, Event};
use crate::facts::{Fact, Facts, Reader};
use crate::framing::Framing;
use crate::limits::{
    CALL_ROWS_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX, NAMES_MAX, PRINTED_PER_RULE_MAX,
    TEXT_BYTES_MAX, VIOLATION_DETAIL_BYTES_MAX,
};
use crate::line::{Line, LineReader};
use crate::reassembly::{Piece, Reassembly};
use crate::report::Report;
use crate::rule::{Rule, Severity};
use crate::schema::Violation;
use crate::sequence::Sequence;
use crate::summary::StreamSummary;
use crate::terminal::Terminal;
use crate::verdict::{Format, Verdict};
use crate::visible::shown;
use crate::vocabulary::Vocabulary;

/// Checks one stream to its end and reports what it finds, line by line; `conversion` sees every
/// event (`&mut ()` where nothing is converted).
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
    conversion: &mut dyn Convert,
) -> Result<StreamSummary, Error> {
    let mut lines = LineReader::new(stream, contract.line_bytes_max);
    let mut check = Check::new(name, contract);
    let failed = |source| Error::Read { stream: name.to_owned(), source };
    while let Some(line) = lines.next_line().map_err(failed)? {
        if let Err(error) = check.line(&line, conversion) {
            // The producer is not to be killed for it: its stream is read to the end.
            while lines.next_line().map_err(failed)?.is_some() {}
            return Err(error);
        }
        check.deliver(report)?;
    }
    let bytes = lines.bytes();
    let summary = check.finish(bytes, report)?;
    conversion.finish(summary.outcome);
    Ok(summary)
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
    /// The first line that was to be an event and could not be read; and the last line, if it was
    /// one. What seems to be missing may have stood there.
    lost: Option<u64>,
    last_lost: Option<u64>,
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
        let same = contract.profile().calls.same.iter().map(|path| path.as_str().to_owned());
        Self {
            name,
            contract,
            reader: Reader::new(contract.profile()),
            framing: Framing::Unseen,
            format: contract.format,
            vocabulary: Vocabulary::default(),
            sequence: Sequence::default(),
            correlation: Correlation::new(same),
            reassembly: Reassembly::default(),
            terminal: Terminal::default(),
            found: Vec::new(),
            lost: None,
            last_lost: None,
            diagnosed: false,
            truncated: None,
            counts: vec![0; Rule::ALL.len()],
            lines: 0,
            events: 0,
        }
    }

    fn line(&mut self, line: &Line<'_>, conversion: &mut dyn Convert) -> Result<(), Error> {
        self.lines += 1;
        if let Framing::Foreign(_) = self.framing {
            return Ok(());
        }
        let event = event::parse(line, &mut self.found);
        self.framing = self.framing.observe(line, event.is_some());
        if let Some(event) = &event {
            self.last_lost = None;
            return self.event(line, event, conversion);
        }
        self.truncated = self.found.pop_if(|it| it.rule == Rule::TruncatedLine);
        if is_lost_event(line) && self.is_error(self.found.last()) {
            self.last_lost = Some(line.number);
            self.lost.get_or_insert(line.number);
        }
        Ok(())
    }

    fn event(
        &mut self,
        line: &Line<'_>,
        event: &Event<'_>,
        conversion: &mut dyn Convert,
    ) -> Result<(), Error> {
        self.events += 1;
        let facts = self.reader.facts(event);
        let ends = facts.list.iter().any(|fact| matches!(fact, Fact::Terminal(_)));
        // Nothing but a terminal event: the single object of the other format.
        let guess = if ends { Format::Json } else { Format::StreamJson };
        let format = *self.format.get_or_insert(guess);
        let in_run = !self.terminal.is_closed();
        let valid = in_run && self.schemas(event)?;
        let pieces = if in_run { self.stages(&facts, valid, format) } else { Vec::new() };
        self.terminal.observe(&facts, &mut self.found);
        if facts.incomplete && !valid {
            self.lost.get_or_insert(event.line);
        }
        conversion.event(&Seen { line, event, facts: &facts, pieces: &pieces, valid, in_run });
        Ok(())
    }

    /// The stages that follow the run; after its end there is nothing for them to follow.
    fn stages<'f>(&mut self, facts: &'f Facts<'_>, valid: bool, format: Format) -> Vec<Piece<'f>> {
        self.vocabulary.observe(facts, valid, &mut self.found);
        self.sequence.observe(facts, &mut self.found);
        self.correlation.observe(facts, &mut self.found);
        self.reassembly.observe(facts, format == Format::Json, &mut self.found)
    }

    /// Holds an event against the profile's schema and the user's; false if it fails one.
    fn schemas(&mut self, event: &Event<'_>) -> Result<bool, Error> {
        let mut failed = Vec::new();
        for schema in self.contract.schemas(self.events == 1) {
            if schema.is_valid(event.value()) {
                continue;
            }
            let violations = if event.length() <= VIOLATION_DETAIL_BYTES_MAX {
                schema.violations(event.value())?
            } else {
                vec![Violation::of_large_value()]
            };
            failed.extend(violations.into_iter().map(|it| (schema.origin(), it)));
        }
        let pointers = failed.iter().map(|(_, it)| it.instance.clone()).collect();
        let offsets = event.offsets(&pointers);
        let offset = |it: &Violation| offsets.get(&it.instance).copied().unwrap_or(event.offset);
        // In the order of the document, whatever order the validator works in.
        failed.sort_by_key(|(_, violation)| offset(violation));
        self.found.extend(failed.iter().map(|(schema, violation)| {
            let diagnostic = Diagnostic::new(Rule::SchemaViolation, violation.message.as_str())
                .at(event.line, offset(violation));
            Diagnostic { location: Some(SchemaLocation::new(schema, violation)), ..diagnostic }
        }));
        Ok(failed.is_empty())
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
        let (lost, last_lost) = (self.lost, self.last_lost);
        for diagnostic in self.found.drain(..) {
            if may_follow_from(lost, last_lost, diagnostic.rule) {
                continue;
            }
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
        let needs_terminal = self.contract.needs_terminal();
        let truncated = self.truncated.take();
        let cut = self.is_error(truncated.as_ref());
        if let Some(truncated) = truncated {
            let missing = needs_terminal && !self.terminal.is_closed();
            let note = missing.then(|| self.missing("no terminal event came"));
            self.found.push(Diagnostic { note, ..truncated });
        }
        if cut {
            // All that is missing is missing for that.
        } else if self.events == 0 {
            if !failed_status {
                let message = "the stream has no event";
                self.found.push(Diagnostic::new(Rule::EmptyStream, message));
            }
        } else if needs_terminal && !self.terminal.is_closed() && !failed_status {
            let (line, offset) = self.terminal.last_event().unwrap_or_default();
            let message = "the stream ends here, without a terminal event";
            let diagnostic = Diagnostic::new(Rule::MissingTerminalEvent, message);
            let note = self.missing("the run was cut short");
            self.found.push(diagnostic.at(line, offset).note(note));
        }
        if self.events > 0 {
            let format = self.format.unwrap_or(Format::StreamJson);
            let starts = !self.contract.profile().session.start.is_empty();
            self.sequence.finish(starts && format == Format::StreamJson, &mut self.found);
            if !needs_terminal {
                let (line, offset) = self.terminal.last_event().unwrap_or_default();
                self.correlation.report_open(line, offset, &mut self.found);
            }
            self.found.extend(self.terminal.contradiction(exit_status));
        }
    }

    fn is_error(&self, diagnostic: Option<&Diagnostic>) -> bool {
        let severity = diagnostic.and_then(|it| self.contract.severities.of(it.rule));
        severity == Some(Severity::Error)
    }

    /// Whether the stream ended before the run did.
    fn is_cut(&self) -> bool {
        let open = self.correlation.counts().unfinished > 0;
        let run_goes_on =
            if self.contract.needs_terminal() { !self.terminal.is_closed() } else { open };
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
            profile: self.contract.profile().name.clone(),
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
        if let Some(line) = self.lost {
            notes.push(format!("line {line} is lost: what may follow from that is not reported"));
        }
        if self.correlation.overflowed() {
            notes.push(format!(
                "more than {CALLS_OPEN_MAX} tool calls were open at once, or more than \
                 {CALLS_ENDED_MAX} ended: not all of them were followed"
            ));
        }
        if self.vocabulary.overflowed() {
            notes.push(format!("of unknown names the first {NAMES_MAX} were counted"));
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

/// Whether a line that is no event looks as if it was to be one: an object, or too long to tell.
fn is_lost_event(line: &Line<'_>) -> bool {
    line.is_too_long() || line.bytes.trim_ascii_start().starts_with(b"{")
}

/// Whether something that seems to be missing may have stood in a line that could not be read. It
/// has been reported then, once, and as an error.
fn may_follow_from(lost: Option<u64>, last_lost: Option<u64>, rule: Rule) -> bool {
    let rests_on_all = [
        Rule::MissingSessionStart,
        Rule::CompletionWithoutStart,
        Rule::RejectedWithoutStart,
        Rule::UnfinishedCall,
        Rule::ReplayMismatch,
        Rule::TextMismatch,
    ];
    lost.is_some() && rests_on_all.contains(&rule)
        || last_lost.is_some() && rule == Rule::MissingTerminalEvent
}
