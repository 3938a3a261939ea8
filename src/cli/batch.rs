//! Checks files: one after the other, or several at a time with the same output.

use std::any::Any;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ndjson_check_core::{
    Checker, Diagnostic, Error, Observer, ProducerExit, StreamStart, StreamSummary, WantedEvents,
};

use super::check_stream::{StreamJob, check_stream};
use super::conclude;
use super::error::CliError;
use super::inputs::Input;
use super::inputs::contents::{FoundStream, each_stream};
use super::outputs::Outputs;
use super::progress::Progress;
use super::redaction::Redaction;

/// Streams that are checked ahead of the one that is being reported.
const STREAMS_AHEAD_MAX: usize = 64;

/// Messages of each of them that wait to be reported: some MiB for all streams.
const STREAM_MESSAGES_MAX: usize = 16;

type Inputs = Vec<Result<Input, Error>>;

pub(super) struct InputOptions {
    /// How the producer of the only stream ended.
    pub(super) exit: ProducerExit,
    /// What needs one stream only.
    pub(super) only_one_for: Option<&'static str>,
    /// How many are checked at a time; by default, one for each core.
    pub(super) jobs: Option<NonZeroUsize>,
}

/// Returns the exit code.
pub(super) fn check_inputs(
    inputs: Inputs,
    checker: &mut Checker,
    options: &InputOptions,
    outputs: &mut Outputs,
) -> u8 {
    // What is converted or copied is written as it arrives.
    let jobs = if outputs.are_live() || inputs.len() < 2 {
        1
    } else {
        let jobs = options.jobs.or_else(|| thread::available_parallelism().ok());
        jobs.map_or(1, NonZeroUsize::get).min(inputs.len())
    };
    let unchecked = match jobs {
        1 => inputs,
        _ => in_parallel(inputs, checker, jobs, outputs),
    };
    for input in unchecked {
        check_input(input, checker, options, outputs);
        outputs.progress.file_done();
    }
    outputs.progress.finish();
    conclude(None, outputs)
}

fn check_input(
    input: Result<Input, Error>,
    checker: &mut Checker,
    options: &InputOptions,
    outputs: &mut Outputs,
) {
    let progress = outputs.progress.clone();
    let opened = input.and_then(|input| Ok((input.name(), progress.reading(input.open()?))));
    let (name, source) = match opened {
        Ok(opened) => opened,
        Err(error) => return conclude_stream(Err(error), outputs),
    };
    each_stream(&name, source, options.only_one_for, |stream| {
        let result = stream.and_then(|stream| check_found(stream, checker, &options.exit, outputs));
        conclude_stream(result, outputs);
    });
}

fn check_found(
    FoundStream { name, source, .. }: FoundStream<'_>,
    checker: &mut Checker,
    exit: &ProducerExit,
    outputs: &mut Outputs,
) -> Result<(), Error> {
    let redaction = outputs.redaction.clone();
    let mut copies = mem::take(&mut outputs.copies);
    let job = StreamJob {
        name,
        redaction: redaction.as_ref(),
        copies: &mut copies,
        out: &mut *outputs,
        supervisor: &mut (),
    };
    let result = check_stream(checker, job, source, || exit.clone());
    outputs.copies = copies;
    result
}

/// Reports why a stream could not be checked to its end, if so.
pub(super) fn conclude_stream(result: Result<(), impl Into<CliError>>, outputs: &mut Outputs) {
    if let Err(error) = result {
        outputs.not_checked(&error.into());
    }
}

