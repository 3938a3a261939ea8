//! How far the work is, on the last line of a terminal.
//!
//! Short work shows nothing. The line is on standard error; it is removed while something else is
//! written to the terminal, and when the work is done. Of a run that goes on it shows what the
//! agent does, see [`RunStatus`].

mod narrow;
mod run_status;

use std::env;
use std::fmt;
use std::io::{self, IsTerminal as _, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use indicatif::{
    BinaryBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike as _,
};
use ndjson_check_core::{CheckedLine, Error, Limits, WantedEvents};
use unicode_width::UnicodeWidthChar as _;

use super::args::Cli;
use super::inputs::Input;
use super::stdio;
use super::workflow_commands::in_ci_log;

use narrow::NarrowTerminal;
use run_status::RunStatus;

/// Shorter work shows no progress.
const AFTER: Duration = Duration::from_millis(500);

/// How often the line is drawn: often enough to look alive.
const EVERY: Duration = Duration::from_millis(100);

/// The smallest single file with a progress, in bytes: a smaller one is done sooner than [`AFTER`].
const FILE_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// The progress of the work; nothing is shown by default. Clones count the same work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Option<Shown>);

#[derive(Debug, Clone)]
struct Shown {
    bar: ProgressBar,
    work: Work,
    place: Arc<ProgressPlace>,
}

#[derive(Debug, Default)]
struct ProgressPlace {
    /// The last line of the terminal is not complete.
    line_is_open: AtomicBool,
    is_over: AtomicBool,
}

#[derive(Debug, Clone)]
enum Work {
    /// Files; the bytes of all of them are counted here.
    Files(Arc<AtomicU64>),
    /// The bytes of one file.
    Bytes,
    /// The events of a stream that arrives.
    Run(Arc<Mutex<RunStatus>>),
}

impl Progress {
    /// Shows the progress of this check from now on, where a user sees it and it overwrites no
    /// other output. Our outputs on the same terminal remove the line first; a program that reads
    /// our output does not. A conversion of files needs no progress: it is one itself.
    pub(crate) fn of(cli: &Cli, limits: Limits, inputs: &[Result<Input, Error>]) -> Self {
        let run = || Work::Run(Arc::new(Mutex::new(RunStatus::new(limits))));
        let (length, work) = match inputs {
            [Ok(Input::Path(path))] => match path.metadata() {
                Ok(file) if file.is_file() && file.len() >= FILE_BYTES_MIN => {
                    (file.len(), Work::Bytes)
                }
                _ => return Self::default(),
            },
            [_, _, ..] => (inputs.len() as u64, Work::Files(Arc::default())),
            [Ok(Input::Stdin)] => (0, run()),
            [] if !cli.command.is_empty() => (0, run()),
            _ => return Self::default(),
        };
        let may_be_terminal = |path: &Path| path.metadata().is_ok_and(|file| !file.is_file());
        let mut written =
            cli.report.iter().filter_map(|report| report.file.as_ref()).chain(&cli.tee);
        let is_run = matches!(work, Work::Run(_));
        // It cannot wipe a line away.
        let is_dumb = cfg!(unix) && env::var_os("TERM").is_none_or(|term| term == "dumb");
        let is_shown = io::stderr().is_terminal()
            && !is_dumb
            && !(in_ci_log() || cli.quiet || stdio::stdout_is_pipe())
            && (is_run || !(cli.to.is_some() && io::stdout().is_terminal()))
            && !written.any(|path| may_be_terminal(path));
        if !is_shown {
            return Self::default();
        }
        let place = Arc::default();
        Self(Some(Shown { bar: bar(length, &work, &place), work, place }))
    }

    pub(crate) fn reading<R: Read>(&self, source: R) -> Counted<'_, R> {
        Counted { source, shown: self.0.as_ref() }
    }

    pub(crate) fn file_done(&self) {
        if let Some(Shown { bar, work: Work::Files(_), .. }) = &self.0 {
            bar.inc(1);
        }
    }

    /// The events of the run that it shows.
    pub(crate) fn wants(&self) -> WantedEvents {
        let is_of_run = matches!(&self.0, Some(Shown { work: Work::Run(_), .. }));
        if is_of_run { WantedEvents::DETAILS } else { WantedEvents::NONE }
    }

    pub(crate) fn event(&self, event: &CheckedLine<'_>) {
        if let Some(Shown { work: Work::Run(status), .. }) = &self.0 {
            status.lock().unwrap_or_else(PoisonError::into_inner).event(event);
        }
    }

    /// A writer to the same terminal, whose writes hide the progress.
    pub(crate) fn hidden_by<W: Write>(&self, writer: W) -> HidesProgress<W> {
        HidesProgress { progress: self.clone(), writer }
    }

    /// Hides the progress, and writes whole lines to the same terminal.
    pub(crate) fn hide_during<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(Shown { bar, .. }) => bar.suspend(write),
            None => write(),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(Shown { bar, place, .. }) = &self.0 {
            place.is_over.store(true, Ordering::Relaxed);
            bar.finish_and_clear();
        }
    }
}

