//! Refuses to write a file twice, or one that is read.

use std::path::{Path, PathBuf};

use ndjson_check_core::Error;
use same_file::Handle;

use super::args::Cli;
use super::attempts;
use super::error::CliError;
use super::inputs::Input;
use super::report_target::followed;
use super::reports;
use super::stdio;
use super::stream_files::absolute;

pub(super) fn refuse(
    cli: &Cli,
    settings: &[PathBuf],
    inputs: &[Result<Input, Error>],
) -> Result<(), CliError> {
    let reports = cli.report.iter().filter_map(|report| report.file.as_ref());
    let others = reports.chain(&cli.write_baseline).cloned();
    let written: Vec<PathBuf> = others.chain(attempts::copies(cli)).collect();
    let written: Vec<Destination> = written.iter().map(|path| Destination::of(path)).collect();
    let appended = reports::appended(cli);
    let reads_stdin = inputs.iter().flatten().any(|input| *input == Input::Stdin);
    let stdin = stdio::stdin_copy().and_then(Handle::from_file).ok().filter(|_| reads_stdin);
    let lists = cli.files_from.iter().chain(&cli.files0_from).chain(&cli.baseline);
    let lists = lists.chain(&cli.schema).chain(settings).map(PathBuf::as_path);
    let files = inputs.iter().flatten().filter_map(|input| match input {
        Input::Path(path) => Some(path.as_path()),
        Input::Stdin => None,
    });
    let mut read = lists.chain(files);
    let stdout = stdio::stdout_copy().and_then(Handle::from_file).ok().filter(is_regular);
    for (index, file) in written.iter().enumerate() {
        let shown = file.path.display();
        let mut others = written[..index].iter().map(|other| &other.target);
        if others.any(|path| file.is(path)) || appended.iter().any(|path| file.is(path)) {
            return Err(CliError::Usage(format!("{shown} would be written twice")));
        }
        let is_stdin = stdin.is_some() && file.regular == stdin;
        if is_stdin || read.clone().any(|path| file.is(path)) {
            return Err(CliError::Usage(format!("{shown} would replace its own input")));
        }
        if stdout.is_some() && file.regular == stdout {
            return Err(CliError::Usage(format!("{shown} is standard output already")));
        }
    }
    let reports_to_stdout = cli.report.iter().any(|report| report.is_on_stdout(cli.quiet))
        || cli.report.is_empty() && !cli.quiet;
    if stdout.is_none() || cli.to.is_none() && !reports_to_stdout {
        return Ok(());
    }
    if stdin == stdout {
        return Err(CliError::usage("standard output is also the input"));
    }
    match read.find(|path| regular(path) == stdout) {
        Some(path) => Err(CliError::Usage(format!("{} is also standard output", path.display()))),
        None => Ok(()),
    }
}

/// A path that is written: to a regular file that exists or not, or to a device.
struct Destination<'p> {
    path: &'p Path,
    /// Where it leads, if it is a symbolic link.
    target: PathBuf,
    regular: Option<Handle>,
    /// The path with its folder's links resolved; none for a device, which may be shared.
    absolute: Option<PathBuf>,
}

impl<'p> Destination<'p> {
    fn of(path: &'p Path) -> Self {
        let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
        let target = followed(path);
        let absolute = if is_special { None } else { absolute(&target) };
        Self { path, target, regular: regular(path), absolute }
    }

    /// Whether the other path names the same file. It may be one of many thousand: the names are
    /// compared first.
    fn is(&self, other: &Path) -> bool {
        let same_name = self.target.file_name() == other.file_name();
        same_name && self.absolute.is_some() && self.absolute == absolute(other)
            || self.regular.is_some() && self.regular == regular(other)
    }
}

fn regular(path: &Path) -> Option<Handle> {
    // Not opened otherwise: a named pipe would block.
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file())
        .then(|| Handle::from_path(path).ok())?
}

fn is_regular(handle: &Handle) -> bool {
    handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file())
}
