//! Paths of files, however they are spelled. A path is only text here: no file is looked up.

use std::borrow::Cow;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResolvedPath {
    /// Relative to the agent's directory if it is below it.
    Known(String),
    /// What it is relative to is not known. It may be in the agent's directory.
    Unclear(String),
}

pub(crate) fn resolved(path: &str, directory: Option<&str>) -> ResolvedPath {
    if let Some(below) = directory.and_then(|directory| below(path, directory)) {
        return ResolvedPath::Known(below);
    }
    let normal = match directory {
        Some(directory) if is_relative(path) => normal(&format!("{directory}/{path}")),
        _ => normal(path),
    };
    let is_known = match directory {
        Some(directory) => is_absolute(&normal) && has_drive(&normal) == has_drive(directory),
        None => is_relative(&normal) && !normal.starts_with(".."),
    };
    if is_known { ResolvedPath::Known(normal) } else { ResolvedPath::Unclear(normal) }
}

/// A path below the agent's directory, relative to it.
pub(crate) fn relative<'t>(path: &'t str, directory: Option<&str>) -> Cow<'t, str> {
    let is_plain = is_relative(path) && !path.split(['/', '\\']).any(|part| part == "..");
    let directory = directory.filter(|_| !is_plain);
    let Some(below) = directory.and_then(|directory| below(path, directory)) else {
        return Cow::Borrowed(path);
    };
    // The end of the path as the agent wrote it, unless the spelling there is an odd one.
    let end = path.len().checked_sub(below.len()).and_then(|at| path.get(at..));
    match end.filter(|end| end.replace('\\', "/") == below) {
        Some(end) => Cow::Borrowed(end),
        None => Cow::Owned(below),
    }
}

/// A path that is below this directory, in its normal form and relative to it.
fn below(path: &str, directory: &str) -> Option<String> {
    let directory = normal(directory);
    let path =
        if is_relative(path) { normal(&format!("{directory}/{path}")) } else { normal(path) };
    let below = path.strip_prefix(directory.trim_end_matches('/'))?.strip_prefix('/')?;
    (!directory.is_empty() && !below.is_empty()).then(|| below.to_owned())
}

/// A path as file systems compare it that ignore the case of letters, a dot or a space at the end
/// of a name, the name of a stream in the file behind a colon, and characters without a width.
pub(crate) fn folded(path: &str) -> String {
    let path = normal(path).replace(is_ignorable, "").to_lowercase();
    // A path that begins with a drive and has no root is relative to a directory of the drive.
    let (drive, path) = match path.get(..2) {
        Some(drive) if has_drive(&path) && path[2..].starts_with('/') => (drive, &path[2..]),
        Some(_) if has_drive(&path) => ("", &path[2..]),
        _ => ("", &*path),
    };
    let parts = path.split('/').map(|part| {
        let stream = part.split_once(':').filter(|(_, stream)| !stream.is_empty());
        match stream.map_or(part, |(name, _)| name).trim_end_matches(['.', ' ']) {
            "" => part,
            trimmed => trimmed,
        }
    });
    format!("{drive}{}", parts.collect::<Vec<_>>().join("/"))
}

/// Whether a file system of macOS leaves it out when it compares names.
fn is_ignorable(letter: char) -> bool {
    matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(letter, '\u{206a}'..='\u{206f}' | '\u{feff}')
}

pub(crate) fn is_relative(path: &str) -> bool {
    // A drive, or the scheme of an address, ends with a colon.
    let (first, _) = path.split_once(['/', '\\']).unwrap_or((path, ""));
    !(path.starts_with(['/', '\\', '~']) || first.ends_with(':') || has_drive(path))
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    path.as_bytes().get(1) == Some(&b':')
}

