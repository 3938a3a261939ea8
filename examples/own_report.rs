//! A report of one's own: the result and the defects of a stream as one JSON object.
//!
//! `cargo run --example own_report -- fixtures/rules/unfinished-call/one-open.ndjson`

use std::io::{self, Write as _};

use ndjson_check::{Checker, Diagnostic};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let file = std::env::args().nth(1).ok_or("usage: own_report FILE")?;
    writeln!(io::stdout(), "{:#}", report(&file)?)?;
    Ok(())
}

fn report(file: &str) -> Result<Value> {
    let mut checker = Checker::builder().stats(true).build()?;
    let mut defects: Vec<Diagnostic> = Vec::new();
    let summary = checker.check(file, std::fs::File::open(file)?, &mut defects)?;
    Ok(json!({ "result": summary, "defects": defects }))
}

#[cfg(test)]
#[test]
fn the_report_has_the_names_of_the_json_report() -> Result<()> {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/rules/unfinished-call/one-open.ndjson");
    let report = report(file)?;
    assert_eq!(report["result"]["verdict"], "non-conforming");
    assert_eq!(report["result"]["rule_counts"]["unfinished-call"], 1);
    assert_eq!(report["defects"][0]["rule"], "unfinished-call");
    assert_eq!(report["defects"][0]["severity"], "error");
    Ok(())
}
