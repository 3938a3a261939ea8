//! A run of an agent. A thread reads its events and sends them through a channel, so that Python
//! can wait with a signal or a cancellation in between.

mod inbox;
mod pipes;

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ndjson_check::run::{AgentRun, AgentStdin, Command, Stdin, Stopper};
use ndjson_check::{Answer, CheckerBuilder, Error, ProducerExit};
use ndjson_check_formats::single::summary_json;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use self::inbox::{Finished, Inbox, Item, Message};
use self::pipes::{OutputCopy, Pipe, Stderr, Stdout};
use crate::failure::Failure;
use crate::{PyChecker, error, output};

pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeRun>()
}

/// Events that wait for a slow reader; then the agent waits.
const WAITING_MAX: usize = 1_024;

#[pyclass(frozen, module = "ndjson_check._native")]
pub(crate) struct NativeRun {
    inbox: Mutex<Inbox>,
    /// What the command has written so far, and the options of its check.
    recording: Arc<Mutex<Vec<u8>>>,
    input: Arc<Mutex<Input>>,
    builder: CheckerBuilder,
    stopper: Stopper,
    id: Option<u32>,
    thread: Mutex<Option<JoinHandle<()>>>,
    is_closed: AtomicBool,
    /// The process that started it. A fork has no thread of it, but the state of its locks.
    process: u32,
}

enum Input {
    Open(Sender<Vec<u8>>),
    Closed,
    /// The command has ended: it answers no more messages.
    Ended,
}

impl Input {
    fn end(&mut self) {
        if matches!(self, Self::Open(_)) {
            *self = Self::Ended;
        }
    }
}

/// A time that `_options.py` has accepted: what is too long is the longest.
fn seconds(limit: f64) -> Duration {
    Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send_all(
    mut run: AgentRun,
    input: &Mutex<Input>,
    to: &SyncSender<Message>,
    stderr: &Mutex<VecDeque<u8>>,
) {
    let mut answer = Answer::default();
    loop {
        let before = run.ended_turns();
        for event in run.turn() {
            let event = match event {
                Ok(event) => event,
                Err(error) => return send_failure(run, error, to, stderr),
            };
            answer.observe(&event.kind);
            if to.send(Message::Event(Box::new(event))).is_err() {
                // Nobody reads on. Dropping the run ends the command.
                return;
            }
        }
        if run.ended_turns() == before {
            break;
        }
        if to.send(Message::TurnEnd).is_err() {
            return;
        }
    }
    // The verdict knows every message until now, and no later one.
    locked(input).end();
    let found = run.findings().into();
    let exit = run.exit().cloned().unwrap_or_default();
    if let Ok(summary) = run.finish() {
        let summary = summary_json(&summary, &found, &answer);
        let stderr_tail = last_lines(stderr);
        let _ = to.send(Message::Finished(Finished { summary, stderr_tail, exit }));
    }
}

fn last_lines(stderr: &Mutex<VecDeque<u8>>) -> Vec<String> {
    let mut exit = ProducerExit::default();
    exit.keep_stderr(&String::from_utf8_lossy(locked(stderr).make_contiguous()));
    exit.stderr.unwrap_or_default()
}

fn send_failure(
    run: AgentRun,
    error: Error,
    to: &SyncSender<Message>,
    stderr: &Mutex<VecDeque<u8>>,
) {
    let status = run.exit_status();
    // Ends the command; then all of its standard error is there.
    drop(run);
    let failure = Failure { error, status, stderr_tail: last_lines(stderr) };
    let _ = to.send(Message::Failed(failure));
}

/// Writes in a thread: a command that does not read must not block Python. What it no longer reads
/// is dropped.
fn writer(mut stdin: AgentStdin) -> io::Result<Sender<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    let write = move || while receiver.recv().is_ok_and(|it| stdin.write_all(&it).is_ok()) {};
    thread::Builder::new().name("ndjson-check".to_owned()).spawn(write)?;
    Ok(sender)
}

