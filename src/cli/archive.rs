//! Recordings that are compressed with gzip or Zstandard.

use std::error::Error;
use std::io::{self, BufRead as _, BufReader, Chain, Cursor, Read};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// A frame of a Zstandard archive without data; the first byte is 0x50 to 0x5f.
const SKIPPABLE: &[u8] = &[0x50, 0x2a, 0x4d, 0x18];

/// The largest window of a Zstandard frame, and so about the memory that it takes: what `zstd`
/// itself accepts.
const WINDOW_BYTES_MAX: u64 = 128 << 20;

/// The bytes of a recording, decompressed if they begin as a gzip or Zstandard archive does. No
/// event begins so.
pub(crate) enum Decompressed<R: Read> {
    Unread(Option<R>),
    Plain(Begun<R>),
    Gzip(Box<Gzip<R>>),
    Zstandard(Box<Zstandard<R>>),
}

/// A source after its first bytes, which are kept.
type Begun<R> = Chain<Cursor<Vec<u8>>, R>;

impl<R: Read> Decompressed<R> {
    pub(crate) fn new(source: R) -> Self {
        Self::Unread(Some(source))
    }

    fn begun(mut source: R) -> io::Result<Self> {
        let (head, failure) = head(&mut source, distinguishes_compression);
        if let Some(failure) = failure {
            return Err(failure);
        }
        let is_gzip = head == GZIP;
        let is_zstandard = [ZSTANDARD, SKIPPABLE].contains(&&*first_of_range(&head));
        let begun = Cursor::new(head).chain(source);
        Ok(if is_gzip {
            Self::Gzip(Box::new(Gzip::new(begun)))
        } else if is_zstandard {
            Self::Zstandard(Box::new(Zstandard::new(begun)))
        } else {
            Self::Plain(begun)
        })
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Unread(source) = self
            && let Some(source) = source.take()
        {
            *self = Self::begun(source)?;
        }
        match self {
            Self::Unread(_) => Ok(0),
            Self::Plain(source) => source.read(buffer),
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstandard(decoder) => decoder.read(buffer),
        }
    }
}

/// The first bytes of a source: as many as are enough, which is one for events. Also why there are
/// no more, if reading failed.
pub(super) fn head(
    source: &mut impl Read,
    is_enough: impl Fn(&[u8]) -> bool,
) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::new();
    while !is_enough(&head) {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => head.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (head, Some(error)),
        }
    }
    (head, None)
}

/// Whether these first bytes are enough to distinguish a compressed file from a stream.
fn distinguishes_compression(head: &[u8]) -> bool {
    let begun = first_of_range(head);
    let may_become = |magic: &[u8]| begun.len() < magic.len() && magic.starts_with(&begun);
    ![GZIP, ZSTANDARD, SKIPPABLE].into_iter().any(may_become)
}

/// The same bytes, with one first byte for all skippable frames.
fn first_of_range(head: &[u8]) -> Vec<u8> {
    let mut head = head.to_vec();
    if let Some(first @ 0x50..=0x5f) = head.first_mut() {
        *first = SKIPPABLE[0];
    }
    head
}

pub(crate) struct Gzip<R: Read> {
    /// The open member; none at the end.
    member: Option<GzDecoder<BufReader<Begun<R>>>>,
}

impl<R: Read> Gzip<R> {
    fn new(source: Begun<R>) -> Self {
        Self { member: Some(GzDecoder::new(BufReader::new(source))) }
    }

    /// Zeros are padding.
    fn next_member(&mut self) -> io::Result<()> {
        let Some(member) = self.member.take() else { return Ok(()) };
        let mut source = member.into_inner();
        loop {
            let bytes = source.fill_buf()?;
            let Some(first) = bytes.first() else { return Ok(()) };
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 && *first != GZIP[0] {
                return Err(io::Error::other("the gzip archive is followed by something else"));
            }
            if zeros == 0 {
                self.member = Some(GzDecoder::new(source));
                return Ok(());
            }
            source.consume(zeros);
        }
    }
}

impl<R: Read> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer).map_err(gzip_fault)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.next_member()?;
        }
        Ok(0)
    }
}

fn gzip_fault(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::other("the gzip archive is truncated"),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            io::Error::other(format!("the gzip archive is damaged: {error}"))
        }
        _ => error,
    }
}

pub(crate) struct Zstandard<R: Read> {
    source: BufReader<Begun<R>>,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: Read> Zstandard<R> {
    fn new(source: Begun<R>) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Self { source: BufReader::new(source), decoder, is_in_frame: false }
    }

    fn next_frame(&mut self) -> io::Result<()> {
        while !self.is_in_frame && !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => self.is_in_frame = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => self.skip(length.into())?,
                Err(error) => return Err(zstandard_fault(&error)),
            }
        }
        Ok(())
    }

    /// A frame that holds no data of the archive.
    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped < length { Err(truncated()) } else { Ok(()) }
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("the Zstandard archive is damaged: wrong checksum"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Zstandard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.next_frame()?;
            if !self.is_in_frame || buffer.is_empty() {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let block = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.source, block)
                    .map_err(|error| zstandard_fault(&error))?;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            self.end_frame()?;
        }
    }
}

fn truncated() -> io::Error {
    io::Error::other("the Zstandard archive is truncated")
}

fn zstandard_fault(error: &FrameDecoderError) -> io::Error {
    if let FrameDecoderError::WindowSizeTooBig { requested, max } = error {
        let (requested, max) = (requested >> 20, max >> 20);
        let message =
            format!("the Zstandard archive needs {requested} MiB; the limit is {max} MiB");
        return io::Error::other(message);
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => return truncated(),
            // The source cannot be read.
            Some(error) if error.raw_os_error().is_some() => {
                return io::Error::new(error.kind(), error.to_string());
            }
            _ => cause = error.source(),
        }
    }
    io::Error::other(format!("the Zstandard archive is damaged: {error}"))
}
