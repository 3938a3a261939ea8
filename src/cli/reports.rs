//! The reports of a run, in their formats, each with its target.

use std::env;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use ndjson_check_core::{Observer, escape::visible};
use ndjson_check_formats::report::{
    Annotations, BaselineWriter, Html, HumanReport, JsonReport, Junit, Markdown, RunTotals, Sarif,
    StepOutputs, push_wrapped,
};
use ndjson_check_formats::{Output, Written};
use owo_colors::OwoColorize as _;

use super::args::{Cli, ReportFormat, ReportTo};
use super::attempts::Attempt;
use super::error::CliError;
use super::inputs::STDIN;
use super::outputs::{STDOUT, copied, stdout};
use super::progress::Progress;
use super::report_pages::page_folder;
use super::report_target::ReportTarget;
use super::stdio;
use super::stream_files::{in_repository, portable_names};
use super::terminal::{has_color, stderr_width, stdout_width};
use super::workflow_commands::{escape_commands, in_github_workflow};

pub(super) const STDERR: &str = "standard error";

/// The variables that name the files of a GitHub job.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
const STEP_OUTPUTS: &str = "GITHUB_OUTPUT";

pub(super) struct OpenReport {
    /// The name of the target, for errors.
    name: String,
    report: Written<ReportTarget>,
}

