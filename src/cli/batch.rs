//! The check of files: one after the other, or several at the same time with the same output.

use std::any::Any;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::choice::{Checkers, Chosen, Contracts};
use super::outputs::Outputs;
use super::relay::{Listener, Relay, Told};
use super::{complain, conclude};
use crate::output::convert::Convert;
use crate::rules::diagnostic::Diagnostic;
use crate::error::Error;
use crate::cli::inputs::Input;
use crate::limits::KEPT_BYTES_MAX;
use crate::cli::progress::Progress;
use crate::output::report::Report;
use crate::rules::Severity;
use crate::check::summary::{RunSummary, StreamSummary};
use crate::cli::tee::Tee;

type Inputs<'i> = &'i [Result<Input, Error>];

/// Checks all of them; the exit code.
pub(super) fn check_inputs<'c>(
    inputs: Inputs<'_>,
    contracts: &'c Contracts<'c>,
    jobs: Option<NonZeroUsize>,
    outputs: &mut Outputs<'c>,
) -> u8 {
    let mut total = RunSummary::default();
    let progress = outputs.progress.clone();
    // What is converted or copied leaves as it arrives, and is not kept until it is its turn.
    let live = outputs.conversion.is_some() || !outputs.copies.is_empty();
    let jobs = if live || inputs.len() < 2 { 1 } else { workers(jobs).min(inputs.len()) };
    if jobs == 1 || !in_parallel(inputs, contracts, jobs, outputs, &mut total) {
        one_by_one(inputs, contracts, outputs, &mut total);
    }
    progress.finish();
    conclude(total, outputs)
}

fn workers(jobs: Option<NonZeroUsize>) -> usize {
    jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

fn one_by_one<'c>(
    inputs: Inputs<'_>,
    contracts: &'c Contracts<'c>,
    outputs: &mut Outputs<'c>,
    total: &mut RunSummary,
) {
    let mut checkers = Checkers::new(contracts);
    for input in inputs {
        let result = match input {
            Ok(input) => check_input(input, &mut checkers, outputs),
            Err(error) => Err(error.to_string()),
        };
        add(total, result, outputs);
    }
}

fn check_input<'c>(
    input: &Input,
    checkers: &mut Checkers<'c>,
    outputs: &mut Outputs<'c>,
) -> Result<StreamSummary, String> {
    let Outputs { reports, conversion, copies, progress } = outputs;
    let stream = input.open().map_err(|it| it.to_string())?;
    let stream = Tee::new(progress.reading(stream), copies);
    let name = input.name();
    let Chosen { stream, checker } = checkers.choose(stream, &name, conversion.as_mut(), || {})?;
    let conversion: &mut dyn Convert = match conversion {
        Some(conversion) => conversion,
        None => &mut (),
    };
    checker.check(stream, &name, reports, conversion).map_err(|it| it.to_string())
}

fn add(total: &mut RunSummary, result: Result<StreamSummary, String>, outputs: &mut Outputs<'_>) {
    match result {
        Ok(summary) => total.add(&summary),
        Err(message) => {
            total.not_checked += 1;
            outputs.progress.beside(|| complain(&message));
        }
    }
    outputs.progress.file_done();
}

/// What a worker tells of a stream: what its report is told, and at last what came of it.
enum Word {
    Diagnostic(Severity, Box<Diagnostic>),
    Checked(Result<Box<StreamSummary>, String>),
    Panicked(Box<dyn Any + Send>),
}

/// Checks the inputs on so many threads and reports here what they find, in the order of the
/// inputs; false, and nothing is done, if no thread can be had.
fn in_parallel(
    inputs: Inputs<'_>,
    contracts: &Contracts<'_>,
    jobs: usize,
    outputs: &mut Outputs<'_>,
    total: &mut RunSummary,
) -> bool {
    let relay = Relay::new(inputs.len(), KEPT_BYTES_MAX);
    let progress = outputs.progress.clone();
    thread::scope(|scope| {
        let listener = Listener(&relay);
        let worker = || work(inputs, contracts, &relay, &progress);
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        if (0..jobs).map_while(start).count() == 0 {
            return false;
        }
        for input in inputs {
            let result = listen(input, &relay, outputs);
            add(total, result, outputs);
            relay.turn();
        }
        drop(listener);
        true
    })
}

