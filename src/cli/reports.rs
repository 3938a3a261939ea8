//! The reports of a run, in their formats, each with its target.

use std::env;
use std::io::{self, BufWriter, IsTerminal as _};

use super::args::{Cli, Color, ReportFormat};
use super::error::CliError;
use super::outputs::{STDOUT, copied, stdout};
use super::progress::Progress;
use super::report_target::ReportTarget;
use super::stdio;
use super::workflow_commands::escape_commands;
use crate::check::Observer;
use crate::output::report::{Human, Json, Totals};

const STDERR: &str = "standard error";

pub(super) struct Report {
    /// The name of the target, for errors.
    name: String,
    writer: ReportWriter,
}

enum ReportWriter {
    Human(Human<BufWriter<ReportTarget>>),
    Json(Json<BufWriter<ReportTarget>>),
}

impl Report {
    fn new(format: ReportFormat, (name, target): (String, ReportTarget), color: bool) -> Self {
        let target = BufWriter::new(target);
        let writer = match format {
            ReportFormat::Human => ReportWriter::Human(Human::with_color(target, color)),
            ReportFormat::Json => ReportWriter::Json(Json::new(target)),
        };
        Self { name, writer }
    }

    pub(super) fn observer(&mut self) -> &mut dyn Observer {
        match &mut self.writer {
            ReportWriter::Human(human) => human,
            ReportWriter::Json(json) => json,
        }
    }

    pub(super) fn failure(&self) -> Option<CliError> {
        let error = match &self.writer {
            ReportWriter::Human(human) => human.failure(),
            ReportWriter::Json(json) => json.failure(),
        };
        error.map(|error| CliError::unwritten(&self.name, copied(error)))
    }

    /// In which order reports are completed: those that show the exit code last, and of these the
    /// one on standard output.
    pub(super) fn order(&self) -> (bool, bool) {
        (matches!(self.writer, ReportWriter::Json(_)), self.name == STDOUT)
    }

    pub(super) fn finish(self, totals: &Totals, code: u8) -> Result<(), CliError> {
        let target = match self.writer {
            ReportWriter::Human(mut human) => {
                human.totals(totals);
                human.finish()
            }
            ReportWriter::Json(mut json) => {
                json.totals(totals, code);
                json.finish()
            }
        };
        let target = target.and_then(|target| target.into_inner().map_err(io::Error::from));
        let finished = target.and_then(ReportTarget::finish);
        finished.map_err(|error| CliError::unwritten(self.name, error))
    }
}

/// Opens the reports. Those without a file go to standard output, or to standard error if the
/// conversion goes to standard output.
pub(super) fn open(cli: &Cli, progress: &Progress) -> Result<Vec<Report>, CliError> {
    let unnamed = cli.report.iter().filter(|report| report.file.is_none()).count();
    if unnamed > 1 {
        return Err(CliError::usage("only one report can go to standard output; name a file"));
    }
    let converts = cli.to.is_some();
    let on_terminal =
        if converts { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let standard = || -> Result<(String, ReportTarget), CliError> {
        let (name, writer) = if converts {
            (STDERR, stdio::stderr().map_err(|error| CliError::output(STDERR, error))?)
        } else {
            (STDOUT, stdout()?)
        };
        let writer = escape_commands(writer);
        // The progress goes to standard error.
        let shares_terminal = converts || on_terminal;
        let writer = if shares_terminal { Box::new(progress.hidden_by(writer)) } else { writer };
        Ok((name.to_owned(), ReportTarget::Stream(writer)))
    };
    let mut reports = Vec::new();
    if cli.report.is_empty() && !cli.quiet {
        let color = has_color(cli.color, on_terminal);
        reports.push(Report::new(ReportFormat::Human, standard()?, color));
    }
    for report in &cli.report {
        let target = match &report.file {
            Some(path) => {
                let name = path.display().to_string();
                let target = ReportTarget::file(path);
                let target = target.map_err(|error| CliError::output(&name, error))?;
                (name, target)
            }
            None if cli.quiet => continue,
            None => standard()?,
        };
        let color = has_color(cli.color, on_terminal && report.file.is_none());
        reports.push(Report::new(report.format, target, color));
    }
    Ok(reports)
}

/// Whether the human report has colour: the flag, then `NO_COLOR`, then `FORCE_COLOR` and
/// `CLICOLOR_FORCE`, then what the target is.
fn has_color(color: Color, on_terminal: bool) -> bool {
    let value = |name| env::var_os(name).filter(|value| !value.is_empty());
    let is_forced = |name| value(name).is_some_and(|value| value != "0");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if value("NO_COLOR").is_some() => false,
        Color::Auto if is_forced("FORCE_COLOR") || is_forced("CLICOLOR_FORCE") => true,
        Color::Auto => {
            on_terminal
                && env::var_os("CLICOLOR").is_none_or(|value| value != "0")
                && env::var_os("TERM").is_none_or(|value| value != "dumb")
        }
    }
}
