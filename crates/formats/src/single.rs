//! What the packages for other languages show of one stream: an output by its name, and the result
//! as JSON.

use std::borrow::Cow;

use ndjson_check_core::{Answer, StreamSummary};
use serde::Serialize;
use serde_json::Value;

use crate::convert::answer_of;
use crate::report::{FirstFindings, Headline, Html, Markdown, PageFolder};
use crate::{Converter, Form, FormStyle, HumanReport, JsonReport, Output, RunTotals, Written};

/// The report whose stream needs stats.
pub const PAGE: &str = "html-report";

/// The output of this name: a form of `--to`, or a report such as `human-report`.
pub fn output(name: &str, style: FormStyle) -> Option<Box<dyn Output>> {
    Some(match name {
        "human-report" => Box::new(HumanReport::default()),
        "json-report" => Box::new(JsonReport::default()),
        "markdown-report" => Box::new(Markdown::comment()),
        PAGE => Box::new(Html::new(no_folder())),
        _ => Box::new(Converter::new(Form::named(name)?, style)),
    })
}

/// There is one stream, and so no folder.
fn no_folder() -> PageFolder {
    PageFolder {
        folder: String::new(),
        index: String::new(),
        write: Box::new(|_, _| Ok(())),
        remove_others: Box::new(|_| Ok(())),
    }
}

/// Ends the output: this was its only stream.
pub fn end(out: &mut Written<Vec<u8>>, summary: &StreamSummary) {
    let mut totals = RunTotals::default();
    totals.add(summary);
    out.end(&totals, totals.exit_code(0));
}

/// The result with the names of the JSON report, the answer of a run that succeeded, and the last
/// message of any.
pub fn summary_json(summary: &StreamSummary, found: &FirstFindings, answer: &Answer) -> String {
    /// The `stream` of the JSON report, and what the agent wrote last.
    #[derive(Serialize)]
    struct JudgedSummary<'a> {
        passed: bool,
        headline: String,
        answer: Cow<'a, str>,
        last_message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        structured: Option<&'a Value>,
        #[serde(flatten)]
        summary: &'a StreamSummary,
    }
    let headline = Headline::new(summary, found);
    let structured = summary.facts.structured.as_ref();
    let judged = JudgedSummary {
        passed: headline.passed,
        headline: headline.text(),
        answer: answer_of(answer, summary.outcome, structured),
        last_message: answer.text(),
        structured,
        summary,
    };
    // Cannot fail: it is plain data.
    serde_json::to_string(&judged).unwrap_or_default()
}
