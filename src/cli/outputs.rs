//! Where everything goes that a run writes: reports, the conversion, copies.

use std::env;
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::cli::args::{Cli, Color, ReportFormat, To};
use crate::output::convert::{Conversion, Form};
use crate::cli::stdio::{self, Patient};
use crate::error::Error;
use crate::cli::inputs::Input;
use crate::limits::PROGRESS_BYTES_MIN;
use crate::profile::Profile;
use crate::cli::progress::{Progress, Work};
use crate::output::report::human::Human;
use crate::output::report::json::Json;
use crate::output::report::{Reports, Target};
use crate::cli::tee::Copy;
use crate::output::github_actions::{Guard, Muted, is_watched};

const STDOUT: &str = "standard output";

/// Everything a run writes to.
pub(super) struct Outputs<'p> {
    pub(super) reports: Reports,
    pub(super) conversion: Option<Conversion<'p>>,
    pub(super) copies: Vec<Copy>,
    pub(super) progress: Progress,
}

/// Something could not be written.
pub(super) enum Failure {
    /// The reader of the report went away, and knows.
    Silent,
    /// One line for the user.
    Told(String),
}

impl<'p> Outputs<'p> {
    /// Opens what the command line asks for; what goes to the terminal makes room for the progress.
    ///
    /// # Errors
    ///
    /// One line for the user.
    pub(super) fn open(
        cli: &Cli,
        profile: &'p Profile,
        progress: Progress,
    ) -> Result<Self, String> {
        if cli.raw && io::stdout().is_terminal() {
            return Err("--raw would send the stream's control characters to a terminal".to_owned());
        }
        if cli.only_valid && cli.to != Some(To::StreamJson) {
            return Err("--only-valid goes with --to stream-json".to_owned());
        }
        if cli.to == Some(To::StreamJson) && io::stdout().is_terminal() {
            let message = "--to stream-json would send control characters to a terminal";
            return Err(message.to_owned());
        }
        let reports = reports(cli, &progress)?;
        let mut copies = Vec::new();
        let conversion = match cli.to {
            Some(To::StreamJson) if !cli.only_valid => {
                copies.push(Copy::new(STDOUT, guarded(stdout()?)));
                None
            }
            Some(to) => Some(conversion(to, cli.raw, profile)?),
            None => None,
        };
        // Last: it empties the file.
        if let Some(path) = &cli.tee {
            let name = path.display().to_string();
            let file = File::create(path).map_err(|it| format!("failed to open {name}: {it}"))?;
            copies.push(if is_watched() && !path.is_file() {
                Copy::new(&name, Guard::new(file))
            } else {
                Copy::new(&name, file)
            });
        }
        Ok(Self { reports, conversion, copies, progress })
    }

