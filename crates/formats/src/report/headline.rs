//! The headline: one sentence that says how a run ended, in the words of a user.

use ndjson_check_core::{
    Diagnostic, EndReason, ExitStatus, FailureSource, Note, Outcome, RetryAfter, Retryable, Rule,
    StreamSummary, counted,
    escape::{clipped, split_before, visible},
};

use super::call_names::noted;
use super::defect_words::{and_more, calls, defect, forbidden, in_line, refused, success};
use super::end_words::{failed_because, of_shell, signal, words};
use super::summary_text::RUN_FAILED;
use super::{FirstFindings, duration};

/// Longest headline, and longest part of it that a stream chose, in bytes.
const HEADLINE_BYTES_MAX: usize = 400;
const QUOTED_BYTES_MAX: usize = 240;

/// The answer about one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Headline {
    /// Whether the stream conforms and its run succeeded. Alone, such a stream has exit code 0.
    pub passed: bool,
    /// What happened, in words that other streams share: `cut short`.
    pub reason: &'static str,
    /// The reason, with why the agent failed if that is known: `failed: not signed in`.
    pub group: &'static str,
    /// The rest of the sentence, as it follows the reason: `: the quota is exceeded`.
    pub rest: String,
    /// Whether there are warnings.
    pub(super) has_warnings: bool,
}

const WRONG_PROFILE: &str = "the wrong profile";
const TWO_AGENTS: &str = "events of two agents";
pub(super) const NO_STREAM: &str = "not an agent's stream";
pub(super) const TRIED_AGAIN: &str = "tried again";
pub(super) const PLAIN_TEXT: &str = "plain text, not events";
const FAILED: &str = "failed";
pub(super) const BEFORE_EVENTS: &str = "failed before its first event";
const NOT_UTF8: &str = "binary data, or text that is not UTF-8";
const OF_LATIN1: &str = ": `iconv -f LATIN1 -t UTF-8 FILE | ndjson-check` reads Latin-1";
const EVENTS_FLAGS: &str = ", such as --output-format stream-json or --json";
pub(super) const CUT_SHORT: &str = "cut short";
pub(super) const SEVERAL_RUNS: &str = "more than one run";
pub(super) const ALL_REFUSED: &str = "every tool call was refused";
pub(super) const CALL_OPEN: &str = "a tool call never ended";
pub(super) const CALLS_OPEN: &str = "tool calls never ended";
pub(super) const CALL_REFUSED: &str = "a tool call was refused";
pub(super) const CALLS_REFUSED: &str = "tool calls were refused";
pub(super) const BUT_REFUSED: &str = "succeeded, but a tool call was refused";
pub(super) const BUT_SEVERAL_REFUSED: &str = "succeeded, but tool calls were refused";
const ONE_AND_SEVERAL: [(&str, &str); 3] =
    [(CALL_OPEN, CALLS_OPEN), (CALL_REFUSED, CALLS_REFUSED), (BUT_REFUSED, BUT_SEVERAL_REFUSED)];