/// The path without `.` and `..` inside it, with one `/` between its parts.
fn normal(path: &str) -> String {
    let path = path.replace('\\', "/");
    // How Windows writes a long path.
    let path = match path.strip_prefix("//?/") {
        Some(long) => long.strip_prefix("UNC/").map_or(long.to_owned(), |it| format!("//{it}")),
        None => path,
    };
    let path = with_upper_drive(path);
    let root = if path.starts_with('/') { "/" } else { "" };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !["", "."].contains(part)) {
        match part {
            ".." => match parts.last() {
                // Nothing is above the root.
                None if root == "/" => {}
                Some(&"..") | None => parts.push(".."),
                Some(_) => drop(parts.pop()),
            },
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

/// Editors write the letter of a drive in lower case.
fn with_upper_drive(mut path: String) -> String {
    if path.get(1..3) == Some(":/")
        && let Some(drive) = path.get_mut(..1)
    {
        drive.make_ascii_uppercase();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::{ResolvedPath, below, folded, resolved};

    #[test]
    fn a_path_of_windows_is_found_in_every_spelling() {
        let drive = [
            "c:\\dev\\app\\src\\x.rs",
            "C:\\dev\\app\\src/x.rs",
            "c:/dev/app/src/x.rs",
            "\\\\?\\C:\\dev\\app\\src\\x.rs",
            "src\\x.rs",
        ];
        for path in drive {
            for directory in ["C:\\dev\\app", "c:/dev/app/", "\\\\?\\C:\\dev\\app"] {
                assert_eq!(below(path, directory).as_deref(), Some("src/x.rs"), "{path}");
            }
        }
        let share = [
            "\\\\server\\share\\app\\x",
            "\\\\?\\UNC\\server\\share\\app\\x",
            "//server/share/app/x",
        ];
        for path in share {
            assert_eq!(below(path, "\\\\server\\share\\app").as_deref(), Some("x"), "{path}");
        }
        let elsewhere = ResolvedPath::Known("D:/dev/app/x".to_owned());
        assert_eq!(resolved("d:\\dev\\app\\x", Some("C:\\dev\\app")), elsewhere);
    }

    #[test]
    fn a_path_below_the_directory_is_found_in_every_spelling() {
        let spellings = [
            "/home/dev/app/.github/x",
            "//home/dev/app/.github/x",
            "/home//dev/app/.github//x",
            "/home/dev/./app/.github/x",
            "/home/dev/../dev/app/.github/x",
            "/home/dev/app/../app/.github/x",
            "/../home/dev/app/.github/x",
            "../app/.github/x",
            "./.github/./x",
            "src/../.github/x",
            ".github\\x",
        ];
        for path in spellings {
            for directory in ["/home/dev/app", "/home/dev/app/", "/home//dev/./app"] {
                assert_eq!(below(path, directory).as_deref(), Some(".github/x"), "{path}");
            }
        }
        let windows = ["C:\\dev\\app\\.github\\x", "C:/dev/app/.github/x", "..\\app\\.github\\x"];
        for path in windows {
            assert_eq!(below(path, "C:\\dev\\app").as_deref(), Some(".github/x"), "{path}");
        }
    }

    #[test]
    fn a_path_elsewhere_is_not_below() {
        let elsewhere = ["/home/dev/app", ".", "..", "../apps/x", "/home/dev/apps/x", "~/app/x"];
        for path in elsewhere {
            assert_eq!(below(path, "/home/dev/app"), None, "{path}");
        }
        assert_eq!(below("/x", ""), None);
        assert_eq!(below("/x", "/").as_deref(), Some("x"));
    }

    #[test]
    fn what_a_path_is_relative_to_may_be_unclear() {
        let known = |path: &str| ResolvedPath::Known(path.to_owned());
        let unclear = |path: &str| ResolvedPath::Unclear(path.to_owned());
        let directory = Some("/home/dev/app");
        assert_eq!(resolved("../app/x", directory), known("x"));
        assert_eq!(resolved("../x", directory), known("/home/dev/x"));
        assert_eq!(resolved("/etc//x", directory), known("/etc/x"));
        assert_eq!(resolved("~/app/x", directory), unclear("~/app/x"));
        assert_eq!(resolved("file:///home/dev/app/x", directory), unclear("file:/home/dev/app/x"));
        assert_eq!(resolved("C:\\app\\x", directory), unclear("C:/app/x"));
        assert_eq!(resolved("/c/app/x", Some("C:\\app")), unclear("/c/app/x"));
        assert_eq!(resolved("a/../x", None), known("x"));
        assert_eq!(resolved("../x", None), unclear("../x"));
        assert_eq!(resolved("/app/x", None), unclear("/app/x"));
    }

    #[test]
    fn letter_case_and_a_last_dot_are_folded() {
        assert_eq!(folded("A/.GitHub./X .yml"), "a/.github/x .yml");
        assert_eq!(folded("..\\X. "), "../x");
    }

    #[test]
    fn what_some_file_systems_leave_out_is_folded() {
        let spellings =
            [".git\u{200d}hub/x", ".github::$INDEX_ALLOCATION/x", ".github:x", "C:.github/x"];
        for path in spellings {
            assert!(folded(path).starts_with(".github"), "{path}");
        }
        assert_eq!(folded("Cargo.lock::$DATA"), "cargo.lock");
        assert_eq!(folded("C:\\App\\x"), "c:/app/x");
        assert_eq!(folded("file:///app/x"), "file:/app/x");
    }
}
