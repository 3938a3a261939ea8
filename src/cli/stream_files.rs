//! The files of streams, as a CI service knows them: by their path in the repository.

use std::env;
use std::path::{Component, Path, PathBuf};

use ndjson_check_formats::report::{FileOf, NameOf};

use super::args::Cli;
use super::attempts::Attempt;
use super::inputs::STDIN;

/// How many folders of a path may be missing: an archive can name thousands.
const FOLDERS_MAX: usize = 64;

/// Names the file of a stream relative to the folder where the job has the repository, or to our
/// folder outside of a job. A stream of standard input or of a command has none.
pub(super) fn in_repository(cli: &Cli) -> FileOf {
    let workspace = env::var_os("GITHUB_WORKSPACE").filter(|folder| !folder.is_empty());
    below(cli, &workspace.map_or_else(|| PathBuf::from("."), PathBuf::from))
}

/// Names a stream by the path of its file relative to our folder, if it is below it; a session in
/// it also by its number.
pub(super) fn portable_names(cli: &Cli) -> NameOf {
    let file_of = below(cli, Path::new("."));
    let is_file = cli.command.is_empty();
    Box::new(move |stream| match file_of(stream) {
        Some(file) => format!("{file}{}", parts(stream).1),
        // So that each attempt of a command has the findings of the others.
        None if !is_file => Attempt::command_in(stream).to_owned(),
        None => stream.to_owned(),
    })
}

fn below(cli: &Cli, folder: &Path) -> FileOf {
    // The members of an archive on standard input have no file either.
    let has_files = cli.command.is_empty() && !cli.reads_only_stdin();
    let folder = folder.canonicalize().ok().filter(|_| has_files);
    Box::new(move |stream| relative(stream, folder.as_deref()?))
}

fn relative(stream: &str, folder: &Path) -> Option<String> {
    let (file, _) = parts(stream);
    if file == STDIN {
        return None;
    }
    let file = absolute(Path::new(file))?;
    let names = file.strip_prefix(folder).ok()?.iter().map(|name| name.to_str());
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}

/// The file of a stream, and the number of the session in it with its sign, if the name has one.
fn parts(stream: &str) -> (&str, &str) {
    let sign = stream.rfind('#').filter(|at| stream[at + 1..].parse::<u64>().is_ok());
    match sign {
        Some(at) if !Path::new(stream).exists() => stream.split_at(at),
        _ => (stream, ""),
    }
}

/// The path with the links in its folder resolved. In an archive it has folders that do not exist.
pub(super) fn absolute(path: &Path) -> Option<PathBuf> {
    let mut folders = path.ancestors().skip(1).take(FOLDERS_MAX);
    let (folder, resolved) = folders.find_map(|it| Some((it, existing(it)?)))?;
    let rest = path.strip_prefix(folder).ok()?;
    // `..` behind a folder that does not exist names none.
    let is_name = |part| matches!(part, Component::Normal(_));
    rest.components().all(is_name).then(|| resolved.join(rest))
}

fn existing(folder: &Path) -> Option<PathBuf> {
    let is_ours = folder.as_os_str().is_empty();
    if is_ours { Path::new(".") } else { folder }.canonicalize().ok()
}
