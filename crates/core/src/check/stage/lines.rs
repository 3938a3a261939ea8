//! Stage: which lines are events. Framing, noise, and lines that could not be parsed.

use super::line_findings::{byte_order_mark, limit_note, stderr_in_stream};
use crate::check::contract::Options;
use crate::check::end_of_run::LastLine;
use crate::check::error_text::{is_failure, is_trace, says_something};
use crate::check::findings::Findings;
use crate::check::how_to_call::how_to_call_for_events;
use crate::facts::FactReader;
use crate::limits::ERROR_TEXT_BYTES_MAX;
use crate::profile::{EndReason, Noise, NoiseKind, NoiseMeaning, NoisePlace, Profile};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;
use crate::stream::{
    ArraySplitter, BYTE_ORDER_MARK, Framing, GluedEvent, Line, LineDefect, ParsedEvent,
    glued_events,
};

/// Decides for each line whether it is an event.
#[derive(Debug)]
pub(crate) struct LineCheck<'c> {
    profile: &'c Profile,
    framing: Framing,
    /// Whether an agent writes the stream: then text in it is text of the agent, whatever it looks
    /// like.
    is_of_agent: bool,
    /// How the command writes events, if it was called without that.
    how: Option<String>,
    has_event: bool,
    line_bytes_max: u64,
    /// Whether the stream has been reported as something else than NDJSON.
    is_reported: bool,
    /// Lines so far, including blank ones.
    pub(crate) lines: u64,
    /// A cut last line, kept until the end shows what else is missing.
    pub(crate) cut_line: Option<Diagnostic>,
    /// The first line of plain text that says that the run failed.
    pub(crate) failure: Option<FailureLine>,
    /// What the latest line says in place of an event.
    pub(crate) said: Option<SaidLine>,
    /// The first text that is not an event, and that the profile does not know or knows from
    /// standard error.
    pub(crate) first_text: Option<String>,
    /// The last such text: a trace of calls ends with the error.
    last_text: Option<String>,
    /// The first such text that looks like an error.
    error_text: Option<String>,
    /// Where the stream ends inside a line.
    cut_at: Option<u64>,
    /// The last line, if it ends inside a JSON text.
    unfinished: Option<u64>,
}

/// A line of plain text that says that the run failed.
#[derive(Debug)]
pub(crate) struct FailureLine {
    /// `None` for a line of standard error.
    pub(crate) number: Option<u64>,
    pub(crate) text: String,
    pub(crate) reason: Option<EndReason>,
    /// It counts only if no event follows.
    pub(crate) may_recover: bool,
}

impl FailureLine {
    pub(crate) fn of(noise: &Noise, line: &str, number: Option<u64>) -> Self {
        let text = clipped(noise.text(line), ERROR_TEXT_BYTES_MAX).into_owned();
        let Noise { reason, may_recover, .. } = *noise;
        Self { number, text, reason, may_recover }
    }
}

/// What a line of plain text says of the run, and no event shows.
#[derive(Debug)]
pub(crate) struct SaidLine {
    pub(crate) meaning: NoiseMeaning,
    pub(crate) text: String,
    /// The line and its offset; `None` for a line of standard error.
    pub(crate) at: Option<(u64, u64)>,
}

impl SaidLine {
    pub(crate) fn of(noise: &Noise, line: &str, at: Option<(u64, u64)>) -> Option<Self> {
        let meaning = noise.means?;
        let text = clipped(noise.text(line), ERROR_TEXT_BYTES_MAX).into_owned();
        Some(Self { meaning, text, at })
    }
}

/// A line that is not an event, once the profile has been asked.
#[expect(clippy::large_enum_variant, reason = "one at a time")]
enum LineNoise<'a, 'c> {
    /// The profile does not know it.
    NotNoise,
    EventBehindText(GluedEvent<'a>, Option<&'c Noise>),
    Line(&'c Noise),
}

impl<'c> LineCheck<'c> {
    pub(crate) fn new(profile: &'c Profile, options: &Options, is_of_agent: bool) -> Self {
        let wants_array = options.is_array == Some(true);
        Self {
            profile,
            framing: if wants_array { Framing::ArrayWanted } else { Framing::Unseen },
            is_of_agent,
            how: how_to_call_for_events(profile, options),
            has_event: false,
            line_bytes_max: options.line_bytes_max(),
            is_reported: false,
            lines: 0,
            cut_line: None,
            failure: None,
            said: None,
            first_text: None,
            last_text: None,
            error_text: None,
            cut_at: None,
            unfinished: None,
        }
    }

    pub(crate) fn array_begins(&mut self, array: &ArraySplitter, findings: &mut Findings<'_>) {
        self.framing = Framing::Ndjson;
        if array.has_mark {
            findings.pending.push(byte_order_mark());
        }
    }

    /// A session begins with the line that was accepted last.
    pub(crate) fn next_session(&mut self) {
        self.lines = 1;
        (self.cut_line, self.failure) = (None, None);
        (self.first_text, self.error_text) = (None, None);
        (self.last_text, self.cut_at, self.unfinished) = (None, None, None);
    }

