//! Everything that a run writes: reports, the conversion, copies.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::mem;

use ndjson_check_core::StreamLines;
use ndjson_check_core::{
    CheckedLine, Diagnostic, Error, Event, NoRetry, Note, Observer, Severity, StreamStart,
    StreamSummary, WantedEvents,
};
use ndjson_check_formats::baseline::Baseline;
use ndjson_check_formats::report::RunTotals;
use ndjson_check_formats::{Converter, Form, FormStyle, Written};

use super::args::{Cli, Color};
use super::attempts::Attempt;
use super::error::CliError;
use super::progress::Progress;
use super::redaction::{Redaction, shown};
use super::reports::{self, NamedFiles, OpenReport};
use super::stdio::{self, BlockingFile};
use super::tee::TeeTarget;
use super::terminal::has_color;
use super::workflow_commands::{escape_commands, in_github_workflow, own_commands, stop_commands};
use super::{exit, print_stderr};

pub(super) const STDOUT: &str = "standard output";

type Conversion = Written<Box<dyn Write + Send>, Converter>;

pub(super) struct Outputs {
    reports: Vec<OpenReport>,
    files: Option<NamedFiles>,
    conversion: Option<Conversion>,
    pub(super) copies: Vec<TeeTarget>,
    /// Of an earlier attempt.
    failed_copy: Option<TeeTarget>,
    pub(super) progress: Progress,
    pub(super) redaction: Option<Redaction>,
    /// Known findings, and the name of their file.
    baseline: Option<(Baseline, String)>,
    shows_stats: bool,
    /// What may be wrong with a command that writes no event.
    hint: Option<String>,
    /// In run mode: what becomes of a run that failed.
    pub(super) attempt: Attempt,
    /// The summary of an attempt that will be tried again. Reports get it when that is certain.
    waiting: Option<StreamSummary>,
    totals: RunTotals,
    /// Errors and warnings of the open stream.
    open: (u64, u64),
    /// The advice that errors gave.
    advice: Vec<&'static str>,
    /// How many inputs may be unreadable, and how many were.
    unreadable: u64,
    unread: u64,
}

impl Outputs {
    pub(super) fn open(
        cli: &Cli,
        demands: &[(String, String)],
        progress: Progress,
        redaction: Option<Redaction>,
        baseline: Option<(Baseline, String)>,
    ) -> Result<Self, CliError> {
        if cli.raw && io::stdout().is_terminal() {
            return Err(CliError::usage("--raw would send control characters to a terminal"));
        }
        if cli.only_valid && cli.to != Some(Form::ValidEvents) {
            return Err(CliError::usage("--only-valid requires --to stream-json"));
        }
        let is_log = matches!(cli.to, Some(Form::Text | Form::Transcript));
        if cli.log.are_given() && !is_log {
            let message = "--results and --thinking require --to text or --to transcript";
            return Err(CliError::usage(message));
        }
        if cli.to == Some(Form::ValidEvents) && io::stdout().is_terminal() {
            let message = "--to stream-json would send control characters to a terminal";
            return Err(CliError::usage(message));
        }
        let shown = |name: &str| shown(name, redaction.as_ref());
        let demands: Vec<_> =
            demands.iter().map(|(demand, name)| (demand.clone(), shown(name))).collect();
        let attempt = Attempt::first(&cli.retry);
        let reports = reports::open(cli, &demands, &progress, &attempt)?;
        let files = reports::named_files(cli, &progress)?;
        let mut copies = Vec::new();
        let conversion = match cli.to {
            Some(Form::ValidEvents) if !cli.only_valid => {
                let lines = StreamLines::new(cli.input_format.is_array());
                let copy = TeeTarget::new(STDOUT, unless_file(stdout()?));
                copies.push(copy.with_lines(lines));
                None
            }
            Some(target) => Some(conversion(target, cli, &progress)?),
            None => None,
        };
        if let Some(path) = &cli.tee {
            copies.push(TeeTarget::of_file(&attempt.copy(path))?);
        }
        Ok(Self {
            reports,
            files,
            conversion,
            copies,
            failed_copy: None,
            progress,
            redaction,
            baseline,
            shows_stats: cli.stats,
            hint: passed_on(&cli.command),
            attempt,
            waiting: None,
            totals: RunTotals::default(),
            open: (0, 0),
            unreadable: cli.unreadable,
            advice: Vec::new(),
            unread: 0,
        })
    }

    /// Another attempt begins: it has its own copy.
    pub(super) fn begin_attempt(&mut self, attempt: Attempt, cli: &Cli) -> Result<(), CliError> {
        if let Some(pattern) = &cli.tee {
            // The last one, as it was opened.
            let copy = self.copies.pop().filter(|copy| copy.failure().is_some());
            self.failed_copy = self.failed_copy.take().or(copy);
            self.copies.push(TeeTarget::of_file(&attempt.copy(pattern))?);
        }
        attempt.begin();
        self.attempt = attempt;
        Ok(())
    }

    pub(super) fn attempt_began(&mut self) {
        if let Some(summary) = self.waiting.take() {
            self.conclude(&summary);
        }
    }

