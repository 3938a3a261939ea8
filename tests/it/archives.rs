//! Recordings that are compressed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::streams::{program, root, run_on, text};
use crate::support::fed;

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
    let said = "a".repeat(4_000);
    let event =
        format!(r#"{{"type":"thinking","subtype":"delta","text":"{said}","session_id":"s"}}"#);
    let plain = format!("{event}\n").repeat(1 << 15);
    let folder = tempfile::tempdir().unwrap();
    for (extension, compress) in FORMATS {
        let file = folder.path().join(format!("a.{extension}"));
        fs::write(&file, compress(plain.as_bytes())).unwrap();
        let limited = format!("ulimit -v 110000; exec $P -q --profile cursor {}", file.display());
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", &limited]).env("P", crate::streams::PROGRAM);
        let output = shell.output().unwrap();
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

fn run_in(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Output {
    fed(program().args(arguments).current_dir(folder), stdin)
}

/// A tar archive of these files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

/// Goal: the recordings in a tar archive are judged as those in a folder.
/// Method: standard input, with a report file too, and a file among others with several threads;
/// compressed inside and outside; two archives after each other.
#[test]
fn a_tar_archive_is_a_folder() {
    let (good, bad, long) = (stream(GOOD), stream(BAD), format!("runs/{}.jsonl", "x".repeat(200)));
    let packed = gzip(&good);
    let members: [(&str, &[u8]); 5] = [
        ("./runs/a.ndjson", &good),
        ("runs/README.md", b"{}"),
        ("runs/b.ndjson", &bad),
        ("runs/c.ndjson.gz", &packed),
        (&long, &bad),
    ];
    let archive = tar(&members);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("runs")).unwrap();
    for (name, bytes) in members {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let at = |arguments: &[&str], stdin: &[u8]| {
        let output = run_in(folder.path(), arguments, stdin);
        (text(&output.stdout), output.status.code())
    };
    let expected = at(&["--report", "json", "runs"], b"");
    assert_eq!(expected.1, Some(1));
    assert_eq!(expected.0.matches(r#""type":"stream""#).count(), 4, "{}", expected.0);
    let joined = [&tar(&members[..3])[..], &tar(&members[3..])].concat();
    for archive in [&archive, &gzip(&archive), &zstandard(&archive), &joined] {
        assert_eq!(at(&["--report", "json"], archive), expected);
        at(&["--report", "json=report"], archive);
        assert_eq!(fs::read_to_string(folder.path().join("report")).unwrap(), expected.0);
    }
    fs::write(folder.path().join("runs.tar"), &archive).unwrap();
    let in_file = expected.0.replace("runs/", "runs.tar/runs/");
    assert_eq!(at(&["--report", "json", "runs.tar"], b"").0, in_file);
    let one = at(&["--report", "json", "--jobs", "1", "runs.tar", "runs"], b"");
    assert_eq!(at(&["--report", "json", "--jobs", "4", "runs.tar", "runs"], b""), one);
    assert_eq!(one.0.matches(r#""type":"stream""#).count(), 8, "{}", one.0);
    for (options, what) in [
        (["--tee", "copy"], "--tee"),
        (["--exit-status", "0"], "--exit-status"),
        (["--timeout", "1h"], "a timeout"),
    ] {
        let output = run_in(folder.path(), &options, &archive);
        assert_eq!(output.status.code(), Some(2));
        let message = format!("this is a tar archive; {what} needs one stream");
        assert!(text(&output.stderr).contains(&message), "{options:?}");
    }
}

/// Goal: a member in thousands of folders is judged, too.
#[test]
fn a_deep_member_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("{}b.ndjson", "a/".repeat(20_000));
    fs::write(folder.path().join("runs.tar"), tar(&[(&name, &stream(BAD))])).unwrap();
    let output = run_in(folder.path(), &["--report", "github", "runs.tar"], b"");
    assert_eq!(output.status.code(), Some(1));
}

/// Goal: no cut of a tar archive hides a recording.
/// Method: cut at each block, and within blocks.
#[test]
fn a_truncated_tar_archive_is_named() {
    let good = stream(GOOD);
    let archive = tar(&[("a.ndjson", &good), ("b.ndjson", &good[..512]), ("c.ndjson", &good)]);
    let data = archive.len() - 1024;
    for at in (0..=data).step_by(512).chain([700, data - 1, data + 100]).filter(|at| *at > 262) {
        let output = run_on(&[], &archive[..at]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{at}: {error}");
        assert!(error.contains("truncated"), "{at}: {error}");
        assert_eq!(error.matches("failed to read").count(), 1, "reported once: {error}");
    }
    let mut damaged = archive.clone();
    damaged[150] ^= 1;
    let error = text(&run_on(&[], &damaged).stderr);
    assert!(error.contains("the tar archive is damaged: "), "{error}");
    let error = text(&run_on(&[], &gzip(&archive)[..200]).stderr);
    assert!(error.ends_with("the gzip archive is truncated\n"), "{error}");
    let output = run_on(&[], &tar(&[("README.md", b"{}")]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no *.ndjson or *.jsonl file in this tar archive"));
}

/// Goal: a link in a tar archive hides no recording.
/// Method: links to a recording in the archive, before and behind it, are no news; links to other
/// names, out of the archive, and to nothing are named.
#[test]
fn a_link_in_a_tar_archive_is_checked_or_named() {
    use tar::EntryType::{Link, Symlink};
    let good = stream(GOOD);
    let archived = |name: &str, kind: tar::EntryType, target: &str| {
        let mut archive = tar::Builder::new(Vec::new());
        let mut link = || {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            archive.append_link(&mut header, name, target).unwrap();
        };
        link();
        let link = archive.into_inner().unwrap();
        let link = &link[..link.len() - 1024];
        let files = tar(&[("runs/a.ndjson", &good), ("runs/z.log", &good)]);
        let files = &files[..files.len() - 1024];
        [[link, files, &[0; 1024]].concat(), [files, link, &[0; 1024]].concat()]
    };
    let cases = [
        ("runs/b.ndjson", Symlink, "a.ndjson", true),
        ("latest.ndjson", Symlink, "./runs/../runs/a.ndjson", true),
        ("runs/b.ndjson", Link, "runs/a.ndjson", true),
        ("runs/b.log", Symlink, "nowhere", true),
        ("runs/a.ndjson", Symlink, "nowhere", true),
        ("runs/b.ndjson", Link, "runs/z.log", false),
        ("runs/b.ndjson", Symlink, "z.log", false),
        ("runs/b.ndjson", Symlink, "runs/a.ndjson", false),
        ("runs/b.ndjson", Symlink, "../../a.ndjson", false),
        ("runs/b.ndjson", Symlink, "/runs/a.ndjson", false),
    ];
    for (name, kind, target, is_good) in cases {
        for archive in archived(name, kind, target) {
            let output = run_on(&[], &archive);
            let (code, error) = (output.status.code(), text(&output.stderr));
            assert_eq!(code, Some(if is_good { 0 } else { 2 }), "{name} -> {target}: {error}");
            let named = format!("failed to read {name}: the link leads to no recording");
            assert_eq!(error.contains(&named), !is_good, "{name} -> {target}: {error}");
        }
    }
}

/// Goal: a link leads to a recording over other links, and a circle of links leads nowhere.
#[test]
fn links_to_links_in_a_tar_archive_are_followed() {
    use tar::EntryType::{Link, Symlink};
    let good = stream(GOOD);
    let archived = |links: &[(&str, tar::EntryType, &str)]| {
        let files = tar(&[("a.ndjson", &good)]);
        let mut archive = tar::Builder::new(files[..files.len() - 1024].to_vec());
        for (name, kind, target) in links {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(0);
            archive.append_link(&mut header, name, target).unwrap();
        }
        run_on(&[], &archive.into_inner().unwrap()).status.code()
    };
    let chain = [
        ("c.ndjson", Symlink, "b.ndjson"),
        ("b.ndjson", Link, "latest"),
        ("latest", Symlink, "a.ndjson"),
        ("d.ndjson", Symlink, "c.ndjson"),
    ];
    assert_eq!(archived(&chain), Some(0));
    let circle = [("b.ndjson", Symlink, "c.ndjson"), ("c.ndjson", Symlink, "b.ndjson")];
    assert_eq!(archived(&circle), Some(2));
}

/// Goal: findings that are reported are counted, although their stream cannot be read to its end.
#[test]
fn the_findings_of_a_damaged_archive_are_counted() {
    let whole: Vec<u8> = stream("fixtures/rules/invalid-json/glued-text.ndjson").repeat(400);
    let output = run_on(&["--report", "json"], &gzip(&whole)[..gzip(&whole).len() - 12]);
    let report = text(&output.stdout);
    let found = report.matches(r#""severity":"error""#).count();
    assert!(found > 0 && output.status.code() == Some(2), "{report}");
    assert!(report.contains(&format!(r#""errors":{found},"#)), "{report}");
}

/// Goal: `drift` reads the recordings in an archive; `diff`, which needs one, says so.
#[test]
fn drift_reads_archives_and_diff_refuses_them() {
    let news = "fixtures/agents/claude/unknown-event.ndjson";
    let folder = tempfile::tempdir().unwrap();
    let archive = tar(&[("a.ndjson", &stream(GOOD)), ("b.ndjson", &stream(news))]);
    fs::write(folder.path().join("runs.tar"), archive).unwrap();
    let output = run_in(folder.path(), &["drift", "runs.tar"], b"");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("first runs.tar/b.ndjson:3"), "{}", text(&output.stdout));
    let output = run_in(folder.path(), &["profiles", "draft", "runs.tar"], b"");
    let message = "runs.tar: this is a tar archive; profiles draft needs one stream\n";
    assert!(
        output.status.code() == Some(2) && text(&output.stderr).contains(message),
        "{output:?}"
    );
    let output = run_in(folder.path(), &["diff", "runs.tar", "runs.tar"], b"");
    assert_eq!(output.status.code(), Some(2));
    let message = "runs.tar: this is a tar archive; diff needs one stream\n";
    assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
}

/// Goal: an archive is not played as if it were a stream.
#[test]
fn replay_refuses_an_archive() {
    let archive = tar(&[("a.ndjson", &stream(GOOD))]);
    let output = run_in(root(), &["replay", "-"], &archive);
    let message = "standard input: this is a tar archive; replay needs one stream\n";
    assert!(text(&output.stderr).ends_with(message), "{}", text(&output.stderr));
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(2));
}

/// Goal: a damaged file in a large archive does not hide what the others show.
#[test]
fn unreadable_inputs_may_be_accepted() {
    let broken = &gzip(&stream(GOOD))[..100];
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let code = |arguments: &[&str]| {
        let output = run_in(folder.path(), arguments, b"");
        assert!(text(&output.stderr).contains("archive is truncated"));
        output.status.code()
    };
    write("a.ndjson.gz", broken);
    assert_eq!(code(&["--unreadable", "1", "."]), Some(2));
    write("b.ndjson", &stream(GOOD));
    assert_eq!(code(&["."]), Some(2));
    assert_eq!(code(&["--unreadable", "1", "."]), Some(0));
    write("c.ndjson", &stream(BAD));
    assert_eq!(code(&["--unreadable", "1", "."]), Some(1));
    write("d.ndjson.gz", broken);
    assert_eq!(code(&["--unreadable", "1", "."]), Some(2));
    assert_eq!(code(&["--unreadable", "2", "."]), Some(1));
    // What can be read, and is of no agent, is something else.
    write("e.ndjson", b"{\"kind\":1}\n");
    assert_eq!(code(&["--unreadable", "3", "."]), Some(2));
}

/// Goal: a recording in a folder of an archive has the same name in each check, and none in the
/// repository if the archive came through a pipe.
#[test]
fn recordings_in_archives_have_portable_names() {
    let archive = tar(&[("day/a.ndjson", &stream(BAD)), ("b.ndjson", &stream(BAD))]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("runs.tar"), &archive).unwrap();
    fs::write(folder.path().join("b.ndjson"), stream(GOOD)).unwrap();
    run_in(folder.path(), &["--write-baseline", "known.json", "runs.tar"], b"");
    let absolute = folder.path().join("runs.tar");
    for name in ["runs.tar", "./runs.tar", absolute.to_str().unwrap()] {
        let output = run_in(folder.path(), &["--baseline", "known.json", name], b"");
        // It ended early, which no baseline accepts; with a finding it would be 1.
        assert_eq!(output.status.code(), Some(3), "{name}: {}", text(&output.stdout));
    }
    let output = run_in(folder.path(), &["--report", "github"], &archive);
    let printed = text(&output.stdout);
    assert!(printed.contains("::error ") && !printed.contains("file="), "{printed}");
    let output = run_in(folder.path(), &["--report", "github", "runs.tar"], b"");
    let printed = text(&output.stdout);
    assert!(printed.contains("file=runs.tar/day/a.ndjson,"), "{printed}");
}
