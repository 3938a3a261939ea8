//! The files of streams, as a CI service knows them: by their path in the repository.

use std::env;
use std::path::{Path, PathBuf};

use super::args::Cli;
use super::inputs::STDIN;
use crate::output::report::FileOf;

/// Names the file of a stream relative to the folder where the job has the repository, or to our
/// folder outside of a job. A stream of standard input or of a command has none.
pub(super) fn in_repository(cli: &Cli) -> FileOf {
    let workspace = env::var_os("GITHUB_WORKSPACE").filter(|folder| !folder.is_empty());
    let folder = workspace.map_or_else(|| PathBuf::from("."), PathBuf::from);
    let folder = folder.canonicalize().ok().filter(|_| cli.command.is_empty());
    Box::new(move |stream| relative(stream, folder.as_deref()?))
}

fn relative(stream: &str, folder: &Path) -> Option<String> {
    if stream == STDIN {
        return None;
    }
    let file = absolute(Path::new(stream))?;
    let names = file.strip_prefix(folder).ok()?.iter().map(|name| name.to_str());
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}

/// The path with the links in its folder resolved.
pub(super) fn absolute(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}