fn bar(length: u64, work: &Work, place: &Arc<ProgressPlace>) -> ProgressBar {
    let style = match work {
        Work::Run(_) => ProgressStyle::with_template("{msg}"),
        Work::Bytes => ProgressStyle::with_template(
            "[{bar:20}] {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}",
        ),
        Work::Files(read) => {
            let read = Arc::clone(read);
            let read = move |_: &ProgressState, out: &mut dyn fmt::Write| {
                let _ = write!(out, "{}", BinaryBytes(read.load(Ordering::Relaxed)));
            };
            let style = ProgressStyle::with_template("[{bar:20}] {pos}/{len} files, {read}");
            style.map(|style| style.with_key("read", read))
        }
    };
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
    let target = ProgressDrawTarget::hidden();
    let bar = ProgressBar::with_draw_target(Some(length), target).with_style(style);
    let status = match work {
        Work::Run(status) => Some(Arc::clone(status)),
        Work::Files(_) | Work::Bytes => None,
    };
    if status.is_none() {
        bar.enable_steady_tick(EVERY);
    }
    let (shown, place) = (bar.downgrade(), Arc::clone(place));
    // Without a thread the work is done and not shown.
    let _ = thread::Builder::new().spawn(move || {
        thread::sleep(AFTER);
        if let Some(bar) = shown.upgrade() {
            bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(NarrowTerminal)));
        }
        let Some(status) = status else { return };
        while !place.is_over.load(Ordering::Relaxed) {
            if let Some(bar) = shown.upgrade()
                && !place.line_is_open.load(Ordering::Relaxed)
            {
                let line = status.lock().unwrap_or_else(PoisonError::into_inner).line();
                let width = usize::from(NarrowTerminal.width());
                bar.set_message(fitting(&line, width).to_owned());
            }
            thread::sleep(EVERY);
        }
    });
    bar
}

/// The beginning of the line that fits this many columns, of which a Chinese character takes two.
fn fitting(line: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = line.char_indices().find(|(_, character)| {
        used += character.width().unwrap_or(0);
        used > columns
    });
    end.map_or(line, |(at, _)| &line[..at])
}

#[derive(Debug)]
pub(crate) struct Counted<'p, R> {
    source: R,
    shown: Option<&'p Shown>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        match self.shown {
            Some(Shown { work: Work::Files(read), .. }) => {
                read.fetch_add(count as u64, Ordering::Relaxed);
            }
            Some(Shown { bar, work: Work::Bytes, .. }) => bar.inc(count as u64),
            Some(Shown { work: Work::Run(_), .. }) | None => {}
        }
        Ok(count)
    }
}

/// Hides the progress during each write to the same terminal, and until the line is complete.
#[derive(Debug)]
pub(crate) struct HidesProgress<W> {
    progress: Progress,
    writer: W,
}

impl<W: Write> Write for HidesProgress<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (Some(Shown { bar, place, .. }), Some(last)) = (&self.progress.0, bytes.last()) else {
            return self.writer.write(bytes);
        };
        let was_open = place.line_is_open.swap(*last != b'\n', Ordering::Relaxed);
        if *last != b'\n' {
            bar.finish_and_clear();
            self.writer.write_all(bytes)?;
        } else if was_open {
            self.writer.write_all(bytes)?;
            if !place.is_over.load(Ordering::Relaxed) {
                bar.reset();
            }
        } else {
            bar.suspend(|| self.writer.write_all(bytes))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn a_line_is_cut_at_the_width_of_the_terminal() {
        for (line, columns, expected) in [
            ("npm test", 8, "npm test"),
            ("npm test", 3, "npm"),
            ("文件读取", 5, "文件"),
            ("文件读取", 8, "文件读取"),
            ("e\u{301}te\u{301}", 3, "e\u{301}te\u{301}"),
        ] {
            assert_eq!(fitting(line, columns), expected);
        }
    }
}