impl OpenReport {
    fn new(name: String, target: ReportTarget, report: impl Output + 'static) -> Self {
        Self { name, report: Written::new(target, Box::new(report)) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn observer(&mut self) -> &mut dyn Observer {
        &mut self.report
    }

    pub(super) fn output(&self) -> &dyn Output {
        self.report.output()
    }

    pub(super) fn error(&mut self, message: &str) {
        self.report.error(message);
    }

    pub(super) fn failure(&self) -> Option<CliError> {
        let error = self.report.failure().filter(|error| !self.is_unread(error));
        error.map(|error| CliError::output(&self.name, copied(error)))
    }

    /// Whether the reader of a pipe has seen enough of the report.
    fn is_unread(&self, error: &io::Error) -> bool {
        let is_pipe = self.name == STDOUT || self.name == STDERR;
        is_pipe && error.kind() == io::ErrorKind::BrokenPipe
    }

    /// In which order reports are completed: those that show the exit code last, and of these the
    /// one on standard output.
    pub(super) fn order(&self) -> (bool, bool) {
        (self.output().shows_exit_code(), self.name == STDOUT)
    }

    pub(super) fn finish(mut self, totals: &RunTotals, code: u8) -> Result<(), CliError> {
        self.report.end(totals, code);
        let target = self.report.writer().map_err(copied);
        match target.and_then(ReportTarget::finish) {
            Err(error) if !self.is_unread(&error) => Err(CliError::output(self.name, error)),
            _ => Ok(()),
        }
    }
}

/// Opens the reports that the command line asks for; without any, the human one, and annotations in
/// a GitHub workflow.
pub(super) fn open(
    cli: &Cli,
    demands: &[(String, String)],
    progress: &Progress,
    attempt: &Attempt,
) -> Result<Vec<OpenReport>, CliError> {
    let (chosen, _) = chosen(cli);
    refuse_mixed(&chosen)?;
    let mut reports = Vec::new();
    for report in &chosen {
        let ReportTo { format, file } = report;
        let writes_commands = *format == ReportFormat::Github;
        let target = match file {
            Some(path) => Some(opened(path, |path| ReportTarget::file(path, writes_commands))?),
            None if !report.is_on_stdout(cli.quiet) => None,
            None => Some(standard(cli, progress, writes_commands)?),
        };
        if let Some((name, target)) = target {
            reports.push(match format {
                ReportFormat::Human => {
                    let on_terminal = file.is_none() && is_on_terminal(cli);
                    let color = has_color(cli.color, on_terminal);
                    let report = HumanReport::new(color);
                    let columns = on_terminal.then(|| terminal_width(cli));
                    let report = columns.into_iter().fold(report, HumanReport::columns);
                    OpenReport::new(name, target, report)
                }
                ReportFormat::Json => OpenReport::new(name, target, JsonReport::default()),
                ReportFormat::Markdown => OpenReport::new(name, target, Markdown::comment()),
                ReportFormat::Junit => {
                    OpenReport::new(name, target, Junit::default().demands(demands.to_vec()))
                }
                ReportFormat::Sarif => {
                    let sarif = Sarif::new(in_repository(cli), portable_names(cli));
                    OpenReport::new(name, target, sarif)
                }
                ReportFormat::Html => {
                    let pages = page_folder(file.as_deref())?;
                    OpenReport::new(name, target, Html::new(pages))
                }
                ReportFormat::Github => {
                    let annotations = Annotations::new(in_repository(cli));
                    let annotations = annotations.kept(kept(cli, attempt));
                    OpenReport::new(name, target, annotations)
                }
            });
        }
    }
    if annotates(&chosen) {
        reports.extend(of_job()?);
    }
    if let Some(path) = &cli.write_baseline {
        if path.as_os_str() == STDIN {
            return Err(CliError::usage("--write-baseline needs a file, such as /dev/stdout"));
        }
        let (name, target) = opened(path, |path| ReportTarget::file(path, false))?;
        reports.push(OpenReport::new(name, target, BaselineWriter::new(portable_names(cli))));
    }
    Ok(reports)
}

/// The reports to write, and the files to name below the human one: the name of each, and its line.
fn chosen(cli: &Cli) -> (Vec<ReportTo>, Vec<(String, String)>) {
    let to_standard = |format| ReportTo { format, file: None };
    let mut chosen = cli.report.clone();
    if chosen.is_empty() && !cli.quiet {
        chosen.push(to_standard(ReportFormat::Human));
        chosen.extend(in_github_workflow().then(|| to_standard(ReportFormat::Github)));
    }
    // Who only asks for files gets the answer on the terminal all the same, and annotations.
    let mut files = Vec::new();
    if !cli.quiet && !chosen.is_empty() && chosen.iter().all(|report| report.file.is_some()) {
        files.extend(chosen.iter().filter_map(ReportTo::described));
        let annotates = annotates(&chosen);
        chosen.push(to_standard(ReportFormat::Human));
        if in_github_workflow() && !annotates {
            chosen.push(to_standard(ReportFormat::Github));
        }
    }
    (chosen, files)
}

/// Whether a person reads a report of this check.
pub(super) fn has_human(cli: &Cli) -> bool {
    chosen(cli).0.iter().any(|report| report.format == ReportFormat::Human)
}

fn annotates(chosen: &[ReportTo]) -> bool {
    chosen.iter().any(|report| report.format == ReportFormat::Github)
}

/// The files of a GitHub job that this check appends to.
pub(super) fn appended(cli: &Cli) -> Vec<PathBuf> {
    let is_wanted = annotates(&chosen(cli).0);
    let files = [STEP_SUMMARY, STEP_OUTPUTS].into_iter().filter(|_| is_wanted);
    files.filter_map(job_file).collect()
}

/// Where a reader finds more about the run, when it has ended.
fn kept(cli: &Cli, attempt: &Attempt) -> impl Fn() -> Vec<String> + 'static {
    let is_page = |report: &&ReportTo| report.format == ReportFormat::Html;
    let pages = cli.report.iter().filter(is_page).filter_map(|report| report.file.as_ref());
    let pages: Vec<String> =
        pages.map(|file| format!("the page of the run: {}", file.display())).collect();
    let (copy, attempt) = (cli.tee.clone(), attempt.clone());
    move || {
        let recordings = copy.iter().map(|pattern| attempt.recordings(pattern));
        pages.iter().cloned().chain(recordings).collect()
    }
}

/// The lines below the human report that say which report is in which file.
pub(super) struct NamedFiles {
    lines: Vec<(String, String)>,
    target: ReportTarget,
    has_color: bool,
    columns: Option<fn() -> Option<usize>>,
}

/// None if the human report names no files.
pub(super) fn named_files(cli: &Cli, progress: &Progress) -> Result<Option<NamedFiles>, CliError> {
    let (_, lines) = chosen(cli);
    if lines.is_empty() {
        return Ok(None);
    }
    let (_, target) = standard(cli, progress, false)?;
    let on_terminal = is_on_terminal(cli);
    let columns = on_terminal.then(|| terminal_width(cli));
    Ok(Some(NamedFiles { lines, target, has_color: has_color(cli.color, on_terminal), columns }))
}

impl NamedFiles {
    /// The file was not written.
    pub(super) fn remove(&mut self, name: &str) {
        self.lines.retain(|(file, _)| file != name);
    }

