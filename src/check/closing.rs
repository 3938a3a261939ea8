//! What a check amounts to, once its stream has ended.

use super::stream::Check;
use crate::check::producer_exit::{End, Stop};
use crate::profile::detect::ProfileSource;
use crate::limits::{
    CALL_ROWS_MAX, CALLS_ENDED_MAX, CALLS_OPEN_MAX, NAMES_MAX, PRINTED_PER_RULE_MAX,
    STDERR_LINE_BYTES_MAX, TEXT_BYTES_MAX, TEXT_GROUPS_MAX,
};
use crate::profile::TerminalPolicy;
use crate::rules::{Rule, Severity};
use crate::check::summary::StreamSummary;
use crate::check::verdict::{Format, Outcome, Verdict};
use crate::rules::escape::{clipped, shown};

impl Check<'_> {
    pub(super) fn summary(self, bytes: u64, end: &End) -> StreamSummary {
        let mut notes = self.notes();
        notes.extend(self.notes_on_outcome(end));
        if let Some(word) = self.judged(end)
            && let Some(meaning) = word.meaning
        {
            notes.push(format!("the exit status means: {meaning}"));
        }
        if end.stopped == Some(Stop::Lingered) {
            let note = if end.status.is_some() {
                "the command lived on after its terminal event, and was ended"
            } else {
                "the stream stayed open after its terminal event, and was not waited for"
            };
            notes.push(note.to_owned());
        }
        let severities = &self.contract.severities;
        let raised: Vec<(Rule, u64)> = Rule::ALL
            .iter()
            .copied()
            .zip(self.counts.iter().copied())
            .filter(|(_, count)| *count > 0)
            .collect();
        let total = |severity| -> u64 {
            let of = raised.iter().filter(|(rule, _)| severities.of(*rule) == Some(severity));
            of.map(|(_, count)| count).sum()
        };
        let (errors, warnings) = (total(Severity::Error), total(Severity::Warning));
        let cut = self.is_cut();
        let stalls = self.counts[Rule::Stalled as usize];
        let defects = errors - if self.is_severe(Rule::Stalled) { stalls } else { 0 };
        let outcome = match &end.stopped {
            Some(stop) if stop.is_timeout() => Outcome::TimedOut,
            _ => self.terminal.outcome(cut, self.judged(end)),
        };
        let succeeded = outcome == Outcome::Succeeded;
        let stderr = end.stderr.iter().flatten().filter(|_| !succeeded);
        let last = self.terminal.end();
        StreamSummary {
            stream: self.name.clone(),
            profile: self.contract.profile().name.clone(),
            format: self.format.unwrap_or(Format::StreamJson),
            verdict: if defects > 0 { Verdict::NonConforming } else { Verdict::Conforming },
            outcome,
            lines: self.lines,
            events: self.events,
            bytes,
            errors,
            warnings,
            rules: raised.into_iter().collect(),
            session_id: self.sequence.session_id().map(str::to_owned),
            calls: self.correlation.counts(),
            tool_calls: self.correlation.into_rows(),
            status: end.status,
            stderr: stderr.map(|line| clipped(line, STDERR_LINE_BYTES_MAX).into_owned()).collect(),
            duration_ms: last.and_then(|last| last.duration_ms),
            usage: last.map(|last| last.usage).unwrap_or_default(),
            text_bytes: self.reassembly.text_bytes(),
            notes,
        }
    }

    /// How the outcome came about, where nothing else tells.
    fn notes_on_outcome(&self, end: &End) -> Vec<String> {
        let mut notes = Vec::new();
        let judged = self.judged(end);
        let (policy, turns) = (self.contract.profile().end.policy, self.terminal.turns());
        let (warnings, last) = (self.terminal.warnings(), self.terminal.end());
        let untold = policy != TerminalPolicy::Required
            && !self.terminal.is_closed()
            && last.is_none_or(|it| it.outcome.is_none());
        match self.terminal.outcome(self.is_cut(), judged) {
            Outcome::Failed => {
                if let Some((line, what)) = self.terminal.failure() {
                    notes.push(format!("{what} in line {line} says that the run failed"));
                } else if self.is_cut() && self.events > 0 {
                    let missing =
                        self.contract.needs_terminal().then_some("no terminal event came");
                    notes.extend(self.missing(missing));
                }
            }
            Outcome::Succeeded if untold && judged.is_none() => {
                notes.push(
                    "whether the run came to its end only the exit status tells: see \
                     --exit-status, or let ndjson-check run the command"
                        .to_owned(),
                );
            }
            Outcome::Succeeded if warnings > 0 => {
                let errors = if warnings == 1 { "error" } else { "errors" };
                notes.push(format!("the run went on after {warnings} {errors}"));
            }
            Outcome::Succeeded | Outcome::Truncated | Outcome::TimedOut => {}
        }
        if turns > 1
            && last.is_some_and(|it| it.duration_ms.is_some() || it.usage.output_tokens.is_some())
        {
            notes.push(format!("duration and tokens are those of the last of {turns} turns"));
        }
        notes
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.choice == ProfileSource::Fallback && self.is_looking() {
            let name = &self.contract.profile().name;
            let why = if self.events > 0 {
                "the stream looks like no known agent's"
            } else {
                "no event shows whose stream it is"
            };
            notes.push(format!("the profile is {name} by default: {why}"));
        }
        notes.extend(self.opening.note());
        for (rule, count) in Rule::ALL.iter().zip(&self.counts) {
            if let Some(more) = count.checked_sub(PRINTED_PER_RULE_MAX).filter(|more| *more > 0) {
                notes.push(format!("{more} more of {rule} are not shown"));
            }
        }
        for (tag, count) in self.vocabulary.repeated() {
            let named = if tag.is_empty() { "without a tag".to_owned() } else { shown(tag) };
            notes.push(format!("the unknown event {named} occurs {count} times"));
        }
        if self.incomplete > 0 {
            notes.push(format!(
                "in {} of the events a tool call has no id, or a text is not where the profile \
                 expects it",
                self.incomplete
            ));
        }
        if let Some(line) = self.lost.filter(|_| self.is_looking()) {
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
        if self.reassembly.crowded() {
            notes.push(format!(
                "more than {TEXT_GROUPS_MAX} texts were open at once, or more of one than can \
                 wait: not all of them were kept apart"
            ));
        }
        if self.reassembly.overflowed() {
            notes.push(format!(
                "text beyond {TEXT_BYTES_MAX} bytes was compared by length and fingerprint"
            ));
        }
        notes
    }
}
