//! Follows several runs at the same time: a table of streams, whose bytes come in any order.
//!
//! `cargo run --example live_table -- FILE...` reads the files in turns, as a server reads sockets.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use ndjson_check::{Checker, EventKind, ProducerExit, Reader};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for (name, line) in follow(&files)? {
        writeln!(io::stdout(), "{name}: {line}")?;
    }
    Ok(())
}

/// How each run ended, and how many calls it made.
fn follow(files: &[String]) -> Result<BTreeMap<String, String>> {
    let checker = Checker::builder().build()?;
    let mut streams: BTreeMap<String, (Vec<u8>, Reader, u64)> = BTreeMap::new();
    for file in files {
        let bytes = std::fs::read(file)?;
        streams.insert(file.clone(), (bytes, checker.reader(file), 0));
    }
    while streams.values().any(|(bytes, ..)| !bytes.is_empty()) {
        for (bytes, reader, calls) in streams.values_mut() {
            let rest = bytes.split_off(bytes.len().min(100));
            let chunk = std::mem::replace(bytes, rest);
            let events = reader.feed(&chunk)?;
            let started = |kind: &EventKind<'_>| matches!(kind, EventKind::CallStarted(_));
            *calls += events.iter().filter(|event| started(&event.kind)).count() as u64;
        }
    }
    let mut lines = BTreeMap::new();
    for (file, (_, reader, calls)) in streams {
        let summary = reader.finish(&ProducerExit::default())?.summary;
        lines.insert(file, format!("{}, {calls} calls", summary.outcome.name()));
    }
    Ok(lines)
}

#[cfg(test)]
#[test]
fn each_stream_of_the_table_has_its_own_end() -> Result<()> {
    let fixture = |name: &str| format!("{}/fixtures/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    let names =
        ["agents/cursor/plain", "agents/cursor/is-error", "agents/claude/denials-in-the-result"];
    let files: Vec<String> = names.iter().map(|name| fixture(name)).collect();
    let lines = follow(&files)?;
    let ends: Vec<&String> = files.iter().map(|file| &lines[file]).collect();
    assert_eq!(ends, ["succeeded, 4 calls", "failed, 1 calls", "succeeded, 1 calls"]);
    Ok(())
}
