//! The file of a program, as the command prompt finds it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The extensions of programs, where the environment does not name them.
const EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// The program that a command names. The system itself adds only `.exe`, and many agents are
/// scripts: npm installs `claude.cmd`. A name that is not found stays as it is.
pub(crate) fn program(name: &OsStr) -> OsString {
    let folders = env::var_os("PATH").unwrap_or_default();
    let extensions = env::var("PATHEXT").unwrap_or_else(|_| EXTENSIONS.to_owned());
    found(Path::new(name), env::split_paths(&folders), &extensions)
        .map_or_else(|| name.to_owned(), PathBuf::into_os_string)
}

/// What a command is called: the name of its file, as it is typed: `claude` for `claude.cmd`.
pub(crate) fn called(program: &OsStr) -> &OsStr {
    let file = Path::new(program);
    let is_program = file.extension().is_some_and(|has| {
        EXTENSIONS.split(';').any(|it| has.eq_ignore_ascii_case(it.trim_start_matches('.')))
    });
    let name = if is_program { file.file_stem() } else { file.file_name() };
    name.unwrap_or(program)
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{called, found};

    #[test]
    fn a_command_is_called_as_it_is_typed() {
        for (program, name) in [
            ("claude", "claude"),
            ("C:\\npm\\claude.cmd", "claude"),
            ("npm/Claude.EXE", "Claude"),
            ("\\\\server\\share\\cursor.agent", "cursor.agent"),
        ] {
            assert_eq!(called(program.as_ref()), name);
        }
    }

    #[test]
    fn a_script_of_npm_is_found_by_its_name() {
        let folder = std::env::temp_dir().join(format!("ndjson-check-{}", std::process::id()));
        let (first, second) = (folder.join("first"), folder.join("second"));
        for folder in [&first, &second] {
            fs::create_dir_all(folder).unwrap();
        }
        for file in [first.join("claude"), second.join("claude.cmd"), second.join("a.b.exe")] {
            fs::write(file, "").unwrap();
        }
        let find = |name: &str| {
            let folders = [PathBuf::new(), first.clone(), second.clone()];
            let found = found(Path::new(name), folders.into_iter(), ".COM;.EXE;.CMD;");
            found.map(|it| it.to_str().unwrap().to_lowercase())
        };
        let expected = |name: &str| Some(second.join(name).to_str().unwrap().to_lowercase());
        assert_eq!(find("claude"), expected("claude.cmd"));
        assert_eq!(find("a.b"), expected("a.b.exe"));
        assert_eq!(find("codex"), None);
        // The system finds these.
        assert_eq!(find("claude.CMD"), None);
        let path = second.join("claude");
        assert_eq!(find(path.to_str().unwrap()), expected("claude.cmd"));
        fs::remove_dir_all(folder).unwrap();
    }
}
