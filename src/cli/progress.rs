//! How far the work is, on the last line of a terminal, for whoever waits for it.
//!
//! Work that is done soon shows nothing. The line stands on standard error and makes room for
//! whatever else is written to the terminal; when the work is done it is gone.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use indicatif::{BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::limits::{PROGRESS_AFTER, PROGRESS_EVERY};

/// Tells how far the work is; by default nobody. Clones tell of the same work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Option<Arc<Shown>>);

/// How much work there is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// That many files.
    Files(u64),
    /// That many bytes.
    Bytes(u64),
}

#[derive(Debug)]
struct Shown {
    work: Work,
    began: Instant,
    files: AtomicU64,
    bytes: AtomicU64,
    line: Mutex<LastLine>,
}

/// The last line of the terminal.
#[derive(Debug, Default)]
struct LastLine {
    /// What stands there of ours.
    bar: Option<ProgressBar>,
    /// What stands there is the beginning of somebody else's line.
    taken: bool,
    /// The work is done.
    done: bool,
}

impl Progress {
    /// Shows the progress of this work, from now on.
    pub(crate) fn of(work: Work) -> Self {
        let shown = Arc::new(Shown {
            work,
            began: Instant::now(),
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            line: Mutex::default(),
        });
        let weak = Arc::downgrade(&shown);
        let started = thread::Builder::new().name("progress".to_owned()).spawn(move || draw(&weak));
        // The work is done all the same.
        Self(started.is_ok().then_some(shown))
    }

    /// Counts what is read from this stream.
    pub(crate) fn reading<R: Read>(&self, source: R) -> Counted<'_, R> {
        Counted { source, bytes: self.0.as_deref().map(|it| &it.bytes) }
    }

    /// Counts a file that is done.
    pub(crate) fn file_done(&self) {
        if let Some(shown) = &self.0 {
            shown.files.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A writer to the same terminal, which the progress makes room for.
    pub(crate) fn aside<W: Write>(&self, writer: W) -> Aside<W> {
        Aside { progress: self.clone(), writer }
    }

    /// Does something that writes whole lines to the same terminal, which the progress makes room
    /// for.
    pub(crate) fn beside<T>(&self, write: impl FnOnce() -> T) -> T {
        let Some(shown) = &self.0 else { return write() };
        let mut line = shown.line();
        line.bar = None;
        write()
    }

    /// The work is done: nothing is left of its progress.
    pub(crate) fn finish(&self) {
        if let Some(shown) = &self.0 {
            let mut line = shown.line();
            line.done = true;
            line.bar = None;
        }
    }
}

impl Shown {
    fn line(&self) -> MutexGuard<'_, LastLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let mut line = self.line();
        let elapsed = self.began.elapsed();
        if line.done || line.taken || elapsed < PROGRESS_AFTER {
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
        // Setters would each draw it once more.
        bar.clone().with_position(position).with_message(message).force_draw();
    }
}

fn draw(shown: &Weak<Shown>) {
    loop {
        thread::sleep(PROGRESS_EVERY);
        let Some(shown) = shown.upgrade() else { return };
        shown.draw();
    }
}

/// A stream whose bytes are counted as they are read.
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

/// A writer to the terminal on which the progress is shown.
#[derive(Debug)]
pub(crate) struct Aside<W> {
    progress: Progress,
    writer: W,
}

impl<W: Write> Write for Aside<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(shown) = &self.progress.0 else { return self.writer.write(bytes) };
        let mut line = shown.line();
        // It is wiped away when it is dropped.
        line.bar = None;
        let count = self.writer.write(bytes)?;
        if let Some(last) = bytes[..count].last() {
            line.taken = *last != b'\n';
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
