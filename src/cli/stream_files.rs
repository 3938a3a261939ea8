//! The files of streams, as a CI service knows them: by their path in the repository.

use std::env;
use std::path::{Path, PathBuf};

use super::args::Cli;
use super::inputs::STDIN;
use crate::output::report::{FileOf, NameOf};

/// Names the file of a stream relative to the folder where the job has the repository, or to our
/// folder outside of a job. A stream of standard input or of a command has none.
pub(super) fn in_repository(cli: &Cli) -> FileOf {
    let workspace = env::var_os("GITHUB_WORKSPACE").filter(|folder| !folder.is_empty());
    below(cli, &workspace.map_or_else(|| PathBuf::from("."), PathBuf::from))
}

/// Names a stream by the path of its file relative to our folder, if it is below it.
pub(super) fn portable_names(cli: &Cli) -> NameOf {
    let file_of = below(cli, Path::new("."));
    Box::new(move |stream| file_of(stream).unwrap_or_else(|| stream.to_owned()))
}

fn below(cli: &Cli, folder: &Path) -> FileOf {
    let folder = folder.canonicalize().ok().filter(|_| cli.command.is_empty());
    Box::new(move |stream| relative(stream, folder.as_deref()?))
}

fn relative(stream: &str, folder: &Path) -> Option<String> {
    // The name may be that of a session in the file.
    let session = stream.rsplit_once('#').filter(|(_, number)| number.parse::<u64>().is_ok());
    let exists = Path::new(stream).exists();
    let stream = session.filter(|_| !exists).map_or(stream, |(file, _)| file);
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
