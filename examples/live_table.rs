//! Follows several runs at the same time: a table of streams, whose bytes come in any order.
//!
//! `cargo run --example live_table -- FILE...` reads the files in turns, as a server reads sockets.

use std::io::{self, IsTerminal as _, Write};

use ndjson_check::escape::visible;
use ndjson_check::{Checker, Event, EventKind, ProducerExit, Reader, TextSegment};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let mut out = io::stdout();
    let is_live = out.is_terminal();
    let rows = follow(&files, |rows| {
        if is_live {
            // Each table replaces the one before.
            out.write_all(b"\x1b[H\x1b[2J")?;
            print(rows, &mut out)?;
        }
        Ok(())
    })?;
    if !is_live {
        print(&rows, &mut out)?;
    }
    Ok(())
}

fn print(rows: &[Row], out: &mut impl Write) -> io::Result<()> {
    rows.iter().try_for_each(|row| {
        // The model writes the text: it must not control the terminal.
        let Row { name, agent, model, calls, text, outcome } = row;
        let [name, agent, model, text, outcome] =
            [name, agent, model, text, outcome].map(|it| visible(it));
        writeln!(out, "{name}\t{agent}\t{model}\t{calls} calls\t{outcome}\t{text}")
    })
}

/// What is known of a run.
#[derive(Default)]
struct Row {
    name: String,
    agent: String,
    model: String,
    calls: u64,
    /// The latest text.
    text: String,
    outcome: String,
}

impl Row {
    fn take(&mut self, event: Event<'_>) {
        match event.kind {
            EventKind::Session(it) => {
                self.agent = it.profile;
                self.model = it.session.model.unwrap_or_default();
            }
            EventKind::SessionChanged(session) => {
                if let Some(model) = session.model {
                    self.model = model;
                }
            }
            EventKind::CallStarted(_) => self.calls += 1,
            EventKind::Text(TextSegment { text: Some(text), .. }) => {
                self.text = text.trim().into();
            }
            EventKind::End(run) | EventKind::Cut(run) => self.outcome = run.outcome.name().into(),
            _ => {}
        }
    }
}

/// Reads the files in turns, and calls `show` after each turn.
fn follow(files: &[String], mut show: impl FnMut(&[Row]) -> io::Result<()>) -> Result<Vec<Row>> {
    let checker = Checker::builder().build()?;
    let (mut rows, mut streams) = (Vec::new(), Vec::new());
    for file in files {
        rows.push(Row { name: file.clone(), ..Row::default() });
        streams.push(Some((std::fs::read(file)?, checker.reader(file))));
    }
    while streams.iter().any(Option::is_some) {
        for (stream, row) in streams.iter_mut().zip(&mut rows) {
            // A stream of no known agent is over, and the others go on.
            if let Err(error) = turn(stream, row) {
                (row.outcome, *stream) = (error.to_string(), None);
            }
        }
        show(&rows)?;
    }
    Ok(rows)
}

/// The next bytes of a stream; after the last ones, its end, and there is no stream any more.
fn turn(stream: &mut Option<(Vec<u8>, Reader)>, row: &mut Row) -> Result<()> {
    let Some((bytes, reader)) = stream else { return Ok(()) };
    let rest = bytes.split_off(bytes.len().min(1_000));
    for event in reader.feed(&std::mem::replace(bytes, rest))? {
        row.take(event);
    }
    if let Some((_, reader)) = stream.take_if(|(bytes, _)| bytes.is_empty()) {
        // The end shows the last events, and that the run is over.
        for event in reader.finish(&ProducerExit::default())?.events {
            row.take(event);
        }
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn each_stream_has_its_row() -> Result<()> {
    let fixture = |name: &str| format!("{}/fixtures/agents/{name}", env!("CARGO_MANIFEST_DIR"));
    let files = ["cursor/plain", "cursor/is-error", "claude/denials-in-the-result", "codex/cut"]
        .map(|name| fixture(&format!("{name}.ndjson")));
    let mut tables = 0;
    let rows = follow(&files, |rows| {
        tables += usize::from(rows.len() == 4);
        Ok(())
    })?;
    assert!(tables > 5, "{tables}");
    let shown = rows.iter().map(|row| (&*row.agent, row.calls, &*row.outcome));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("cursor", 4, "succeeded"),
            ("cursor", 1, "failed"),
            ("claude", 1, "succeeded"),
            ("codex", 0, "truncated"),
        ]
    );
    assert!(rows[0].text.ends_with("the discount of each item."), "{}", rows[0].text);
    assert_eq!(rows[0].model, "Auto");
    Ok(())
}
