//! Every report and form can be read by the parser of its format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ndjson_check::{Checker, Converter, Form, JsonReport, Output, RunTotals, Written};
use ndjson_check_formats::report::{Annotations, HumanReport, Junit, Markdown, Sarif};
use serde_json::Value;

thread_local! {
    static CHECKERS: Vec<Checker> = ["claude", "cursor", "codex", "acp", "jsonl"]
        .map(|name| Checker::builder().profile(name).stats(true).build().expect("built in"))
        .to_vec();
}

fn written(checker: &Checker, stream: &[u8], output: impl Output + 'static) -> String {
    let (mut checker, mut out) = (checker.clone(), Vec::new());
    let mut written: Written<_> = Written::new(&mut out, Box::new(output) as Box<dyn Output>);
    let mut totals = RunTotals::default();
    match checker.check("a \u{1b}<b>.ndjson", stream, &mut written) {
        Ok(summary) => totals.add(&summary),
        Err(error) => {
            totals.not_checked += 1;
            written.error(&error.to_string());
        }
    }
    written.end(&totals, 1);
    drop(written);
    String::from_utf8(out).expect("text")
}

fn is_plain(text: &str) {
    let is_bad = |it: char| {
        it.is_control() && it != '\n' && it != '\t' || ('\u{202a}'..='\u{202e}').contains(&it)
    };
    assert!(!text.contains(is_bad), "{text:?}");
}

fn lines_are_json(text: &str) {
    for line in text.lines() {
        serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}

fuzz_target!(|data: &[u8]| {
    let [profile, stream @ ..] = data else { return };
    CHECKERS.with(|checkers| {
        let checker = &checkers[usize::from(*profile) % checkers.len()];
        let json = written(checker, stream, JsonReport::default());
        lines_are_json(&json);
        is_plain(&json);
        is_plain(&written(checker, stream, HumanReport::new(false)));
        let markdown = written(checker, stream, Markdown::comment());
        is_plain(&markdown);
        assert!(markdown.len() < 65_536 && !markdown.contains("<script"));
        let sarif = Sarif::new(Box::new(|name| Some(name.to_owned())), Box::new(str::to_owned));
        lines_are_json(&written(checker, stream, sarif).replace('\n', " "));
        let annotations = written(checker, stream, Annotations::new(Box::new(|_| None)));
        for line in annotations.lines() {
            let is_own =
                ["::error", "::warning", "::notice"].iter().any(|own| line.starts_with(own));
            assert!(is_own, "{line}");
        }
        let junit = written(checker, stream, Junit::default());
        let mut reader = quick_xml::Reader::from_str(&junit);
        while !matches!(reader.read_event().expect("XML"), quick_xml::events::Event::Eof) {}
        lines_are_json(&written(checker, stream, Converter::new(Form::Events, false)));
        for form in [Form::ChromeTrace, Form::OtlpJson, Form::Atif] {
            let whole = written(checker, stream, Converter::new(form, false));
            if !whole.is_empty() {
                serde_json::from_str::<Value>(&whole).expect("JSON");
            }
        }
        for form in [Form::Text, Form::Transcript, Form::Answer] {
            is_plain(&written(checker, stream, Converter::new(form, false)));
        }
    });
});