fn work(inputs: Inputs<'_>, contracts: &Contracts<'_>, relay: &Relay<Word>, progress: &Progress) {
    let mut checkers = Checkers::new(contracts);
    while let Some(piece) = relay.begin() {
        let mut notes = Notes { relay, piece, words: Vec::new() };
        let check = || {
            let input = inputs[piece].as_ref().map_err(ToString::to_string)?;
            let stream = input.open().map_err(|it| it.to_string())?;
            let (stream, name) = (progress.reading(stream), input.name());
            let Chosen { stream, checker } = checkers.choose(stream, &name, None, || {})?;
            let summary = checker.check(stream, &name, &mut notes, &mut ());
            summary.map(Box::new).map_err(|it| it.to_string())
        };
        // The listener is to hear of it, and to hear it in turn.
        match catch_unwind(AssertUnwindSafe(check)) {
            Ok(result) => notes.last(Word::Checked(result)),
            Err(panic) => return notes.last(Word::Panicked(panic)),
        }
    }
}

/// Passes on to the reports what is told of the stream in turn, until it ends.
fn listen(
    input: &Result<Input, Error>,
    relay: &Relay<Word>,
    outputs: &mut Outputs<'_>,
) -> Result<StreamSummary, String> {
    let name = input.as_ref().map(Input::name).unwrap_or_default();
    let reports = &mut outputs.reports;
    loop {
        // Reports never fail: they remember. What was reported is visible while we wait.
        let told = relay.hear(|| drop(reports.flush()));
        for Told { what, .. } in told {
            match what {
                Word::Diagnostic(severity, diagnostic) => {
                    drop(reports.diagnostic(&name, severity, &diagnostic));
                }
                Word::Checked(Ok(summary)) => {
                    drop(reports.stream(&summary));
                    return Ok(*summary);
                }
                Word::Checked(Err(message)) => {
                    // Where both go to the same place they are in order.
                    drop(reports.flush());
                    return Err(message);
                }
                Word::Panicked(panic) => resume_unwind(panic),
            }
        }
    }
}

/// The report of a worker: passes on what it is told of one stream.
struct Notes<'r> {
    relay: &'r Relay<Word>,
    piece: usize,
    words: Vec<Told<Word>>,
}

impl Notes<'_> {
    fn last(mut self, word: Word) {
        self.words.push(Told { bytes: size(&word), what: word });
        self.relay.tell(self.piece, self.words);
    }
}

impl Report for Notes<'_> {
    fn diagnostic(
        &mut self,
        _: &str,
        severity: Severity,
        diagnostic: &Diagnostic,
    ) -> Result<(), Error> {
        let word = Word::Diagnostic(severity, Box::new(diagnostic.clone()));
        self.words.push(Told { bytes: size(&word), what: word });
        Ok(())
    }

    /// Whoever checks has it, and tells it when the check is done.
    fn stream(&mut self, _: &StreamSummary) -> Result<(), Error> {
        Ok(())
    }

    fn summary(&mut self, _: &RunSummary) -> Result<(), Error> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if !self.words.is_empty() {
            self.relay.tell(self.piece, std::mem::take(&mut self.words));
        }
        Ok(())
    }
}

/// What it takes to keep a word, in bytes, within a factor of two.
fn size(word: &Word) -> usize {
    let texts = match word {
        Word::Diagnostic(_, diagnostic) => {
            let location = diagnostic.location.as_ref();
            size_of::<Diagnostic>()
                + diagnostic.message.len()
                + diagnostic.note.as_ref().map_or(0, String::len)
                + location.map_or(0, |it| it.schema.len() + it.instance.len() + it.keyword.len())
        }
        Word::Checked(Ok(summary)) => {
            let calls = summary.tool_calls.iter();
            size_of::<StreamSummary>()
                + summary.stream.len()
                + summary.notes.iter().map(String::len).sum::<usize>()
                + calls.map(|it| size_of_val(it) + it.id.len()).sum::<usize>()
        }
        Word::Checked(Err(message)) => message.len(),
        Word::Panicked(_) => 0,
    };
    size_of::<Told<Word>>() + texts
}
