//! Where everything goes that a run writes: reports, the conversion, copies.

use std::env;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;

use super::args::{Cli, Color, ReportFormat, Target};
use super::error::CliError;
use super::inputs::Input;
use super::progress::{Progress, Work};
use super::report_file::ReportFile;
use super::stdio::{self, BlockingFile};
use super::tee::TeeTarget;
use super::{exit, print_stderr};
use crate::check::{CheckedEvent, Observer, StreamStart, StreamSummary};
use crate::error::Error;
use crate::limits::PROGRESS_BYTES_MIN;
use crate::output::convert::{Conversion, To};
use crate::output::github_actions::{Guard, Muted, can_be_muted, is_watched};
use crate::output::report::{Human, Json, Totals};
use crate::rules::diagnostic::Diagnostic;

pub(super) const STDOUT: &str = "standard output";
const STDERR: &str = "standard error";

/// Everything a run writes to.
pub(super) struct Outputs {
    reports: Vec<Report>,
    conversion: Option<Conversion<Box<dyn Write>>>,
    pub(super) copies: Vec<TeeTarget>,
    pub(super) progress: Progress,
}

/// A report, and the name of its target.
struct Report {
    name: String,
    format: Format,
}

enum Format {
    Human(Human<BufWriter<ReportTarget>>),
    Json(Json<BufWriter<ReportTarget>>),
}

/// Where a report goes.
enum ReportTarget {
    Stream(Box<dyn Write>),
    File(ReportFile),
}

impl Outputs {
    /// Opens what the command line asks for. What goes to the terminal makes room for the progress.
    ///
    /// # Errors
    ///
    /// When an output cannot be opened, or the arguments contradict each other.
    pub(super) fn open(cli: &Cli, progress: Progress) -> Result<Self, CliError> {
        if cli.raw && io::stdout().is_terminal() {
            return Err(CliError::usage("--raw would send control characters to a terminal"));
        }
        if cli.only_valid && cli.to != Some(Target::StreamJson) {
            return Err(CliError::usage("--only-valid requires --to stream-json"));
        }
        if cli.to == Some(Target::StreamJson) && io::stdout().is_terminal() {
            let message = "--to stream-json would send control characters to a terminal";
            return Err(CliError::usage(message));
        }
        let reports = reports(cli, &progress)?;
        let mut copies = Vec::new();
        let conversion = match cli.to {
            Some(Target::StreamJson) if !cli.only_valid => {
                copies.push(TeeTarget::new(STDOUT, guarded(stdout()?)));
                None
            }
            Some(target) => Some(conversion(target, cli.raw)?),
            None => None,
        };
        // Last: it empties the file.
        if let Some(path) = &cli.tee {
            let name = path.display().to_string();
            let file = File::create(path).map_err(|error| CliError::output(&name, error))?;
            copies.push(if is_watched() && !path.is_file() {
                TeeTarget::new(&name, Guard::new(file))
            } else {
                TeeTarget::new(&name, file)
            });
        }
        Ok(Self { reports, conversion, copies, progress })
    }

    /// Whether something is written while a stream arrives, so that streams cannot be checked at
    /// the same time.
    pub(super) fn are_live(&self) -> bool {
        self.conversion.is_some() || !self.copies.is_empty()
    }

    /// Prints why a stream could not be checked, next to the progress.
    pub(super) fn report_error(&mut self, error: &CliError) {
        self.flush();
        self.progress.beside(|| print_stderr(&format!("ndjson-check: {error}")));
    }

