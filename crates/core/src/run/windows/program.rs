//! The file of a program, as the command prompt finds it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The extensions of programs, where the environment does not name them.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// The program that a command names. The system itself adds only `.exe`, and many agents are
/// scripts: npm installs `claude.cmd`. A name that is not found stays as it is.
pub fn program(name: &OsStr) -> OsString {
    let folders = env::var_os("PATH").unwrap_or_default();
    let extensions = env::var("PATHEXT").unwrap_or_else(|_| EXTENSIONS.to_owned());
    found(Path::new(name), env::split_paths(&folders), &extensions)
        .map_or_else(|| name.to_owned(), PathBuf::into_os_string)
}

fn found(name: &Path, folders: impl Iterator<Item = PathBuf>, extensions: &str) -> Option<PathBuf> {
    let extensions: Vec<&str> = extensions.split(';').filter(|it| !it.is_empty()).collect();
    let has_extension = name.extension().is_some_and(|has| {
        extensions.iter().any(|it| has.eq_ignore_ascii_case(it.trim_start_matches('.')))
    });
    if has_extension {
        // The system looks for it.
        return None;
    }
    let with_extension = |path: PathBuf| {
        extensions.iter().find_map(|extension| {
            let mut file = path.clone().into_os_string();
            file.push(extension);
            Some(PathBuf::from(file)).filter(|file| file.is_file())
        })
    };
    if name.components().count() > 1 {
        return with_extension(name.to_owned());
    }
    folders
        .filter(|folder| !folder.as_os_str().is_empty())
        .find_map(|it| with_extension(it.join(name)))
}
