//! Checks a stream that arrives in an async task; prints each defect as soon as it is found.
//!
//! `cargo run --example tokio -- fixtures/agents/cursor/plain.ndjson`

use std::io::{self, Write as _};
use std::process::ExitCode;

use ndjson_check::{Checker, Event, EventKind, ProducerExit, Verdict};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    run(std::env::args().nth(1).ok_or("usage: tokio FILE")?).await
}

async fn run(file: String) -> Result<ExitCode> {
    let bytes = std::fs::read(file)?;
    // This task is in place of an agent.
    let (mut agent, output) = tokio::io::duplex(4096);
    let agent = tokio::spawn(async move { agent.write_all(&bytes).await });
    let verdict = tokio::spawn(check(output)).await??;
    agent.await??;
    Ok(ExitCode::from(u8::from(verdict == Verdict::NonConforming)))
}

async fn check(mut output: DuplexStream) -> Result<Verdict> {
    let checker = Checker::builder().build()?;
    let mut chunk = [0; 1024];
    let mut reader = checker.reader("my run");
    loop {
        let count = output.read(&mut chunk).await?;
        if count == 0 {
            break;
        }
        print(&reader.feed(&chunk[..count])?)?;
    }
    let end = reader.finish(&ProducerExit::default())?;
    print(&end.events)?;
    let summary = end.summary;
    writeln!(io::stdout(), "{}, {}, {} events", summary.verdict, summary.outcome, summary.events)?;
    Ok(summary.verdict)
}

fn print(events: &[Event<'_>]) -> Result<()> {
    for event in events {
        if let EventKind::Defect(it) = &event.kind {
            writeln!(io::stdout(), "{}[{}]: {}", it.severity, it.rule, it.message)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[tokio::test]
async fn the_exit_code_shows_the_verdict() -> Result<()> {
    for (stream, code) in [("agents/cursor/plain", 0), ("rules/unfinished-call/one-open", 1)] {
        let file = format!("{}/fixtures/{stream}.ndjson", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(run(file).await?, ExitCode::from(code), "{stream}");
    }
    Ok(())
}