    /// Written last: now it is known which files there are.
    pub(super) fn write(mut self) -> Result<(), CliError> {
        let (width, mut text) = (self.columns.and_then(|columns| columns()), String::new());
        for (_, line) in &self.lines {
            let line = visible(line);
            let line = if self.has_color { line.dimmed().to_string() } else { line.into_owned() };
            push_wrapped(&line, 2, width, &mut text);
        }
        CliError::of_stdout(self.target.write_all(text.as_bytes()))
    }
}

/// In a GitHub workflow, reports an error because of which no check began. The options may be what
/// is wrong, so they do not decide. What cannot be written here is lost: the error is printed, too.
pub(super) fn of_refusal(error: &CliError) {
    if !in_github_workflow() {
        return;
    }
    let annotations = stdio::stderr().map(|log| {
        let log = ReportTarget::Stream(Box::new(log));
        OpenReport::new(STDERR.to_owned(), log, Annotations::new(Box::new(|_| None)))
    });
    let mut totals = RunTotals::default();
    totals.not_checked = 1;
    for mut report in annotations.into_iter().chain(of_job().unwrap_or_default()) {
        report.error(&error.to_string());
        let _ = report.finish(&totals, error.exit_code());
    }
}

/// One report can go to standard output; annotations can follow the human one.
fn refuse_mixed(chosen: &[ReportTo]) -> Result<(), CliError> {
    let unnamed = chosen.iter().filter(|report| report.file.is_none());
    let mut formats: Vec<_> = unnamed.map(|report| report.format).collect();
    formats.sort_unstable();
    match formats[..] {
        [] | [_] | [ReportFormat::Human, ReportFormat::Github] => Ok(()),
        _ => Err(CliError::usage("only one report can go to standard output; name a file")),
    }
}

/// The files to which a step of a GitHub job appends: the job's summary, and the step's outputs.
fn of_job() -> Result<Vec<OpenReport>, CliError> {
    let mut reports = Vec::new();
    if let Some(path) = job_file(STEP_SUMMARY) {
        let (name, target) = opened(&path, ReportTarget::appended)?;
        reports.push(OpenReport::new(name, target, Markdown::default()));
    }
    if let Some(path) = job_file(STEP_OUTPUTS) {
        let (name, target) = opened(&path, ReportTarget::appended)?;
        reports.push(OpenReport::new(name, target, StepOutputs::default()));
    }
    Ok(reports)
}

fn job_file(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn opened(
    path: &Path,
    open: impl Fn(&Path) -> io::Result<ReportTarget>,
) -> Result<(String, ReportTarget), CliError> {
    let name = path.display().to_string();
    let target = open(path).map_err(|error| CliError::output(&name, error))?;
    Ok((name, target))
}

/// Standard output; standard error, if the stream is converted.
fn standard(
    cli: &Cli,
    progress: &Progress,
    writes_commands: bool,
) -> Result<(String, ReportTarget), CliError> {
    let converts = cli.to.is_some();
    let (name, writer) = if converts {
        (STDERR, stdio::stderr().map_err(|error| CliError::output(STDERR, error))?)
    } else {
        (STDOUT, stdout()?)
    };
    let writer = if writes_commands { Box::new(writer) } else { escape_commands(writer) };
    // The progress goes to standard error.
    let shares_terminal = converts || is_on_terminal(cli);
    let writer = if shares_terminal { Box::new(progress.hidden_by(writer)) } else { writer };
    Ok((name.to_owned(), ReportTarget::Stream(writer)))
}

fn is_on_terminal(cli: &Cli) -> bool {
    if cli.to.is_some() { io::stderr().is_terminal() } else { io::stdout().is_terminal() }
}

/// The columns of the terminal on which the report is, if it says how many it has.
fn terminal_width(cli: &Cli) -> fn() -> Option<usize> {
    if cli.to.is_some() { stderr_width } else { stdout_width }
}
