//! A call in the transcript.

use std::borrow::Cow;

use maud::{Markup, html};
use ndjson_check_core::counted;

use super::ansi::Coloured;
use super::arguments::Argument;
use super::excerpt::Excerpt;
use super::folded::folded;
use super::recording::{PageCall, PageEntry};
use super::timeline::{class, outcome};
use super::transcript::at;
use super::words::{OneLine, duration, push_text};

/// Arguments before the others are folded. Those that say nothing always are.
const SHOWN_MAX: usize = 4;

pub(super) fn call(call: &PageCall, entry: &PageEntry, has_bars: bool) -> Markup {
    let tool = if call.tool.is_empty() { "no name" } else { &call.tool };
    let needs_look = class(call.outcome) != "good";
    html! {
        li.call.(class(call.outcome)).inner[call.parent.is_some()] #{ "c" (call.number) }
            data-kind="call" data-tool=(OneLine(tool)) data-outcome=(outcome(call.outcome))
            data-command[call.is_command] {
            (at(entry, &format!("c{}", call.number)))
            details open[needs_look] {
                summary {
                    b.tool { (OneLine(tool)) } " "
                    span.detail { (OneLine(&summary(call))) } " "
                    span.how {
                        @if needs_look { strong { (outcome(call.outcome)) } " " }
                        @if let Some(ms) = call.took_ms { (duration(ms)) }
                    }
                }
                (arguments(call))
                @for change in &call.changes { (change.markup()) }
                @if let Some(result) = call.result.as_ref().filter(|it| !is_diff(it, call)) {
                    @let mut coloured = Coloured::default();
                    div.result {
                        p.label { "result" }
                        (folded(result, |text, out| coloured.push(text, out)))
                    }
                }
                p.about { (about(call, has_bars)) }
            }
        }
    }
}

/// What a call did: as the profile says; else the files that it changed, or how far a plan is.
fn summary(call: &PageCall) -> Cow<'_, str> {
    if !call.detail.is_empty() {
        return Cow::Borrowed(&call.detail);
    }
    let files: Vec<&str> = call.changes.iter().map(|change| &*change.path).collect();
    let steps = call.arguments.iter().find_map(|it| it.steps);
    match (&files[..], steps) {
        ([], Some((done, all))) => Cow::Owned(format!("{done} of {all} done")),
        ([], None) => Cow::Borrowed(""),
        ([one], _) => Cow::Borrowed(one),
        ([first, rest @ ..], _) => Cow::Owned(format!("{first} and {} more", rest.len())),
    }
}

/// What the first line does not say. What a diff says is folded, and how a command is run.
fn arguments(call: &PageCall) -> Markup {
    let is_said = |it: &&Argument| it.value.whole().is_some_and(|text| text == call.detail);
    let (said, rest): (Vec<&Argument>, Vec<&Argument>) = call.arguments.iter().partition(is_said);
    let is_shown_command = call.is_command && !said.is_empty();
    let is_how = |it: &Argument| is_shown_command && it.name != "description";
    let (more, mut shown): (Vec<&Argument>, Vec<&Argument>) =
        rest.into_iter().partition(|it| it.is_empty || is_how(it) || repeats(&it.value, call));
    let mut rest =
        if shown.len() > SHOWN_MAX + 1 { shown.split_off(SHOWN_MAX) } else { Vec::new() };
    rest.extend(more);
    let list = |arguments: &[&Argument]| {
        html! {
            dl {
                @for it in arguments {
                    dt { @if it.name.is_empty() { "arguments" } @else { (OneLine(&it.name)) } }
                    dd { (folded(&it.value, push_text)) }
                }
            }
        }
    };
    html! {
        @if !shown.is_empty() { (list(&shown)) }
        @if !rest.is_empty() {
            details.more {
                summary { "show " (counted(rest.len() as u64, "more argument")) }
                (list(&rest))
            }
        }
    }
}

/// Whether a value says what a reader knows: the id of the call, the path in the first line, or
/// what a diff shows.
fn repeats(value: &Excerpt, call: &PageCall) -> bool {
    let is_path = |text: &str| {
        let folder = text.strip_suffix(&call.detail);
        !call.detail.is_empty() && folder.is_some_and(|folder| folder.ends_with(['/', '\\']))
    };
    value.whole().is_some_and(|text| text == call.id || is_path(text))
        || call.changes.iter().any(|change| change.says(value))
}

fn is_diff(result: &Excerpt, call: &PageCall) -> bool {
    call.changes.iter().any(|change| change.is_said_by(result))
}

fn about(call: &PageCall, has_bars: bool) -> Markup {
    html! {
        "Call " (call.number) ", " (outcome(call.outcome))
        @if let Some(code) = call.exit_code.filter(|code| *code != 0) { ", exit status " (code) }
        ". "
        @match (&call.end, call.is_new) {
            (Some(end), false) => { "Completed in line " (end.line) ". " }
            (Some(_), true) => { "The stream shows only its completion. " }
            (None, _) => { "It was never completed. " }
        }
        @if let Some(parent) = call.parent {
            "A sub-agent made it inside call " (parent) ". "
        }
        @if has_bars { a href={ "#b" (call.number) } { "Show in the timeline" } }
    }
}
