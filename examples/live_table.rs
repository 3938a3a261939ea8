//! Follows several runs at the same time: a table of streams, whose bytes come in any order.
//!
//! `cargo run --example live_table -- FILE...` reads the files in turns, as a server reads sockets.

use std::io::{self, Write as _};

use ndjson_check::escape::visible;
use ndjson_check::{Checker, Event, EventKind, ProducerExit, Reader, TextSegment};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for row in follow(&files)? {
        // The model writes the text: it must not control the terminal.
        let [name, agent, model, text] =
            [&row.name, &row.agent, &row.model, &row.text].map(|it| visible(it));
        let Row { calls, outcome, .. } = &row;
        writeln!(io::stdout(), "{name}\t{agent}\t{model}\t{calls} calls\t{outcome}\t{text}")?;
    }
    Ok(())
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

fn follow(files: &[String]) -> Result<Vec<Row>> {
    let checker = Checker::builder().build()?;
    let mut streams: Vec<(Vec<u8>, Reader, Row)> = Vec::new();
    for file in files {
        let row = Row { name: file.clone(), ..Row::default() };
        streams.push((std::fs::read(file)?, checker.reader(file), row));
    }
    while streams.iter().any(|(bytes, ..)| !bytes.is_empty()) {
        for (bytes, reader, row) in &mut streams {
            let rest = bytes.split_off(bytes.len().min(100));
            for event in reader.feed(&std::mem::replace(bytes, rest))? {
                row.take(event);
            }
        }
    }
    let mut rows = Vec::new();
    for (_, reader, mut row) in streams {
        // The end shows the last events, and that the run is over.
        for event in reader.finish(&ProducerExit::default())?.events {
            row.take(event);
        }
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
#[test]
fn each_stream_has_its_row() -> Result<()> {
    let fixture = |name: &str| format!("{}/fixtures/agents/{name}", env!("CARGO_MANIFEST_DIR"));
    let files = ["cursor/plain", "cursor/is-error", "claude/denials-in-the-result", "codex/cut"]
        .map(|name| fixture(&format!("{name}.ndjson")));
    let rows = follow(&files)?;
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