    /// What could not be written, if anything.
    fn failure(&self) -> Option<CliError> {
        let failed = |name: &str, error: &io::Error| CliError::output(name, again(error));
        for copy in &self.copies {
            match copy.failure() {
                // The reader of the stream may stop when it likes: the check goes on.
                Some((STDOUT, error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Some((name, error)) => return Some(failed(name, error)),
                None => {}
            }
        }
        if let Some(error) = self.conversion.as_ref().and_then(Conversion::failure) {
            return Some(failed(STDOUT, error));
        }
        self.reports.iter().find_map(|report| {
            let error = match &report.format {
                Format::Human(human) => human.failure(),
                Format::Json(json) => json.failure(),
            };
            error.map(|error| report.failed(again(error)))
        })
    }

    /// Completes the reports with the sum of all streams; the exit code. `own_code` replaces ours
    /// unless an output failed.
    ///
    /// # Errors
    ///
    /// When something could not be written.
    pub(super) fn finish(&mut self, totals: &Totals, own_code: Option<u8>) -> Result<u8, CliError> {
        let failure = self.failure();
        let code = match own_code.filter(|_| failure.is_none()) {
            Some(code) => code,
            None => exit::code(totals, failure.is_some()),
        };
        let results: Vec<Result<(), CliError>> =
            self.reports.drain(..).map(|report| report.finish(totals, code)).collect();
        match failure {
            Some(error) => Err(error),
            None => results.into_iter().collect::<Result<(), _>>().map(|()| code),
        }
    }

    fn each(&mut self, mut observe: impl FnMut(&mut dyn Observer)) {
        for report in &mut self.reports {
            match &mut report.format {
                Format::Human(human) => observe(human),
                Format::Json(json) => observe(json),
            }
        }
    }
}

impl Observer for Outputs {
    fn begin(&mut self, start: &StreamStart<'_>) -> Result<(), Error> {
        if let Some(conversion) = &mut self.conversion {
            conversion.begin(start)?;
        }
        // Reports accept any profile.
        self.each(|report| drop(report.begin(start)));
        Ok(())
    }

    fn event(&mut self, event: &CheckedEvent<'_>) {
        if let Some(conversion) = &mut self.conversion {
            conversion.event(event);
        }
    }

    fn diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.each(|report| report.diagnostic(diagnostic));
    }

    fn flush(&mut self) {
        if let Some(conversion) = &mut self.conversion {
            conversion.flush();
        }
        self.each(|report| report.flush());
    }

    fn stream_ended(&mut self) {
        if let Some(conversion) = &mut self.conversion {
            conversion.stream_ended();
        }
    }

    fn summary(&mut self, summary: &StreamSummary) {
        if let Some(conversion) = &mut self.conversion {
            conversion.summary(summary);
        }
        self.each(|report| report.summary(summary));
    }
}

impl Report {
    fn failed(&self, error: io::Error) -> CliError {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ReaderClosed,
            _ => CliError::output(&self.name, error),
        }
    }

    fn finish(self, totals: &Totals, code: u8) -> Result<(), CliError> {
        let Self { name, format } = self;
        let writer = match format {
            Format::Human(mut human) => {
                human.totals(totals);
                human.finish()
            }
            Format::Json(mut json) => {
                json.totals(totals, code);
                json.finish()
            }
        };
        let written = writer.and_then(|writer| writer.into_inner().map_err(io::Error::from));
        let put = written.and_then(|target| match target {
            ReportTarget::Stream(_) => Ok(()),
            ReportTarget::File(file) => file.finish(),
        });
        put.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ReaderClosed,
            _ => CliError::output(name, error),
        })
    }
}

impl Write for ReportTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// The same error once more: the writer keeps its own.
fn again(error: &io::Error) -> io::Error {
    let copy = || io::Error::new(error.kind(), error.to_string());
    error.raw_os_error().map_or_else(copy, io::Error::from_raw_os_error)
}

/// The progress of the check, where somebody watches and nothing of ours or of another program's
/// would be written over it: our writes to the terminal make room for it, but not those of a
/// conversion, which may end anywhere in a line, and none of whoever reads our output in a pipe.
pub(super) fn progress(cli: &Cli, inputs: &[Result<Input, Error>]) -> Progress {
    let special = |path: &PathBuf| path.metadata().is_ok_and(|it| !it.is_file());
    let mut written = cli.report.iter().filter_map(|it| it.file.as_ref()).chain(&cli.tee);
    let shown = io::stderr().is_terminal()
        && !(is_watched() || cli.quiet || stdio::stdout_is_pipe())
        && !(cli.to.is_some() && io::stdout().is_terminal())
        && !written.any(special);
    let work = match inputs {
        [Ok(Input::Path(path))] => {
            let size = path.metadata().ok().filter(Metadata::is_file).map(|it| it.len());
            size.filter(|size| *size >= PROGRESS_BYTES_MIN).map(Work::Bytes)
        }
        [_, _, ..] => Some(Work::Files(inputs.len() as u64)),
        _ => None,
    };
    work.filter(|_| shown).map(Progress::of).unwrap_or_default()
}

/// Refuses to write a file twice, or one that is read.
///
/// # Errors
///
/// When the arguments ask for it.
pub(super) fn distinct(cli: &Cli, inputs: &[Result<Input, Error>]) -> Result<(), CliError> {
    let reports = cli.report.iter().filter_map(|report| report.file.as_ref());
    let written: Vec<Place> = reports.chain(&cli.tee).map(|path| Place::of(path)).collect();
    let lists = cli.files_from.iter().chain(&cli.files0_from);
    let stdin = inputs.iter().flatten().any(|input| *input == Input::Stdin);
    for (index, place) in written.iter().enumerate() {
        let shown = place.path.display();
        if written[..index].iter().any(|other| place.is(other.path)) {
            return Err(CliError::Usage(format!("{shown} would be written twice")));
        }
        let mut read = inputs.iter().flatten().filter_map(|input| match input {
            Input::Path(path) => Some(path),
            Input::Stdin => None,
        });
        let is_stdin = stdin && Handle::stdin().is_ok_and(|it| place.regular == Some(it));
        if is_stdin || read.any(|path| place.is(path)) || lists.clone().any(|it| place.is(it)) {
            return Err(CliError::Usage(format!("{shown} would replace its own input")));
        }
        if Handle::stdout().is_ok_and(|it| place.regular == Some(it)) {
            return Err(CliError::Usage(format!("{shown} is standard output already")));
        }
    }
    Ok(())
}

