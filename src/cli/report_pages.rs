//! Where the pages of an HTML report go: a folder next to the file of the report.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use ndjson_check_formats::report::PageFolder;

use super::error::CliError;
use super::report_target::ReportTarget;

/// The folder for the report in this file: `report.html` has `report.pages`.
pub(super) fn page_folder(file: Option<&Path>) -> Result<PageFolder, CliError> {
    let Some((file, name)) = file.and_then(|file| Some((file, file.file_name()?))) else {
        return Err(CliError::usage("the html report needs a file: --report html=FILE"));
    };
    let mut folder_name = OsString::from(Path::new(name).file_stem().unwrap_or(name));
    folder_name.push(".pages");
    let folder = file.with_file_name(&folder_name);
    let is_regular = file.metadata().is_ok_and(|it| it.is_file()) || !file.exists();
    let write = move |page: &str, text: &str| write_page(&folder, is_regular, page, text);
    Ok(PageFolder {
        folder: link(&folder_name.to_string_lossy()),
        index: format!("../{}", link(&name.to_string_lossy())),
        write: Box::new(write),
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
