//! Checks a stream that arrives in an async task; prints each diagnostic as soon as it is found.
//!
//! `cargo run --example tokio -- fixtures/agents/cursor/plain.ndjson`

use std::io::{self, Write as _};
use std::process::ExitCode;

use ndjson_check::{Checker, Diagnostic, ProducerExit, Verdict};
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
    let mut checker = Checker::builder().build()?;
    let (mut diagnostics, mut chunk) = (Vec::new(), [0; 1024]);
    let mut stream = checker.stream("my run");
    loop {
        let count = output.read(&mut chunk).await?;
        if count == 0 {
            break;
        }
        stream.feed(&chunk[..count], &mut diagnostics)?;
        print(&mut diagnostics)?;
    }
    let summary = stream.finish(&ProducerExit::default(), &mut diagnostics)?;
    print(&mut diagnostics)?;
    let (verdict, outcome) = (summary.verdict.name(), summary.outcome.name());
    writeln!(io::stdout(), "{verdict}, {outcome}, {} events", summary.events)?;
    Ok(summary.verdict)
}

fn print(diagnostics: &mut Vec<Diagnostic>) -> Result<()> {
    for it in diagnostics.drain(..) {
        writeln!(io::stdout(), "{}[{}]: {}", it.severity.name(), it.rule, it.message)?;
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
