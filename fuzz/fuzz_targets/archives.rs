//! What is no archive comes as it is; an archive gives the same bytes, or the same error, in any
//! pieces, and what was packed comes out.

#![no_main]

#[expect(dead_code, reason = "the program uses more of it")]
#[path = "../../src/cli/archive.rs"]
mod archive;

use std::io::{self, Read, Write as _};

use libfuzzer_sys::fuzz_target;

/// More than that is not read.
const BYTES_MAX: u64 = 1 << 20;

struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn unpacked(bytes: &[u8], size: usize) -> (Vec<u8>, Option<String>) {
    let mut out = Vec::new();
    let source = archive::Decompressed::new(Pieces(bytes, size));
    let result = source.take(BYTES_MAX).read_to_end(&mut out);
    (out, result.err().map(|error| error.to_string()))
}

fuzz_target!(|data: &[u8]| {
    let whole = unpacked(data, usize::MAX);
    let (pieces, error) = unpacked(data, 1 + usize::from(data.first().copied().unwrap_or(0) % 7));
    // How much comes out before the damage depends on the pieces.
    assert_eq!(error, whole.1);
    assert!(pieces.starts_with(&whole.0) || whole.0.starts_with(&pieces));
    assert!(error.is_some() || pieces == whole.0);
    let is_packed = |bytes: &[u8]| {
        matches!(
            bytes,
            [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
        )
    };
    if !is_packed(data) {
        assert_eq!(whole, (data.to_vec(), None));
    }
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(data).expect("memory");
    assert_eq!(unpacked(&gzip.finish().expect("memory"), 3), (data.to_vec(), None));
});
