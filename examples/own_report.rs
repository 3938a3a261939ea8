//! A report of one's own: a table of the calls of a stream, and its defects below.
//!
//! `cargo run --example own_report -- fixtures/rules/unfinished-call/one-open.ndjson`

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};

use ndjson_check::{Checker, Event, EventCall, EventKind, Headline, ProducerExit};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let file = std::env::args().nth(1).ok_or("usage: own_report FILE")?;
    io::stdout().write_all(report(&file)?.as_bytes())?;
    Ok(())
}

fn report(name: &str) -> Result<String> {
    let mut file = std::fs::File::open(name)?;
    let mut reader = Checker::builder().build()?.reader(name);
    let mut report = Report::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        reader.feed(&buffer[..count])?.iter().try_for_each(|event| report.take(event))?;
    }
    let end = reader.finish(&ProducerExit::default())?;
    end.events.iter().try_for_each(|event| report.take(event))?;
    let headline = Headline::of(&end.summary, &end.findings).text();
    Ok(format!("{}{}{name}: {headline}\n", report.calls, report.defects))
}

#[derive(Default)]
struct Report {
    calls: String,
    defects: String,
}

impl Report {
    fn take(&mut self, event: &Event<'_>) -> std::fmt::Result {
        match &event.kind {
            EventKind::CallCompleted(it) => {
                let time = it.duration_ms.map_or_else(String::new, |ms| format!("{ms} ms"));
                let added: u64 = it.changes.iter().filter_map(|change| change.added).sum();
                let removed: u64 = it.changes.iter().filter_map(|change| change.removed).sum();
                let lines = if added + removed > 0 {
                    format!("+{added} -{removed}")
                } else {
                    String::new()
                };
                self.row(&it.call, it.outcome.name(), &format!("{time}\t{lines}"))
            }
            EventKind::CallUnfinished(call) => self.row(call, "unfinished", "\t"),
            EventKind::Defect(defect) => {
                let line = event.at.line.unwrap_or_default();
                writeln!(self.defects, "line {line}: {}: {}", defect.rule, defect.message)
            }
            _ => Ok(()),
        }
    }

    fn row(&mut self, call: &EventCall<'_>, outcome: &str, rest: &str) -> std::fmt::Result {
        let kind = call.kind.map_or("", |kind| kind.name());
        let detail = call.detail.as_deref().or(call.tool.as_deref()).unwrap_or_default();
        writeln!(
            self.calls,
            "{}\t{kind}\t{}\t{outcome}\t{rest}",
            call.number,
            detail.escape_debug()
        )
    }
}

#[cfg(test)]
#[test]
fn calls_and_defects_are_listed() -> Result<()> {
    let fixture = |name: &str| format!("{}/fixtures/{name}.ndjson", env!("CARGO_MANIFEST_DIR"));
    let good = report(&fixture("agents/claude/plain"))?;
    assert!(good.contains("3\tcommand\tnpm test -- cart\tsucceeded\t"), "{good}");
    assert!(good.ends_with("plain.ndjson: succeeded\n"), "{good}");
    let bad = report(&fixture("rules/unfinished-call/one-open"))?;
    assert!(bad.contains("\tunfinished\t"), "{bad}");
    assert!(bad.contains(": unfinished-call: "), "{bad}");
    assert!(bad.contains(": a tool call never ended"), "{bad}");
    Ok(())
}