    /// A line that the shape cache knows is an event.
    #[inline]
    pub(crate) fn recalled(&mut self, findings: &mut Findings<'_>) {
        self.lines += 1;
        self.event_follows(findings);
    }

    /// An event of the run follows what came until now.
    #[inline]
    pub(crate) fn event_follows(&mut self, findings: &mut Findings<'_>) {
        self.unfinished = None;
        self.failure.take_if(|failure| failure.may_recover);
        findings.is_last_line_lost = false;
    }

    /// The event of a line, or the event behind other text on it.
    pub(crate) fn accept<'a>(
        &mut self,
        line: Line<'a>,
        parsed: Result<ParsedEvent<'a>, LineDefect>,
        facts: &mut FactReader,
        findings: &mut Findings<'_>,
    ) -> Option<(Line<'a>, ParsedEvent<'a>)> {
        self.lines += 1;
        if self.framing == Framing::ArrayWanted {
            self.framing = self.framing.observe(&line, parsed.is_ok());
        }
        if !self.is_ndjson() {
            return None;
        }
        if line.offset == 0 && line.bytes.starts_with(BYTE_ORDER_MARK) {
            findings.pending.push(byte_order_mark());
        }
        let defect = match parsed {
            Ok(event) => {
                let noise = self.profile.known_object(&line);
                let noise = noise.filter(|_| !facts.plan(self.profile, &event).is_known());
                let Some(noise) = noise else { return Some(self.event(line, event, findings)) };
                self.known_line(&line, noise, findings);
                return None;
            }
            Err(defect) => defect,
        };
        match self.noise(&line, &defect, facts) {
            LineNoise::NotNoise => {
                self.unfinished = None;
                self.framing = self.framing_with(&line);
                self.not_an_event(&line, &defect, findings);
                None
            }
            LineNoise::EventBehindText(GluedEvent { before, line: rest, event }, noise) => {
                if noise.is_none() {
                    findings.pending.push(defect.diagnostic(&line));
                }
                if let Some(noise) = noise.filter(|noise| noise.is == NoiseKind::Stderr) {
                    let message = "standard error is mixed in before the event";
                    findings.pending.push(stderr_in_stream(message, &line));
                    self.said = SaidLine::of(noise, before, Some((line.number, line.offset)));
                }
                Some(self.event(rest, event, findings))
            }
            LineNoise::Line(noise) => {
                self.known_line(&line, noise, findings);
                // It may be the first byte of an event.
                if noise.place == NoisePlace::Object {
                    self.unfinished = Some(line.number);
                    findings.is_last_line_lost = true;
                }
                None
            }
        }
    }

    fn known_line(&mut self, line: &Line<'_>, noise: &'c Noise, findings: &mut Findings<'_>) {
        self.unfinished = None;
        let text = line.text().unwrap_or_default();
        if noise.is == NoiseKind::Stderr {
            let message = "the line is a message that belongs to standard error";
            findings.pending.push(stderr_in_stream(message, line));
            self.note_text(text.trim());
        }
        if noise.failed && self.failure.is_none() {
            self.failure = Some(FailureLine::of(noise, text, Some(line.number)));
        }
        self.said = SaidLine::of(noise, text, Some((line.number, line.offset)));
    }

