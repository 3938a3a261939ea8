//! How far the work is, on the last line of a terminal.
//!
//! Short work shows nothing. The line is on standard error; it is removed while something else is
//! written to the terminal, and when the work is done.

use std::io::{self, IsTerminal as _, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::Cli;
use super::inputs::Input;
use super::stdio;
use super::workflow_commands::in_ci_log;
use crate::error::Error;

/// Shorter work shows no progress.
const AFTER: Duration = Duration::from_millis(500);

/// How often the line is drawn: often enough to look alive.
const EVERY: Duration = Duration::from_millis(100);

/// The smallest single file with a progress, in bytes: a smaller one is done sooner than [`AFTER`].
const FILE_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// The progress of the work; nothing is shown by default. Clones count the same work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Option<Arc<Shown>>);

#[derive(Debug, Clone, Copy)]
enum Work {
    Files(u64),
    Bytes(u64),
}

#[derive(Debug)]
struct Shown {
    work: Work,
    began: Instant,
    files: AtomicU64,
    bytes: AtomicU64,
    line: Mutex<TerminalLine>,
}

/// The last line of the terminal.
#[derive(Debug, Default)]
struct TerminalLine {
    /// Dropping it clears the line.
    bar: Option<ProgressBar>,
    /// The line is the beginning of other output.
    is_taken: bool,
    is_done: bool,
}

impl Progress {
    /// Shows the progress of this check from now on, where a user sees it and it overwrites no
    /// other output. Our reports and messages remove the line first. A conversion does not, since
    /// it may end inside a line; nor does a program that reads our output.
    pub(crate) fn of(cli: &Cli, inputs: &[Result<Input, Error>]) -> Self {
        let work = match inputs {
            [Ok(Input::Path(path))] => match path.metadata() {
                Ok(file) if file.is_file() && file.len() >= FILE_BYTES_MIN => {
                    Work::Bytes(file.len())
                }
                _ => return Self::default(),
            },
            [_, _, ..] => Work::Files(inputs.len() as u64),
            _ => return Self::default(),
        };
        let may_be_terminal = |path: &Path| path.metadata().is_ok_and(|file| !file.is_file());
        let mut written =
            cli.report.iter().filter_map(|report| report.file.as_ref()).chain(&cli.tee);
        let is_shown = io::stderr().is_terminal()
            && !(in_ci_log() || cli.quiet || stdio::stdout_is_pipe())
            && !(cli.to.is_some() && io::stdout().is_terminal())
            && !written.any(|path| may_be_terminal(path));
        if !is_shown {
            return Self::default();
        }
        let shown = Arc::new(Shown {
            work,
            began: Instant::now(),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            line: Mutex::default(),
        });
        let weak = Arc::downgrade(&shown);
        let started = thread::Builder::new().name("progress".to_owned()).spawn(move || draw(&weak));
        // Without a thread the work is done and not shown.
        Self(started.is_ok().then_some(shown))
    }

    /// Counts what is read from this stream.
    pub(crate) fn reading<R: Read>(&self, source: R) -> Counted<'_, R> {
        Counted { source, bytes: self.0.as_deref().map(|shown| &shown.bytes) }
    }

    pub(crate) fn file_done(&self) {
        if let Some(shown) = &self.0 {
            shown.files.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A writer to the same terminal, whose writes remove the progress.
    pub(crate) fn hidden_by<W: Write>(&self, writer: W) -> HidesProgress<W> {
        HidesProgress { progress: self.clone(), writer }
    }

    /// Removes the progress, then writes whole lines to the same terminal.
    pub(crate) fn hide_during<T>(&self, write: impl FnOnce() -> T) -> T {
        let Some(shown) = &self.0 else { return write() };
        let mut line = shown.line();
        line.bar = None;
        write()
    }

    pub(crate) fn finish(&self) {
        if let Some(shown) = &self.0 {
            let mut line = shown.line();
            line.is_done = true;
            line.bar = None;
        }
    }
}

impl Shown {
    fn line(&self) -> MutexGuard<'_, TerminalLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let mut line = self.line();
        let elapsed = self.began.elapsed();
        if line.is_done || line.is_taken || elapsed < AFTER {
            return;
        }
        let files = self.files.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = u128::from(bytes) * 1_000 / elapsed.as_millis().max(1);
        let rate = BinaryBytes(u64::try_from(rate).unwrap_or(u64::MAX));
        let read = BinaryBytes(bytes);
        let (position, length, message) = match self.work {
            Work::Files(all) => (files, all, format!("{files}/{all} files, {read}, {rate}/s")),
            Work::Bytes(all) => (bytes, all, format!("{read} of {}, {rate}/s", BinaryBytes(all))),
        };
        let bar = line.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("[{bar:20}] {msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr())
                .with_style(style.progress_chars("=> "))
        });
        // The setters would each draw once more.
        bar.clone().with_position(position).with_message(message).force_draw();
    }
}

fn draw(shown: &Weak<Shown>) {
    loop {
        thread::sleep(EVERY);
        let Some(shown) = shown.upgrade() else { return };
        shown.draw();
    }
}

#[derive(Debug)]
pub(crate) struct Counted<'p, R> {
    source: R,
    bytes: Option<&'p AtomicU64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        if let Some(bytes) = self.bytes {
            bytes.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Removes the progress before each write to the same terminal.
#[derive(Debug)]
pub(crate) struct HidesProgress<W> {
    progress: Progress,
    writer: W,
}

impl<W: Write> Write for HidesProgress<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(shown) = &self.progress.0 else { return self.writer.write(bytes) };
        let mut line = shown.line();
        line.bar = None;
        let count = self.writer.write(bytes)?;
        if let Some(last) = bytes[..count].last() {
            line.is_taken = *last != b'\n';
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