    /// There will be no other attempt, although one was announced.
    pub(super) fn end_attempts(&mut self, why: NoRetry) {
        let Some(mut summary) = self.waiting.take() else { return };
        summary.notes.pop();
        summary.notes.push(Note::NotTriedAgain(why));
        self.conclude(&summary);
    }

    /// Whether something is written while a stream arrives, so that streams cannot be checked at
    /// the same time.
    pub(super) fn are_live(&self) -> bool {
        self.conversion.is_some()
            || !self.copies.is_empty()
            || self.reports.iter().any(|it| it.output().wants() != WantedEvents::NONE)
    }

    pub(super) fn totals(&self) -> &RunTotals {
        &self.totals
    }

    pub(super) fn not_checked(&mut self, error: &CliError) {
        self.totals.not_checked += 1;
        // They have been reported.
        let (errors, warnings) = mem::take(&mut self.open);
        self.totals.errors += errors;
        self.totals.warnings += warnings;
        self.unread += u64::from(error.is_about_reading());
        let (message, advice) = (error.to_string(), error.advice());
        if self.advice.contains(&advice) {
            return self.error(&message.replacen(advice, "", 1));
        }
        self.advice.push(advice);
        self.error(&message);
    }

    fn error(&mut self, message: &str) {
        let message = &shown(message, self.redaction.as_ref());
        self.flush();
        self.reports.iter_mut().for_each(|report| report.error(message));
        self.progress.hide_during(|| print_stderr(&format!("ndjson-check: {message}")));
    }

    /// The first error in writing.
    fn failure(&self) -> Option<CliError> {
        let copies = self.failed_copy.iter().chain(&self.copies).filter_map(TeeTarget::failure);
        let conversion = self.conversion.iter().filter_map(Written::failure);
        let failures = copies.chain(conversion.map(|error| (STDOUT, error)));
        // The reader of the stream may stop at any time: the check goes on.
        let failures = failures
            .filter(|(name, error)| *name != STDOUT || error.kind() != io::ErrorKind::BrokenPipe);
        let mut failures = failures.map(|(name, error)| CliError::output(name, copied(error)));
        failures.next().or_else(|| self.reports.iter().find_map(OpenReport::failure))
    }

    /// Returns the exit code. `own_code` replaces ours unless an output failed.
    pub(super) fn finish(&mut self, own_code: Option<u8>) -> Result<u8, CliError> {
        self.progress.finish();
        if let Some(hint) = self.hint.take().filter(|_| self.totals.streams > 0) {
            self.progress.hide_during(|| print_stderr(&format!("ndjson-check: {hint}")));
        }
        let mut failure = self.failure();
        let (totals, accepted) = (self.totals, self.unreadable.min(self.unread));
        let code = |is_unwritten: bool| match own_code {
            _ if is_unwritten => exit::NOT_CHECKED,
            Some(code) => code,
            None => totals.exit_code(accepted),
        };
        // So that the runner obeys commands again: annotations are some.
        self.conversion = None;
        // All of them, whichever fails; those that show the code after those that may change it.
        self.reports.sort_by_key(OpenReport::order);
        for report in self.reports.drain(..) {
            let name = report.name().to_owned();
            let Err(error) = report.finish(&totals, code(failure.is_some())) else { continue };
            self.files.iter_mut().for_each(|files| files.remove(&name));
            let error_text = error.to_string();
            match &failure {
                None => failure = Some(error),
                // Our caller prints the first one.
                Some(first) if first.to_string() == error_text => {}
                Some(_) => print_stderr(&format!("ndjson-check: {error_text}")),
            }
        }
        let named = self.files.take().map_or(Ok(()), NamedFiles::write);
        failure.map_or_else(|| named.map(|()| code(false)), Err)
    }

    fn conclude(&mut self, summary: &StreamSummary) {
        let Some((baseline, file)) = &mut self.baseline else {
            return self.pass_on(summary);
        };
        let (summary, (stale, texts)) = (baseline.summary(summary), baseline.stale());
        // What is stale in an attempt may come in the next one.
        if summary.was_tried_again() {
            return self.pass_on(&summary);
        }
        let messages: Vec<String> = texts.iter().map(|text| format!("{file}: {text}")).collect();
        self.totals.stale += stale;
        self.pass_on(&summary);
        for message in &messages {
            self.error(message);
        }
    }

    /// Figures that only a page needs are in no other output.
    fn pass_on(&mut self, summary: &StreamSummary) {
        self.totals.add(summary);
        if self.shows_stats || summary.stats.is_none() {
            return self.observers().for_each(|observer| observer.summary(summary));
        }
        let mut plain = summary.clone();
        plain.stats = None;
        if let Some(conversion) = &mut self.conversion {
            conversion.summary(&plain);
        }
        for report in &mut self.reports {
            let shown = if report.output().shows_stats() { summary } else { &plain };
            report.observer().summary(shown);
        }
    }

    fn observers(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        let conversion = self.conversion.as_mut().map(|conversion| conversion as &mut dyn Observer);
        conversion.into_iter().chain(self.reports.iter_mut().map(OpenReport::observer))
    }
}

