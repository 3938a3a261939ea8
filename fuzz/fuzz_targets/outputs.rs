//! Every report and form can be read by the parser of its format.

#![no_main]

#[path = "../../tests/support/page_tags.rs"]
mod page_tags;

use libfuzzer_sys::fuzz_target;
use ndjson_check::{Checker, Converter, Form, FormStyle, JsonReport, Output, RunTotals, Written};
use ndjson_check_formats::report::{
    Annotations, Html, HumanReport, Junit, Markdown, PageFolder, Sarif,
};
use page_tags::{is_ours, tags};
use pulldown_cmark::{Event, Options, Parser, Tag};
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

/// A page has our tags and attributes only.
fn is_our_page(page: &str) {
    for (name, attributes) in tags(page) {
        assert!(is_ours(&name), "<{name}>");
        for (key, value) in attributes {
            let is_code = key.starts_with("on") || key == "src" || key == "style";
            let is_link = key == "href" && value.trim_start().starts_with("javascript");
            assert!(!is_code && !is_link, "<{name} {key}={value:?}>");
        }
    }
}

/// All markup of a comment is ours: its mark, and links to the pages of rules.
fn is_our_comment(markdown: &str) {
    let mut html = 0;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => html += 1,
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.contains("/crates/core/src/rules/"), "{dest_url}");
            }
            Event::Start(Tag::Image { dest_url, .. }) => panic!("{dest_url}"),
            _ => {}
        }
    }
    assert_eq!(html, 1, "{markdown}");
}

fn html() -> Html {
    Html::new(PageFolder {
        folder: "pages".to_owned(),
        index: "index.html".to_owned(),
        write: Box::new(|_, _| Ok(())),
        remove_others: Box::new(|_| Ok(())),
    })
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
        is_our_comment(&markdown);
        let page = written(checker, stream, html());
        is_plain(&page);
        is_our_page(&page);
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
        lines_are_json(&written(checker, stream, Converter::new(Form::Events, FormStyle::default())));
        for form in [Form::ChromeTrace, Form::OtlpJson, Form::Atif] {
            let whole = written(checker, stream, Converter::new(form, FormStyle::default()));
            if !whole.is_empty() {
                serde_json::from_str::<Value>(&whole).expect("JSON");
            }
        }
        for form in [Form::Text, Form::Transcript, Form::Answer] {
            is_plain(&written(checker, stream, Converter::new(form, FormStyle::default())));
        }
    });
});