#[pymethods]
impl NativeRun {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are options of one call")]
    fn new(
        py: Python<'_>,
        checker: &PyChecker,
        command: Vec<PathBuf>,
        cwd: Option<PathBuf>,
        env: Vec<(PathBuf, Option<PathBuf>)>,
        mut stdin: Option<Vec<u8>>,
        inherit_stdin: bool,
        open_stdin: bool,
        timeout: Option<f64>,
        idle_timeout: Option<f64>,
        exit_grace: Option<f64>,
        copies_stdout: bool,
        copies_stderr: bool,
    ) -> PyResult<Self> {
        let empty = || PyValueError::new_err("the command is empty");
        let (program, args) = command.split_first().ok_or_else(empty)?;
        let mut command = Command::new(program).args(args);
        for (name, value) in env {
            command = match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(cwd) = cwd {
            command = command.current_dir(cwd);
        }
        if open_stdin {
            command = command.stdin(Stdin::Open);
        } else if let Some(bytes) = stdin.take() {
            command = command.stdin(Stdin::Bytes(bytes));
        } else if inherit_stdin {
            command = command.stdin(Stdin::Inherit);
        }
        if let Some(limit) = timeout {
            command = command.timeout(seconds(limit));
        }
        if let Some(limit) = idle_timeout {
            command = command.idle_timeout(seconds(limit));
        }
        if let Some(limit) = exit_grace {
            command = command.exit_grace(seconds(limit));
        }
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let recording = Arc::new(Mutex::new(Vec::new()));
        let copy = copies_stdout.then(|| OutputCopy { of: Pipe::Stdout, to: sender.clone() });
        command = command.stdout(Stdout { recording: Arc::clone(&recording), copy });
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let copy = copies_stderr.then(|| OutputCopy { of: Pipe::Stderr, to: sender.clone() });
        command = command.stderr(Stderr { tail: Arc::clone(&stderr), copy });
        let started = py.detach(|| command.spawn(&checker.checker));
        let mut run = started.map_err(error)?;
        let failed = |it: io::Error| PyOSError::new_err(it.to_string());
        let input = run.take_stdin().map(writer).transpose().map_err(failed)?;
        if let Some((input, first)) = input.as_ref().zip(stdin) {
            let _ = input.send(first);
        }
        let input = Arc::new(Mutex::new(input.map_or(Input::Closed, Input::Open)));
        let shared = Arc::clone(&input);
        let (id, stopper) = (run.id(), run.stopper());
        let thread = thread::Builder::new()
            .name("ndjson-check".to_owned())
            .spawn(move || send_all(run, &shared, &sender, &stderr))
            .map_err(failed)?;
        Ok(Self {
            inbox: Mutex::new(Inbox::new(receiver)),
            recording,
            input,
            builder: checker.builder.clone(),
            stopper,
            id,
            thread: Mutex::new(Some(thread)),
            is_closed: AtomicBool::new(false),
            process: process::id(),
        })
    }

    /// The next events and what the command wrote: at least one, unless the run is over.
    fn next_batch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        if !self.is_ours() {
            let message = "the run belongs to the process that started it";
            return Err(PyRuntimeError::new_err(message));
        }
        loop {
            let batch = py.detach(|| self.wait()).map_err(|it| it.raised(py))?;
            match batch {
                Some(items) => {
                    let objects = items.into_iter().map(|item| item.object(py));
                    return PyList::new(py, objects.collect::<PyResult<Vec<_>>>()?);
                }
                None => py.check_signals()?,
            }
        }
    }

    /// The summary as JSON, once all events were read.
    fn result(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| locked(&self.inbox).result.as_ref().map(|it| it.summary.clone()))
    }

    /// The last lines of standard error, once all events were read.
    fn stderr_tail(&self, py: Python<'_>) -> Vec<String> {
        let lines = || locked(&self.inbox).result.as_ref().map(|it| it.stderr_tail.clone());
        py.detach(lines).unwrap_or_default()
    }

    /// The number of the command's process.
    fn pid(&self) -> Option<u32> {
        self.id
    }

    /// The page of the run, once all events were read. It is made of the bytes of the stream: a
    /// check of its events would know neither the agent nor why the run was stopped.
    fn page(&self, py: Python<'_>, name: &str) -> PyResult<Option<String>> {
        py.detach(|| {
            let exit = locked(&self.inbox).result.as_ref().map(|it| it.exit.clone());
            let page =
                |exit| output::page(self.builder.clone(), name, &locked(&self.recording), &exit);
            exit.map(page).transpose()
        })
        .map_err(error)
    }

    fn write(&self, py: Python<'_>, data: Vec<u8>) -> PyResult<()> {
        let why = py.detach(|| match &*locked(&self.input) {
            Input::Open(input) => {
                // What the command no longer reads is dropped.
                let _ = input.send(data);
                None
            }
            Input::Closed => Some(
                "standard input is not open; `open_stdin` keeps it open from the start of the run \
                 to `close_stdin`",
            ),
            Input::Ended => Some("the command has ended, so it cannot answer"),
        });
        why.map_or(Ok(()), |why| Err(PyRuntimeError::new_err(why)))
    }

    fn close_stdin(&self, py: Python<'_>) {
        py.detach(|| *locked(&self.input) = Input::Closed);
    }

    /// Asks the command to end. Its last events can still be read.
    fn stop(&self) {
        if self.is_ours() {
            self.stopper.stop();
        }
    }

    /// Ends the command and its process group, and does not wait for that.
    fn leave(&self, py: Python<'_>) {
        if !self.is_ours() {
            return;
        }
        py.detach(|| {
            self.is_closed.store(true, Ordering::Release);
            self.stopper.stop();
            *locked(&self.input) = Input::Closed;
            locked(&self.inbox).messages = None;
        });
    }

    /// Whether the command and its process group have ended.
    fn is_over(&self) -> bool {
        // `close` has the lock while it waits.
        let thread = self.thread.try_lock();
        thread.is_ok_and(|it| it.as_ref().is_none_or(JoinHandle::is_finished))
    }

    /// Ends the command and its process group, and waits for that.
    fn close(&self, py: Python<'_>) {
        if !self.is_ours() {
            return;
        }
        self.leave(py);
        py.detach(|| {
            // Others who close it at the same time wait for the lock.
            let mut thread = locked(&self.thread);
            if let Some(thread) = thread.take() {
                let _ = thread.join();
            }
        });
    }
}

impl NativeRun {
    fn is_ours(&self) -> bool {
        process::id() == self.process
    }

    /// None if nothing has come in a short time.
    fn wait(&self) -> Result<Option<Vec<Item>>, Failure> {
        let mut inbox = locked(&self.inbox);
        if self.is_closed.load(Ordering::Acquire) {
            return Ok(Some(Vec::new()));
        }
        inbox.wait()
    }
}

impl Drop for NativeRun {
    fn drop(&mut self) {
        self.stop();
    }
}