/// What a worker sends about one input.
enum Message {
    Begin(StreamStart<'static>),
    Diagnostic(Box<Diagnostic>),
    Summary(Box<StreamSummary>),
    /// The end of a stream.
    Done(Result<(), Error>),
    /// There is no other stream in the input.
    InputDone,
    Panicked(Box<dyn Any + Send>),
}

type Messages = Receiver<Vec<Message>>;

/// The inputs that no worker has taken, and where a worker sends the channel of its input.
struct Queue {
    inputs: std::vec::IntoIter<Result<Input, Error>>,
    channels: SyncSender<Messages>,
}

/// Checks the inputs on several threads and reports the results in the order of the inputs.
/// Returns the unchecked inputs: all of them, if no thread can be started.
///
/// Workers take the inputs in their order and send the channel of each input before they check
/// it, so this thread reads the channels in the order of the inputs. A worker waits when its
/// channel is full, and when too many streams are waiting to be reported.
fn in_parallel(inputs: Inputs, checker: &Checker, jobs: usize, outputs: &mut Outputs) -> Inputs {
    let count = inputs.len();
    let (channels, streams) = sync_channel(STREAMS_AHEAD_MAX);
    let queue = Mutex::new(Queue { inputs: inputs.into_iter(), channels });
    let (progress, redaction) = (outputs.progress.clone(), outputs.redaction.clone());
    thread::scope(|scope| {
        // Dropped if a panic is resumed here: no worker then waits to be reported.
        let streams = streams;
        let start = |_| {
            let (mut checker, queue, progress) = (checker.clone(), &queue, progress.clone());
            let redaction = redaction.as_ref();
            let work = move || while work(&mut checker, queue, &progress, redaction) {};
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let has_threads = (0..jobs).map_while(start).count() > 0;
        for _ in 0..if has_threads { count } else { 0 } {
            let Ok(messages) = streams.recv() else { break };
            relay(&messages, outputs);
            outputs.progress.file_done();
        }
    });
    queue.into_inner().unwrap_or_else(PoisonError::into_inner).inputs.collect()
}

/// Checks the next input; false if there is none.
fn work(
    checker: &mut Checker,
    queue: &Mutex<Queue>,
    progress: &Progress,
    redaction: Option<&Redaction>,
) -> bool {
    let (input, sender) = {
        let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(input) = queue.inputs.next() else { return false };
        let (sender, messages) = sync_channel(STREAM_MESSAGES_MAX);
        // Fails if the receiver is gone: another worker has panicked.
        if queue.channels.send(messages).is_err() {
            return false;
        }
        (input, sender)
    };
    let mut observer = Sender { sender, pending: Vec::new() };
    let mut check = |stream: Result<FoundStream<'_>, Error>| {
        let result = stream.and_then(|FoundStream { name, source, .. }| {
            let (copies, out, supervisor) = (&mut [], &mut observer, &mut ());
            let job = StreamJob { name, redaction, copies, out, supervisor };
            check_stream(checker, job, source, ProducerExit::default)
        });
        observer.pending.push(Message::Done(result));
        observer.send();
    };
    let check_all = || match input.and_then(|input| Ok((input.name(), input.open()?))) {
        Ok((name, source)) => each_stream(&name, progress.reading(source), None, check),
        Err(error) => check(Err(error)),
    };
    // The main thread resumes the panic when it reports this stream.
    let (last, goes_on) = match catch_unwind(AssertUnwindSafe(check_all)) {
        Ok(()) => (Message::InputDone, true),
        Err(panic) => (Message::Panicked(panic), false),
    };
    observer.pending.push(last);
    observer.send();
    goes_on
}

fn relay(messages: &Messages, outputs: &mut Outputs) {
    let mut begun = Ok(());
    loop {
        let batch = match messages.try_recv() {
            Ok(batch) => batch,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => {
                // What is reported so far must be visible while we wait.
                outputs.flush();
                messages.recv().unwrap_or_default()
            }
        };
        for message in batch {
            match message {
                Message::Done(result) => {
                    outputs.flush();
                    let begun = mem::replace(&mut begun, Ok(()));
                    conclude_stream(begun.and(result), outputs);
                }
                Message::InputDone => return,
                Message::Panicked(panic) => resume_unwind(panic),
                // It cannot be reported.
                _ if begun.is_err() => {}
                Message::Begin(start) => begun = outputs.begin(&start),
                Message::Diagnostic(diagnostic) => outputs.diagnostic(&diagnostic),
                Message::Summary(summary) => outputs.summary(&summary),
            }
        }
    }
}

/// The observer of a worker: sends what it observes to the main thread.
struct Sender {
    sender: SyncSender<Vec<Message>>,
    pending: Vec<Message>,
}

impl Sender {
    fn send(&mut self) {
        // Fails if the receiver is gone; the worker then ends with its next stream.
        let _ = self.sender.send(mem::take(&mut self.pending));
    }
}

impl Observer for Sender {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        self.pending.push(Message::Begin(start.clone().into_owned()));
        Ok(())
    }

    fn wants(&self) -> WantedEvents {
        WantedEvents::NONE
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.pending.push(Message::Diagnostic(Box::new(diagnostic.clone())));
    }

    fn summary(&mut self, summary: &StreamSummary) {
        self.pending.push(Message::Summary(Box::new(summary.clone())));
    }

    fn flush(&mut self) {
        // The start of a stream alone need not be shown.
        if matches!(self.pending.last(), Some(Message::Diagnostic(_))) {
            self.send();
        }
    }
}