    fn event<'a>(
        &mut self,
        line: Line<'a>,
        event: ParsedEvent<'a>,
        findings: &mut Findings<'_>,
    ) -> (Line<'a>, ParsedEvent<'a>) {
        let is_known = |key: &str| self.profile.knows_duplicate(event.root(), key);
        findings.pending.extend(event.defects(&line, is_known));
        self.framing = self.framing.observe(&line, true);
        self.has_event = true;
        (line, event)
    }

    /// The framing with one more line, which is not an event.
    fn framing_with(&self, line: &Line<'_>) -> Framing {
        match self.framing.observe(line, false) {
            Framing::Suspect { other, .. } if self.is_of_agent && other.is_plain_text() => {
                Framing::Ndjson
            }
            framing => framing,
        }
    }

    fn not_an_event(&mut self, line: &Line<'_>, defect: &LineDefect, findings: &mut Findings<'_>) {
        let mut diagnostic = defect.diagnostic(line);
        if *defect == LineDefect::TooLong {
            diagnostic = diagnostic.note(limit_note(self.line_bytes_max));
        }
        if *defect == LineDefect::Unfinished {
            self.unfinished = Some(line.number);
        }
        if *defect == LineDefect::Truncated {
            self.cut_at = diagnostic.line;
            self.cut_line = Some(diagnostic);
            return;
        }
        if looks_like_event(line) {
            if findings.is_error(diagnostic.rule) {
                findings.is_last_line_lost = true;
                findings.lost_line(line.number);
            }
        } else if matches!(defect, LineDefect::NotJson { .. }) {
            self.note_text(line.text().unwrap_or_default().trim());
            if let Some(how) = self.how.as_ref().filter(|_| !self.has_event) {
                diagnostic.note = Some(how.clone());
            }
        }
        findings.pending.push(diagnostic);
    }

    /// A line of plain text. The first one that says something counts, with what follows its colon.
    fn note_text(&mut self, text: &str) {
        let before = self.first_text.take().unwrap_or_default();
        let short = |text: &str| clipped(text, ERROR_TEXT_BYTES_MAX).into_owned();
        self.last_text = Some(short(text));
        if is_failure(text) && says_something(text) {
            self.error_text.get_or_insert_with(|| short(text));
        }
        let stays = says_something(&before) || is_failure(&before) || !says_something(text);
        self.first_text = Some(match before.ends_with(':') {
            true => short(format!("{before} {text}").trim()),
            false if before.is_empty() || !stays => short(text),
            false => before,
        });
    }

    /// What the text in place of events says of a run that failed.
    pub(crate) fn failure_text(&self) -> Option<&String> {
        let text = self.error_text.as_ref().or(self.first_text.as_ref())?;
        if is_trace(text) { self.last_text.as_ref() } else { Some(text) }
    }

    /// What shows best why there is text in place of events.
    pub(crate) fn plain_text(&self) -> Option<&str> {
        let last =
            self.first_text.as_ref().filter(|text| is_trace(text)).and(self.last_text.as_deref());
        last.or(self.first_text.as_deref())
    }

    /// The line in the middle of which the stream ends. A program that stores it may add the
    /// missing line end.
    pub(crate) fn cut_at(&self) -> Option<u64> {
        self.cut_at.or(self.unfinished)
    }

    /// What the profile knows about a line that is not an event.
    fn noise<'a>(
        &self,
        line: &Line<'a>,
        defect: &LineDefect,
        facts: &mut FactReader,
    ) -> LineNoise<'a, 'c> {
        // A broken event is never noise, whatever is in it.
        let has_line_end = matches!(defect, LineDefect::NotJson { .. } | LineDefect::Unfinished);
        let known_object = || self.profile.known_object(line).filter(|_| has_line_end);
        let object = looks_like_event(line).then(known_object);
        if !defect.may_be_noise() || matches!(object, Some(None)) {
            return LineNoise::NotNoise;
        }
        // A second object may be a broken event.
        let mut others = line.bytes.trim_ascii_start().iter().skip(1);
        let has_another = others.any(|byte| *byte == b'{');
        let object = object.map(|rule| rule.filter(|_| !has_another));
        let Some(text) = line.text() else { return LineNoise::NotNoise };
        for glued in glued_events(line) {
            let rule = self.profile.noise.iter().find(|rule| rule.matches.is_in(glued.before));
            let is_announced = rule.is_some_and(|rule| rule.place == NoisePlace::Before);
            if !is_announced && !facts.plan(self.profile, &glued.event).is_known() {
                continue;
            }
            // The text may show that the stream is not NDJSON at all.
            let is_ndjson = rule.is_some() || self.framing_with(line) == Framing::Ndjson;
            let found = LineNoise::EventBehindText(glued, rule);
            return if is_ndjson { found } else { LineNoise::NotNoise };
        }
        let known = object.unwrap_or_else(|| self.profile.known_line(text));
        known.map_or(LineNoise::NotNoise, LineNoise::Line)
    }

    /// Whether lines are read: not if the stream is something else than NDJSON.
    pub(crate) fn is_ndjson(&self) -> bool {
        !matches!(self.framing, Framing::NotNdjson(_))
    }

    /// Whether the framing is known, so that diagnostics can be reported. For a stream that is not
    /// NDJSON there is one, in place of all others.
    #[inline]
    pub(crate) fn is_settled(&mut self, findings: &mut Findings<'_>) -> bool {
        match self.framing {
            Framing::NotNdjson(framing) if !self.is_reported => {
                self.is_reported = true;
                findings.pending = vec![framing.diagnostic()];
                true
            }
            Framing::Suspect { .. } | Framing::NotNdjson(_) => false,
            Framing::Unseen | Framing::ArrayWanted | Framing::Ndjson => true,
        }
    }

    /// The stream is over: now it is clear whether it is NDJSON, and what is wrong with an array.
    pub(crate) fn finish(&mut self, array_defect: Option<Diagnostic>, findings: &mut Findings<'_>) {
        self.framing = self.framing.finish();
        match array_defect {
            Some(defect) if defect.rule == Rule::TruncatedLine => {
                self.cut_at = self.cut_at.or(defect.line);
                self.cut_line.get_or_insert(defect);
            }
            defect => findings.pending.extend(defect),
        }
    }

    pub(crate) fn last_line(&self, findings: &Findings<'_>) -> LastLine {
        match &self.cut_line {
            Some(cut) if findings.is_error(cut.rule) => LastLine::Cut,
            Some(_) => LastLine::CutAllowed,
            None if findings.is_last_line_lost => LastLine::Unparsed,
            None => LastLine::Whole,
        }
    }
}

/// Whether a line that is not an event looks like one: it begins as an object, or is too long to
/// be read.
fn looks_like_event(line: &Line<'_>) -> bool {
    line.is_too_long() || line.bytes.trim_ascii_start().starts_with(b"{")
}
