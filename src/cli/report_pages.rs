//! Where the pages of an HTML report go: a folder next to the file of the report.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use ndjson_check_formats::report::PageFolder;

use super::error::CliError;
use super::report_target::ReportTarget;

/// A page names its generator in its first bytes.
const PAGE_HEAD_BYTES: u64 = 4_096;
const GENERATOR: &str = "name=\"generator\" content=\"ndjson-check ";

/// The folder for the report in this file: `report.html` has `report.pages`.
pub(super) fn page_folder(file: Option<&Path>) -> Result<PageFolder, CliError> {
    let Some((file, name)) = file.and_then(|file| Some((file, file.file_name()?))) else {
        return Err(CliError::usage("the html report needs a file: --report html=FILE"));
    };
    let mut folder_name = OsString::from(Path::new(name).file_stem().unwrap_or(name));
    folder_name.push(".pages");
    let folder = file.with_file_name(&folder_name);
    let is_regular = file.metadata().is_ok_and(|it| it.is_file()) || !file.exists();
    let written_to = folder.clone();
    let write = move |page: &str, text: &str| write_page(&written_to, is_regular, page, text);
    let remove_others = move |written: &BTreeSet<String>| {
        if is_regular { remove_others(&folder, written) } else { Ok(()) }
    };
    Ok(PageFolder {
        folder: link(&folder_name.to_string_lossy()),
        index: format!("../{}", link(&name.to_string_lossy())),
        write: Box::new(write),
        remove_others: Box::new(remove_others),
    })
}

fn write_page(folder: &PathBuf, is_regular: bool, page: &str, text: &str) -> io::Result<()> {
    if !is_regular {
        let message = "the pages of several streams need a directory; name a regular file";
        return Err(io::Error::other(message));
    }
    fs::create_dir_all(folder)?;
    let mut target = ReportTarget::file(&folder.join(page), false)?;
    target.write_all(text.as_bytes())?;
    target.finish()
}

/// An earlier report may show what this one redacts.
fn remove_others(folder: &Path, written: &BTreeSet<String>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !written.contains(&name) && is_page(&entry, &name)? {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether a report wrote this file, such as `0001-plain-ndjson.html`.
fn is_page(entry: &fs::DirEntry, name: &str) -> io::Result<bool> {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let has_extension = Path::new(name).extension().is_some_and(|it| it == "html");
    let is_named = digits >= 4 && name[digits..].starts_with(['-', '.']) && has_extension;
    if !is_named || !entry.file_type()?.is_file() {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(entry.path())?.take(PAGE_HEAD_BYTES).read_to_end(&mut head)?;
    Ok(String::from_utf8_lossy(&head).contains(GENERATOR))
}

/// A file name as a part of a relative link.
fn link(name: &str) -> String {
    let mut link = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            link.push(char::from(byte));
        } else {
            let _ = write!(link, "%{byte:02X}");
        }
    }
    link
}
