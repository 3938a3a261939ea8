//! What is in a file: one stream, or a tar archive of several.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::Path;

use ndjson_check_core::Error;
use tar::Archive;

use super::tar_links::TarLinks;
use super::{STDIN, is_stream_name, nothing_to_check, unread};
use crate::cli::archive::{Decompressed, head};
use crate::cli::outputs::copied;

/// The bytes up to the mark of a tar archive, and the mark.
const TAR_HEAD_BYTES: usize = 262;
const TAR_MARK: &[u8] = b"ustar";

/// The end of a tar archive is two blocks of zeros. One of them is required: without it, members
/// may be missing.
const TAR_BLOCK_BYTES: u64 = 512;

pub(crate) struct FoundStream<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a mut dyn Read,
    /// It is in an archive, and so not all that its producer wrote.
    pub(crate) is_member: bool,
}

/// Calls `each` for every stream in a file: the file itself, or the recordings of a tar archive, in
/// its order. The file, and each recording in the archive, may be compressed. What cannot be read
/// is an error in the place of its stream.
///
/// `only_one_for`: what needs one stream only, so that an archive is refused.
pub(crate) fn each_stream(
    name: &str,
    source: impl Read,
    only_one_for: Option<&str>,
    mut each: impl FnMut(Result<FoundStream<'_>, Error>),
) {
    let mut source = Decompressed::new(source);
    let (head, failure) = head(&mut source, distinguishes_archive);
    let is_archive = is_tar(&head);
    let mut source = head.as_slice().chain(Failing(failure)).chain(source);
    if !is_archive {
        return each(Ok(FoundStream { name, source: &mut source, is_member: false }));
    }
    if let Some(what) = only_one_for {
        return each(Err(several(name, what)));
    }
    let mut archive = Archive::new(WithEnd { source, zeros: 0, has_ended: false, failure: None });
    // Archives may be joined; and the writer of a pipe must be able to write all of it.
    archive.set_ignore_zeros(true);
    let mut count = 0;
    let is_cut = Cell::new(false);
    let result = each_member(&mut archive, name, &is_cut, |member| {
        count += 1;
        each(member);
    });
    let source = archive.into_inner();
    match result {
        // The error of the last member says it.
        Err(_) if is_cut.get() => {}
        Err(error) => each(Err(unread(name, source.fault(&error)))),
        Ok(()) if source.zeros < TAR_BLOCK_BYTES => each(Err(unread(name, truncated()))),
        Ok(()) if count == 0 => {
            each(Err(nothing_to_check(name, "no *.ndjson or *.jsonl file in this tar archive")));
        }
        Ok(()) => {}
    }
}

/// The bytes of a file that must be one stream, because of what uses them.
///
/// # Errors
///
/// When it is a tar archive.
pub(crate) fn one_stream<R: Read>(
    name: &str,
    source: R,
    user: &str,
) -> Result<impl Read + use<R>, Error> {
    let mut source = Decompressed::new(source);
    let (head, failure) = head(&mut source, distinguishes_archive);
    if is_tar(&head) {
        return Err(several(name, user));
    }
    Ok(Cursor::new(head).chain(Failing(failure)).chain(source))
}

fn several(name: &str, user: &str) -> Error {
    nothing_to_check(name, &format!("this is a tar archive; {user} needs one stream"))
}

fn is_tar(head: &[u8]) -> bool {
    head.ends_with(TAR_MARK) && head.len() == TAR_HEAD_BYTES
}

fn each_member(
    archive: &mut Archive<impl Read>,
    name: &str,
    is_cut: &Cell<bool>,
    mut each: impl FnMut(Result<FoundStream<'_>, Error>),
) -> io::Result<()> {
    let mut links = TarLinks::default();
    for entry in archive.entries()? {
        let entry = entry?;
        let kind = entry.header().entry_type();
        let path = entry.path()?.into_owned();
        if kind.is_symlink() || kind.is_hard_link() {
            let target = entry.link_name()?.unwrap_or_default();
            links.link(&path, &target, kind.is_symlink());
        }
        if !(kind.is_file() || kind.is_gnu_sparse()) || !is_stream_name(&path) {
            continue;
        }
        links.member(&path);
        let name = member_name(name, &path);
        let size = entry.size();
        let mut source = Decompressed::new(Whole { source: entry, left: size, is_cut });
        each(Ok(FoundStream { name: &name, source: &mut source, is_member: true }));
    }
    for path in links.dangling() {
        let link = "the link leads to no recording in the tar archive; `tar -h` follows links";
        each(Err(unread(&member_name(name, path), io::Error::other(link))));
    }
    Ok(())
}

fn member_name(archive: &str, path: &Path) -> String {
    let path = path.strip_prefix(".").unwrap_or(path).to_string_lossy();
    if archive == STDIN { path.into_owned() } else { format!("{archive}/{path}") }
}

/// Whether these first bytes are enough to distinguish a tar archive from a stream.
fn distinguishes_archive(head: &[u8]) -> bool {
    let is_line = matches!(head.first(), Some(b'{' | b'[' | b' ' | b'\t'));
    is_line || head.contains(&b'\n') || head.len() >= TAR_HEAD_BYTES
}

/// Fails once, if there is an error.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The bytes of a tar archive, and how they end.
struct WithEnd<R> {
    source: R,
    /// The zeros at the end of what has been read.
    zeros: u64,
    has_ended: bool,
    failure: Option<io::Error>,
}

impl<R> WithEnd<R> {
    /// What an error of the archive's reader means.
    fn fault(self, error: &io::Error) -> io::Error {
        match self.failure {
            Some(failure) => failure,
            None if self.has_ended => truncated(),
            None => io::Error::other(format!("the tar archive is damaged: {error}")),
        }
    }
}

impl<R: Read> Read for WithEnd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer).inspect_err(|error| {
            self.failure = Some(copied(error));
        })?;
        self.has_ended |= count == 0 && !buffer.is_empty();
        let zeros = buffer[..count].iter().rev().take_while(|byte| **byte == 0).count();
        self.zeros = if zeros == count { self.zeros + zeros as u64 } else { zeros as u64 };
        Ok(count)
    }
}

/// A member of a tar archive, which must not end before its size.
struct Whole<'a, R> {
    source: R,
    left: u64,
    /// Set if it does, or if the archive cannot be read on.
    is_cut: &'a Cell<bool>,
}

impl<R: Read> Read for Whole<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.source.read(buffer);
        let is_lost = |error: &io::Error| error.kind() != io::ErrorKind::Interrupted;
        if result.as_ref().is_err_and(is_lost) {
            self.is_cut.set(true);
        }
        let count = result?;
        self.left = self.left.saturating_sub(count as u64);
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            self.is_cut.set(true);
            return Err(truncated());
        }
        Ok(count)
    }
}

fn truncated() -> io::Error {
    io::Error::other("the tar archive is truncated")
}