pub(super) type Sentence = (&'static str, String);
impl Headline {
    /// The headline of a stream with these findings: those of its
    /// [reader](ndjson_check_core::LastEvents::findings), or all of them.
    pub fn of(summary: &StreamSummary, findings: &[Diagnostic]) -> Self {
        Self::new(summary, &findings.into())
    }

    /// The headline of a stream with these findings.
    pub(crate) fn new(summary: &StreamSummary, found: &FirstFindings) -> Self {
        let (reason, mut rest) = sentence(summary, found);
        if summary.outcome != Outcome::Succeeded {
            let forbidden = forbidden(reason, found);
            if !forbidden.is_empty() {
                rest.truncate(rest.trim_end_matches('.').len());
            }
            rest += &forbidden;
        }
        let has_warnings = summary.warnings > 0;
        if summary.was_tried_again() {
            let rest = after_colon(&format!("{reason}{rest}"));
            let (reason, group) = (TRIED_AGAIN, TRIED_AGAIN);
            return Self { passed: false, reason, group, rest, has_warnings };
        }
        // What a retry is worth is known of the last run only.
        let retry = if reason == SEVERAL_RUNS { String::new() } else { retry(summary) };
        let rest = if retry.is_empty() { &rest } else { rest.trim_end_matches('.') };
        let rest = clipped(rest, HEADLINE_BYTES_MAX - reason.len() - retry.len());
        let rest = format!("{rest}{retry}");
        let why = failed_because(summary.facts.reason);
        // One call and several are one problem.
        let of_all = ONE_AND_SEVERAL.into_iter().find(|(_, several)| *several == reason);
        let reason_of_all = of_all.map_or(reason, |(one, _)| one);
        let group =
            why.filter(|_| [FAILED, BEFORE_EVENTS].contains(&reason)).unwrap_or(reason_of_all);
        Self { passed: summary.passed(), reason, group, rest, has_warnings }
    }

    /// The rest, where it does not follow the reason.
    pub fn detail(&self) -> &str {
        let in_brackets = self.rest.strip_prefix(" (").and_then(|it| it.strip_suffix(')'));
        let after =
            || [": ", ", and ", ", ", " "].into_iter().find_map(|it| self.rest.strip_prefix(it));
        in_brackets.or_else(after).unwrap_or(&self.rest)
    }

    /// The note of a finding. If text came in place of events, it is not the output of another
    /// program between them.
    pub(super) fn note_of(&self, found: &Diagnostic) -> Option<String> {
        let has_no_event = [PLAIN_TEXT, BEFORE_EVENTS].contains(&self.reason);
        let is_text = has_no_event && found.rule == Rule::InvalidJson;
        noted(found).filter(|note| !is_text || !note.ends_with("(2>&1)?"))
    }

    /// Whether the sentence says what a finding of this rule says.
    pub(super) fn says_all_of(&self, rule: Rule) -> bool {
        let said = [(ALL_REFUSED, Rule::AllCallsRefused), (CUT_SHORT, Rule::MissingTerminalEvent)];
        said.contains(&(self.reason, rule))
    }

    /// Whether the profile is that of another agent, at least for a part of the stream.
    pub(super) fn is_foreign(&self) -> bool {
        is_foreign(self.reason)
    }

    /// Whether the sentence has this text in it, but for the full stop, or for a short rest where
    /// the text was clipped.
    pub(super) fn says(&self, text: &str) -> bool {
        let text = one_line(text);
        let (start, rest) = split_before(&text, QUOTED_BYTES_MAX - '…'.len_utf8());
        let is_clipped = !rest.is_empty() && rest.len() < QUOTED_BYTES_MAX / 2;
        // A single word may be a part of another: it counts only if the sentence says nothing else.
        let text = text.trim_end_matches('.');
        let is_said =
            if text.contains(' ') { self.rest.contains(text) } else { self.detail() == text };
        is_said || is_clipped && self.rest.contains(&format!("{start}…"))
    }

    /// The mark in front of the sentence.
    pub fn mark(&self) -> char {
        match self.reason {
            _ if self.passed && self.has_warnings => '!',
            _ if self.passed => '✓',
            TRIED_AGAIN => '↻',
            _ => '✗',
        }
    }

    /// The sentence, on one line, without a full stop.
    pub fn text(&self) -> String {
        format!("{}{}", self.reason, self.rest)
    }
}

pub(super) fn is_foreign(reason: &str) -> bool {
    [WRONG_PROFILE, TWO_AGENTS].contains(&reason)
}

/// Whether a retry is worth it, where that is good news.
fn retry(summary: &StreamSummary) -> String {
    match (summary.facts.retryable, summary.facts.retry_after) {
        (_, Some(RetryAfter::Seconds(0))) => "; may be retried at once".to_owned(),
        (_, Some(RetryAfter::Seconds(seconds))) => {
            format!("; may be retried in {}", duration(seconds.saturating_mul(1_000)))
        }
        (_, Some(time)) => format!("; may be retried at {time}"),
        (Some(Retryable::Yes), None) => "; a retry may help".to_owned(),
        (Some(Retryable::Later), None) => "; a later retry may help".to_owned(),
        _ => String::new(),
    }
}

fn sentence(summary: &StreamSummary, found: &FirstFindings) -> Sentence {
    if let Some(other) = found.error(Rule::WrongProfile) {
        let has_own = other.message.contains(", but an earlier event is of ");
        let reason = if has_own { TWO_AGENTS } else { WRONG_PROFILE };
        return (reason, after_colon(&other.message));
    }
    if let Some(other) = found.error(Rule::NotNdjson) {
        let what = other.message.split(", not NDJSON").next().unwrap_or_default();
        return (NO_STREAM, after_colon(what));
    }
    if summary.outcome == Outcome::TimedOut {
        let limit = summary.notes.iter().find(|note| matches!(note, Note::TimedOut(_)));
        return ("timed out", limit.map_or(String::new(), |note| after_colon(&note.to_string())));
    }
    if let Some(limit) = found.error(Rule::LimitExceeded) {
        let more = and_more(summary, limit, found);
        return ("over the limit", after_colon(&limit.message) + &more);
    }
    let was_killed = matches!(summary.exit_status, Some(ExitStatus::Signal(_)));
    if found.has_next_run() && !was_killed {
        // With an exit status, a stream is one run.
        let advice = match summary.exit_status {
            None => "`--sessions many` judges each on its own",
            Some(_) => "check each run separately",
        };
        return (SEVERAL_RUNS, after_colon(advice));
    }
    if let Some(signal) = by_signal(summary) {
        return signal;
    }
    match summary.outcome {
        Outcome::Succeeded => match found.worst() {
            Some(worst) => {
                let (reason, rest) = defect(summary, worst);
                (reason, rest + &and_more(summary, worst, found))
            }
            // Reports show a limited number of each rule.
            None if summary.errors > 0 => {
                ("the stream is broken", after_colon(&counted(summary.errors, "error")))
            }
            None => success(summary, found),
        },
        Outcome::Truncated => truncated(summary, found),
        _ => failed(summary, found),
    }
}

/// The highest number that a signal has.
const SIGNAL_MAX: u8 = 64;

fn by_signal(summary: &StreamSummary) -> Option<Sentence> {
    let ended = match summary.facts.reason? {
        EndReason::Interrupted => "stopped",
        EndReason::Killed => "killed",
        EndReason::Crash => "crashed",
        _ => return None,
    };
    let number = summary.exit_status.and_then(|status| match status {
        ExitStatus::Signal(number) => Some(number),
        // As shells say it.
        ExitStatus::Code(code) => code.checked_sub(128).filter(|it| (1..=SIGNAL_MAX).contains(it)),
        _ => None,
    });
    let text = summary.facts.error_text.as_deref().filter(|text| !is_code(text));
    let text = text.unwrap_or_default();
    let rest = number.map_or_else(|| after_colon(text), |it| format!(" by {}", signal(it)));
    Some((ended, rest))
}

/// Whether it is the name of a reason, or its number, not a sentence.
fn is_code(text: &str) -> bool {
    text.trim().chars().all(|it| it.is_ascii_alphanumeric() || "_-.:/".contains(it))
}

/// The run failed: the agent's own reason, or the best of the others.
fn failed(summary: &StreamSummary, found: &FirstFindings) -> Sentence {
    let stderr = summary.error_line();
    let failed = if summary.events == 0 { BEFORE_EVENTS } else { FAILED };
    let reason = summary.facts.reason;
    let text = summary.facts.error_text.as_deref();
    if let Some(text) = text.map(|text| words(reason).filter(|_| is_code(text)).unwrap_or(text)) {
        let lies = found.error(Rule::SuccessAfterFatalError).is_some();
        return (if lies { "failed, but reports success" } else { failed }, after_colon(text));
    }
    if let Some(found) = found.error(Rule::ExitStatusContradictsResult) {
        let texts = [found.message.clone()].into_iter().chain(stderr);
        return (failed, after_colon(&texts.collect::<Vec<String>>().join("; ")));
    }
    let status = summary.exit_status.filter(|it| !it.is_success());
    let meaning = summary.notes.iter().find_map(|note| match note {
        Note::ExitStatusMeaning(meaning) if meaning != RUN_FAILED => Some(meaning.clone()),
        _ => None,
    });
    let counts = &summary.call_counts;
    let was_refused = reason == Some(EndReason::Permission) && counts.rejected + counts.denied > 0;
    let known = || match of_shell(status, reason).or_else(|| words(reason))? {
        _ if was_refused => {
            let (reason, rest) = refused(summary);
            Some(format!("{reason}{rest}"))
        }
        known => Some(known.to_owned()),
    };
    // What standard error ends with is older than the end by `timeout`.
    let timed_out = of_shell(status, reason).filter(|_| reason == Some(EndReason::Timeout));
    let stderr = timed_out.map(str::to_owned).or(stderr);
    let rest = match (stderr.or_else(known).or(meaning), status) {
        (Some(text), Some(status)) => {
            format!("{} ({status})", after_colon(text.trim_end_matches('.')))
        }
        (Some(text), None) => after_colon(&text),
        (None, Some(status)) => format!(" with {status}"),
        (None, None) => evidence(summary, found),
    };
    (if rest.is_empty() { "failed, and the stream does not say why" } else { failed }, rest)
}

/// What shows that the run failed, where nothing says why.
fn evidence(summary: &StreamSummary, found: &FirstFindings) -> String {
    let lie = found.error(Rule::SuccessAfterFatalError).and_then(|it| it.line);
    let noted = summary.notes.iter().find_map(|note| match note {
        Note::FailureReported { line, .. } if lie == Some(*line) => {
            Some(format!(", although line {line} reports success"))
        }
        Note::FailureReported { line, sign } => Some(failure_at(summary, *line, *sign)),
        Note::CutShort { .. } => Some(after_colon(&note.to_string())),
        _ => None,
    });
    let worst = found.worst().filter(|it| it.rule != Rule::InvalidJson);
    noted.or_else(|| worst.map(|it| in_line(it, summary))).unwrap_or_default()
}

/// Which line shows a failure without a known reason.
pub(super) fn failure_at(summary: &StreamSummary, line: u64, sign: FailureSource) -> String {
    match sign {
        FailureSource::LastEvent => format!(": the stream ends at line {line}, before an answer"),
        FailureSource::Error | FailureSource::EarlierEvent => format!(": see line {line}"),
        FailureSource::Unfinished => {
            format!(": the run ended at line {line}, in the middle of a turn")
        }
        _ if summary.text_bytes == 0 => format!(" without an answer: see line {line}"),
        _ => format!(": see line {line}, which gives no known reason"),
    }
}

fn truncated(summary: &StreamSummary, found: &FirstFindings) -> Sentence {
    if summary.lines == 0 {
        return ("the stream is empty", String::new());
    }
    if let Some(text) = in_place_of_events(summary, found) {
        return text;
    }
    let open = calls(summary, |call| call.outcome.is_none());
    let open = match summary.call_counts.unfinished {
        0 => String::new(),
        1 => format!(", while a call was open: {open}"),
        count => format!(", while {count} calls were open: {open}"),
    };
    if let Some(line) = summary.cut_line {
        return (CUT_SHORT, format!(" in the middle of line {line}{open}"));
    }
    let is_reported = found.of(Rule::MissingTerminalEvent).is_some();
    match found.worst() {
        Some(worst) if !is_reported && worst.rule != Rule::UnfinishedCall => defect(summary, worst),
        _ => {
            let line = Some(summary.last_event_line).filter(|line| *line > 0);
            let line = line.unwrap_or(summary.lines);
            (CUT_SHORT, format!(" after line {line}{open}"))
        }
    }
}

/// What a stream without events has in their place.
fn in_place_of_events(summary: &StreamSummary, found: &FirstFindings) -> Option<Sentence> {
    let count = |rule| summary.rule_counts.get(&rule).copied().unwrap_or_default();
    if summary.events > 0 || summary.lines == 0 || summary.cut_line.is_some() {
        return None;
    }
    if count(Rule::InvalidUtf8) > count(Rule::InvalidJson) {
        return Some((NOT_UTF8, OF_LATIN1.to_owned()));
    }
    let empty = found.of(Rule::EmptyStream);
    let is_text = match found.error(Rule::InvalidJson) {
        Some(found) => found.message == "the line is not JSON",
        // Text that the profile knows.
        None => empty.is_some_and(|it| it.note.is_some()),
    };
    let note = empty.and_then(|it| it.note.as_deref()).unwrap_or_default();
    if let Some(text) = note.strip_suffix("; the agent failed before its first event") {
        return is_text.then(|| (BEFORE_EVENTS, after_colon(text.trim_matches('`'))));
    }
    let flags = if note.ends_with("its flag for events") { EVENTS_FLAGS } else { "" };
    is_text.then(|| (PLAIN_TEXT, format!("{}{flags}", after_colon(note))))
}

/// A text after a colon; nothing for nothing.
pub(super) fn after_colon(text: &str) -> String {
    let text = one_line(text);
    let text = clipped(&text, QUOTED_BYTES_MAX);
    if text.is_empty() { String::new() } else { format!(": {text}") }
}

/// On one line, with what misleads made visible.
pub(super) fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    visible(&text).into_owned()
}
