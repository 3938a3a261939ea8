//! Files next to recordings that look like recordings but have another extension.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{Input, Listed, has_extension, shown};

/// Extensions under which people keep recordings.
const EXTENSIONS: [&str; 4] = ["json", "jsonlines", "log", "txt"];

/// Between the name of a recording and another extension: `run.ndjson.1`, `run.jsonl.part`.
const INFIXES: [&str; 2] = [".ndjson.", ".jsonl."];

/// How the names of archives end.
const ARCHIVES: [&str; 4] = [".tar", ".tgz", ".tar.gz", ".tar.zst"];

/// Files that are opened, and files that a note names.
const OPENED_MAX: usize = 1_000;
const NAMED_MAX: usize = 3;

/// How much of a file is read.
const HEAD_BYTES: u64 = 4_096;

/// Whether a file may be a recording, by its name.
pub(super) fn may_be(path: &Path) -> bool {
    has_extension(path, &EXTENSIONS) || is_archive(path) || is_copy(path)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default()
}

fn is_archive(path: &Path) -> bool {
    let name = file_name(path);
    ARCHIVES.iter().any(|ending| name.ends_with(ending))
}

/// Whether another program has renamed a recording.
fn is_copy(path: &Path) -> bool {
    let name = file_name(path);
    INFIXES.iter().any(|infix| name.contains(infix))
}

impl Listed {
    /// A note on the files that are not checked, if some look like recordings.
    pub(crate) fn note(&self) -> Option<String> {
        let streams = self.inputs.iter().flatten().filter_map(|input| match input {
            Input::Path(path) => path.parent(),
            Input::Stdin => None,
        });
        let folders: BTreeSet<&Path> = streams.collect();
        // Where no recording was found, any of them may be what the user means.
        let is_near = |path: &&PathBuf| {
            folders.is_empty() || path.parent().is_some_and(|folder| folders.contains(folder))
        };
        let near = self.others.iter().filter(is_near);
        let alike: Vec<String> = near
            .take(OPENED_MAX)
            .filter(|path| is_archive(path) || is_recording(path))
            .map(|path| shown(path))
            .collect();
        let named = alike[..alike.len().min(NAMED_MAX)].join(", ");
        let more = match alike.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (files, it) = match alike.len() {
            0 => return None,
            1 => ("1 file looks like a recording, but is".to_owned(), "it as an argument"),
            count => (format!("{count} files look like recordings, but are"), "them as arguments"),
        };
        Some(format!("{files} not checked: {named}{more}; name {it}, or use the extension .ndjson"))
    }
}

/// Whether a file begins with an event: an object, or an array of objects, with a `type`. A json
/// report of ours is not a recording.
fn is_recording(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let head = head.trim_start_matches('\u{feff}').trim_start();
    let head = head.strip_prefix('[').unwrap_or(head).trim_start();
    let first = head.lines().next().unwrap_or_default();
    let is_report = first.contains("\"report_version\":");
    read.is_ok() && first.starts_with("{\"") && first.contains("\"type\":") && !is_report
}