    /// What could not be written, if anything.
    pub(super) fn failure(&self) -> Option<Failure> {
        let told = |name: &str, error: &io::Error| {
            Some(Failure::Told(format!("failed to write to {name}: {error}")))
        };
        for copy in &self.copies {
            match copy.failure() {
                // Whoever reads the stream may stop when they like: the check goes on.
                Some((STDOUT, error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Some((name, error)) => return told(name, error),
                None => {}
            }
        }
        if let Some(error) = self.conversion.as_ref().and_then(Conversion::failure) {
            return told(STDOUT, error);
        }
        let error = self.reports.failure()?;
        if let Error::WriteReport { source, .. } = error
            && source.kind() == io::ErrorKind::BrokenPipe
        {
            return Some(Failure::Silent);
        }
        Some(Failure::Told(error.to_string()))
    }
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
/// One line for the user.
pub(super) fn distinct(cli: &Cli, inputs: &[Result<Input, Error>]) -> Result<(), String> {
    let reports = cli.report.iter().filter_map(|report| report.file.as_ref());
    let written: Vec<Place> = reports.chain(&cli.tee).map(|path| Place::of(path)).collect();
    let lists = cli.files_from.iter().chain(&cli.files0_from);
    let stdin = inputs.iter().flatten().any(|input| *input == Input::Stdin);
    for (index, place) in written.iter().enumerate() {
        let shown = place.path.display();
        if written[..index].iter().any(|other| place.is(other.path)) {
            return Err(format!("{shown} would be written twice"));
        }
        let mut read = inputs.iter().flatten().filter_map(|input| match input {
            Input::Path(path) => Some(path),
            Input::Stdin => None,
        });
        let is_stdin = stdin && Handle::stdin().is_ok_and(|it| place.regular == Some(it));
        if is_stdin || read.any(|path| place.is(path)) || lists.clone().any(|it| place.is(it)) {
            return Err(format!("{shown} would replace its own input"));
        }
        if Handle::stdout().is_ok_and(|it| place.regular == Some(it)) {
            return Err(format!("{shown} is standard output already"));
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

/// The next stream that is converted has events of this profile.
///
/// # Errors
///
/// When it cannot be converted so; one line for the user.
pub(super) fn convert_next<'p>(
    conversion: &mut Conversion<'p>,
    profile: &'p Profile,
) -> Result<(), String> {
    convertible(conversion.form(), profile)?;
    conversion.follow(profile);
    Ok(())
}

fn convertible(form: Form, profile: &Profile) -> Result<(), String> {
    if form == Form::Json && profile.single_object.is_none() {
        return Err(format!("the profile {} has no single object to convert to", profile.name));
    }
    Ok(())
}

fn conversion(to: To, raw: bool, profile: &Profile) -> Result<Conversion<'_>, String> {
    let form = match to {
        To::Text => Form::Text,
        To::Transcript => Form::Transcript,
        To::Answer => Form::Answer,
        To::Json => Form::Json,
        To::StreamJson => Form::Valid,
    };
    convertible(form, profile)?;
    Ok(match (form.is_text(), is_watched()) {
        (true, true) => Conversion::new(profile, form, raw, Muted::new(stdout()?)),
        (true, false) => Conversion::new(profile, form, raw, stdout()?),
        (false, _) => {
            let raw = !io::stdout().is_terminal();
            Conversion::new(profile, form, raw, guarded(stdout()?))
        }
    })
}

/// The reports: to standard output, or to standard error where that has something else to carry.
fn reports(cli: &Cli, progress: &Progress) -> Result<Reports, String> {
    let mut reports = Reports::default();
    let unnamed = cli.report.iter().filter(|report| report.file.is_none()).count();
    if unnamed > 1 {
        return Err("only one report can go without a file; give the others one".to_owned());
    }
    let converting = cli.to.is_some();
    let on_terminal =
        if converting { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let open = || -> Result<Target, String> {
        if converting {
            let stderr = stdio::stderr().map_err(|it| it.to_string())?;
            Ok(Target::stream("standard error", progress.aside(guarded(stderr))))
        } else if on_terminal {
            Ok(Target::stream(STDOUT, progress.aside(guarded(stdout()?))))
        } else {
            Ok(Target::stream(STDOUT, guarded(stdout()?)))
        }
    };
    if cli.report.is_empty() && !cli.quiet {
        reports.add(Human::new(open()?, coloured(cli.color, on_terminal)));
    }
    for report in &cli.report {
        let target = match &report.file {
            Some(file) => Target::file(file).map_err(|error| error.to_string())?,
            None if cli.quiet => continue,
            None => open()?,
        };
        let on_terminal = on_terminal && report.file.is_none();
        match report.format {
            ReportFormat::Human => {
                reports.add(Human::new(target, coloured(cli.color, on_terminal)));
            }
            ReportFormat::Json => reports.add(Json::new(target)),
        }
    }
    Ok(reports)
}

fn stdout() -> Result<Patient, String> {
    stdio::stdout().map_err(|error| format!("failed to open {STDOUT}: {error}"))
}

/// The same writer; in the log of a GitHub workflow, without a command in what it writes.
fn guarded(writer: Patient) -> Box<dyn Write> {
    if is_watched() { Box::new(Guard::new(writer)) } else { Box::new(writer) }
}

/// Whether the human report is coloured: the flag, then `NO_COLOR`, then `FORCE_COLOR` and
/// `CLICOLOR_FORCE`, then what the target is.
fn coloured(color: Color, on_terminal: bool) -> bool {
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