/// Where something is to be written: a file that is there already or not, or a device.
struct Place<'p> {
    path: &'p Path,
    /// What is there, if it is a regular file.
    regular: Option<Handle>,
    /// The path through no link, if a file can be there; devices may be shared.
    whole: Option<PathBuf>,
}

impl<'p> Place<'p> {
    fn of(path: &'p Path) -> Self {
        let special = path.metadata().is_ok_and(|it| !it.is_file());
        Self { path, regular: regular(path), whole: (!special).then(|| whole(path)).flatten() }
    }

    /// Whether the other path names the same file. It may be one of many thousand: what is cheap
    /// is asked first.
    fn is(&self, other: &Path) -> bool {
        let named = self.path.file_name() == other.file_name();
        named && self.whole.is_some() && self.whole == whole(other)
            || self.regular.is_some() && self.regular == regular(other)
    }
}

fn whole(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

fn regular(path: &Path) -> Option<Handle> {
    path.metadata().is_ok_and(|it| it.is_file()).then(|| Handle::from_path(path).ok())?
}

fn conversion(target: Target, is_raw: bool) -> Result<Conversion<Box<dyn Write>>, CliError> {
    let to = match target {
        Target::Text => To::Text,
        Target::Transcript => To::Transcript,
        Target::Answer => To::Answer,
        Target::Json => To::Json,
        Target::StreamJson => To::ValidEvents,
    };
    let is_raw = if to.is_text() { is_raw } else { !io::stdout().is_terminal() };
    let writer = if to.is_text() && is_watched() && can_be_muted() {
        Box::new(Muted::new(stdout()?))
    } else {
        guarded(stdout()?)
    };
    Ok(Conversion::new(to, is_raw, writer))
}

/// The reports: to standard output, or to standard error if standard output has the conversion.
fn reports(cli: &Cli, progress: &Progress) -> Result<Vec<Report>, CliError> {
    let unnamed = cli.report.iter().filter(|report| report.file.is_none()).count();
    if unnamed > 1 {
        return Err(CliError::usage("only one report can go to standard output; name a file"));
    }
    let converts = cli.to.is_some();
    let on_terminal =
        if converts { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let open = || -> Result<(String, ReportTarget), CliError> {
        let (name, writer) = if converts {
            (STDERR, stdio::stderr().map_err(|error| CliError::output(STDERR, error))?)
        } else {
            (STDOUT, stdout()?)
        };
        let writer = guarded(writer);
        let shares_terminal = converts || on_terminal;
        let writer = if shares_terminal { Box::new(progress.aside(writer)) } else { writer };
        Ok((name.to_owned(), ReportTarget::Stream(writer)))
    };
    let report = |format: ReportFormat, (name, target): (String, ReportTarget), is_colored| {
        let writer = BufWriter::new(target);
        let format = match format {
            ReportFormat::Human => Format::Human(Human::with_color(writer, is_colored)),
            ReportFormat::Json => Format::Json(Json::new(writer)),
        };
        Report { name, format }
    };
    let mut reports = Vec::new();
    if cli.report.is_empty() && !cli.quiet {
        let is_colored = has_color(cli.color, on_terminal);
        reports.push(report(ReportFormat::Human, open()?, is_colored));
    }
    for asked in &cli.report {
        let target = match &asked.file {
            Some(path) => file_target(path)?,
            None if cli.quiet => continue,
            None => open()?,
        };
        let is_colored = has_color(cli.color, on_terminal && asked.file.is_none());
        reports.push(report(asked.format, target, is_colored));
    }
    Ok(reports)
}

fn file_target(path: &Path) -> Result<(String, ReportTarget), CliError> {
    let name = path.display().to_string();
    let file = ReportFile::open(path).map_err(|error| CliError::output(&name, error))?;
    Ok((name, ReportTarget::File(file)))
}

fn stdout() -> Result<BlockingFile, CliError> {
    stdio::stdout().map_err(|error| CliError::output(STDOUT, error))
}

/// The same writer; in the log of a GitHub workflow, without a command in what it writes.
fn guarded(writer: BlockingFile) -> Box<dyn Write> {
    if is_watched() { Box::new(Guard::new(writer)) } else { Box::new(writer) }
}

/// Whether the human report has colour: the flag, then `NO_COLOR`, then `FORCE_COLOR` and
/// `CLICOLOR_FORCE`, then what the target is.
fn has_color(color: Color, on_terminal: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = |name| set(name) && env::var_os(name).is_some_and(|value| value != "0");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if set("NO_COLOR") => false,
        Color::Auto if forced("FORCE_COLOR") || forced("CLICOLOR_FORCE") => true,
        Color::Auto => {
            on_terminal
                && env::var_os("CLICOLOR").is_none_or(|value| value != "0")
                && env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    }
}