impl Observer for Outputs {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if let Some((baseline, _)) = &mut self.baseline {
            baseline.begin(start.name());
        }
        self.open = (0, 0);
        self.observers().try_for_each(|observer| observer.begin(start))
    }

    fn undetected_events(&mut self, hides_open_calls: bool) {
        self.observers().for_each(|observer| observer.undetected_events(hides_open_calls));
    }

    fn event(&mut self, event: &CheckedLine<'_>) {
        self.progress.event(event);
        self.observers().for_each(|observer| observer.event(event));
    }

    fn events(&mut self, events: &[Event<'_>]) {
        self.observers().for_each(|observer| observer.events(events));
    }

    fn wants(&self) -> WantedEvents {
        let conversion = self.conversion.iter().map(Observer::wants);
        let reports = self.reports.iter().map(|report| report.output().wants());
        conversion.chain(reports).fold(self.progress.wants(), WantedEvents::or)
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        let is_known = |(baseline, _): &mut (Baseline, _)| baseline.knows(diagnostic);
        if !self.baseline.as_mut().is_some_and(is_known) {
            self.attempt.observe(diagnostic);
            self.open.0 += u64::from(diagnostic.severity == Severity::Error);
            self.open.1 += u64::from(diagnostic.severity == Severity::Warning);
            self.observers().for_each(|observer| observer.diagnostic(diagnostic));
        }
    }

    fn flush(&mut self) {
        self.observers().for_each(Observer::flush);
    }

    fn stream_ended(&mut self) {
        self.observers().for_each(Observer::stream_ended);
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.open = (0, 0);
        self.hint = self.hint.take().filter(|_| summary.events == 0);
        let mut noted = Cow::Borrowed(summary);
        if let Some(note) = self.attempt.decide(summary) {
            if note == Note::NotTriedAgain(NoRetry::MayHaveWritten) {
                self.hint = Some(
                    "not tried again, because the run may have changed something; \
                     --retry-after-writes repeats such a run, too"
                        .to_owned(),
                );
            }
            noted.to_mut().notes.push(note);
        }
        if self.attempt.next.is_some() {
            self.waiting = Some(noted.into_owned());
        } else {
            self.conclude(&noted);
        }
    }
}

/// An option of ours behind `--`, which the command got.
fn passed_on(command: &[OsString]) -> Option<String> {
    let ours = ["--timeout", "--idle-timeout", "--report", "--to", "--tee", "--strict"];
    let option = command.iter().skip(1).find_map(|argument| {
        let name = argument.to_str()?.split('=').next()?;
        ours.into_iter().find(|option| *option == name)
    })?;
    Some(format!("the command got {option}: options of ndjson-check go before `--`"))
}

/// A copy of an error that its writer keeps.
pub(super) fn copied(error: &io::Error) -> io::Error {
    let copy = || io::Error::new(error.kind(), error.to_string());
    error.raw_os_error().map_or_else(copy, io::Error::from_raw_os_error)
}

fn conversion(to: Form, cli: &Cli, progress: &Progress) -> Result<Conversion, CliError> {
    let on_terminal = io::stdout().is_terminal();
    let stdout: Box<dyn Write + Send> = match stdout()? {
        stdout if on_terminal => Box::new(progress.hidden_by(stdout)),
        stdout => Box::new(stdout),
    };
    let is_log = !stdio::stdout_is_file();
    let style = form_style(cli, on_terminal);
    let (writer, style) = match to {
        Form::Text | Form::Transcript if style.results > 0 && is_log && in_github_workflow() => {
            let (writer, mark) = own_commands(stdout);
            (writer, FormStyle { command_mark: Some(mark), ..style })
        }
        Form::Text | Form::Transcript | Form::Answer => {
            (if is_log { stop_commands(stdout) } else { stdout }, style)
        }
        // The agent's own bytes.
        Form::Json | Form::ValidEvents => {
            (unless_file(stdout), FormStyle { is_raw: !on_terminal, ..style })
        }
        _ => (unless_file(stdout), style),
    };
    Ok(Written::new(writer, Box::new(Converter::new(to, style))))
}

/// Standard output with commands escaped: what is not a regular file may be the log of a CI job.
fn unless_file(stdout: impl Write + Send + 'static) -> Box<dyn Write + Send> {
    if stdio::stdout_is_file() { Box::new(stdout) } else { escape_commands(stdout) }
}

/// Only a terminal, or a user who asks, gets colour.
fn form_style(cli: &Cli, on_terminal: bool) -> FormStyle {
    let may_color = on_terminal || cli.color == Color::Always;
    FormStyle {
        is_raw: cli.raw,
        results: cli.log.results.unwrap_or_default() as usize,
        thinking: cli.log.thinking,
        color: may_color && has_color(cli.color, on_terminal),
        command_mark: None,
    }
}

pub(super) fn stdout() -> Result<BlockingFile, CliError> {
    stdio::stdout().map_err(|error| CliError::output(STDOUT, error))
}
