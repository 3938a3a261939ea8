//! Recordings that are compressed.

use std::fs;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::streams::{PROGRAM, root, run_on, text};

const GOOD: &str = "fixtures/agents/cursor/partial.ndjson";
const BAD: &str = "fixtures/rules/missing-terminal-event/open-calls.ndjson";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

type Compress = fn(&[u8]) -> Vec<u8>;

const FORMATS: [(&str, Compress); 2] = [("gz", gzip), ("zst", zstandard)];

fn stream(path: &str) -> Vec<u8> {
    fs::read(root().join(path)).unwrap()
}

/// Goal: an archive is judged as the stream in it.
/// Method: on standard input and as a file in a directory, in one part and in several; with a
/// report file, which takes another path through the program.
#[test]
fn archives_are_judged_as_their_streams() {
    for path in [GOOD, BAD] {
        let plain = stream(path);
        let expected = run_on(&["--report", "json"], &plain);
        for (extension, compress) in FORMATS {
            let parts: Vec<u8> = plain.chunks(1000).flat_map(compress).collect();
            // A frame that the format says must be skipped.
            let skipped = [b"\x50\x2a\x4d\x18\x03\0\0\0abc", &compress(&plain)[..]].concat();
            let mut archives = vec![compress(&plain), parts];
            if extension == "zst" {
                archives.extend([[compress(b""), skipped.clone()].concat(), skipped]);
            } else {
                archives.push([&compress(&plain)[..], &[0; 700]].concat());
            }
            for archive in archives {
                let output = run_on(&["--report", "json"], &archive);
                assert_eq!(text(&output.stdout), text(&expected.stdout), "{path}, {extension}");
                assert_eq!(output.status.code(), expected.status.code());
                let folder = tempfile::tempdir().unwrap();
                let report = folder.path().join("report");
                let to = format!("json={}", report.display());
                run_on(&["--report", &to], &archive);
                assert_eq!(fs::read_to_string(&report).unwrap(), text(&expected.stdout));
                let file = folder.path().join(format!("a.ndjson.{extension}"));
                fs::write(&file, archive).unwrap();
                let folder = folder.path().to_str().unwrap();
                let output = run_on(&["--quiet", "--to", "stream-json", folder], b"");
                assert_eq!(output.stdout, plain, "{path}, {extension}");
                assert_eq!(output.status.code(), expected.status.code());
            }
        }
    }
}

/// Goal: a cut or damaged archive is never taken for a good stream, and is named.
/// Method: cut at every byte; every byte changed.
#[test]
fn broken_archives_are_named() {
    let plain = stream(GOOD);
    for (extension, compress) in FORMATS {
        let archive = compress(&plain[..2000]);
        let step = if extension == "gz" { 7 } else { 11 };
        for at in (5..archive.len()).step_by(step) {
            let output = run_on(&[], &archive[..at]);
            let error = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{extension}, {at}: {error}");
            assert!(error.ends_with("archive is truncated\n"), "{extension}, {at}: {error}");
        }
        let mut damaged = 0;
        for at in (5..archive.len()).step_by(step) {
            let mut archive = archive.clone();
            archive[at] ^= 0x10;
            let output = run_on(&[], &archive);
            let error = text(&output.stderr);
            // Some bytes of a header, such as a time, mean nothing.
            if output.status.code() != Some(1) {
                assert_eq!(output.status.code(), Some(2), "{extension}, {at}: {error}");
                assert_eq!(error.lines().count(), 1, "{error}");
                damaged += usize::from(error.contains(" archive is "));
            }
        }
        assert!(damaged > archive.len() / step / 2, "{damaged} of {}", archive.len() / step);
    }
}

/// Goal: what is compressed a thousand times needs no more memory than its longest line.
#[cfg(target_os = "linux")]
#[test]
fn archives_are_read_in_constant_memory() {
    let event =
        r#"{"type":"thinking","subtype":"delta","text":"aaaaaaaaaaaaaaaa","session_id":"s"}"#;
    let plain = format!("{event}\n").repeat(1 << 20);
    let folder = tempfile::tempdir().unwrap();
    for (extension, compress) in FORMATS {
        let file = folder.path().join(format!("a.{extension}"));
        fs::write(&file, compress(plain.as_bytes())).unwrap();
        let limited =
            format!("ulimit -v 200000; exec {PROGRAM} -q --profile cursor {}", file.display());
        let output = std::process::Command::new("bash").args(["-c", &limited]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    }
}

#[test]
fn what_follows_an_archive_is_named() {
    let output = run_on(&[], &[&gzip(&stream(GOOD))[..], b"and more"].concat());
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(error.ends_with("the gzip archive is followed by something else\n"), "{error}");
}
