//! The search and the filter of a page: hidden without the script.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use ndjson_check_core::NoticeKind;

use super::recording::{EntryKind, PageEntry, Recording};
use super::timeline::{class, outcome};
use super::words::OneLine;

/// Tools that have a chip: those with most calls.
const TOOLS_MAX: usize = 16;

/// A chip: what it shows, its words, and how many entries it has.
type Chip<'r> = (&'r str, &'r str, u64);

pub(super) fn filter(recording: &Recording) -> Markup {
    let entries = &recording.entries;
    let count = |wanted: fn(&EntryKind) -> bool| {
        entries.all().filter(|it| !it.is_blank() && wanted(&it.kind)).count() as u64
    };
    let answers = u64::from(recording.answer.is_some());
    let kinds = [
        ("text", "text", count(|it| matches!(it, EntryKind::Text(_))) + answers),
        ("call", "tool calls", count(|it| matches!(it, EntryKind::Call(_)))),
        ("thought", "reasoning", count(|it| matches!(it, EntryKind::Thought(_)))),
        ("notice", "notices", count(|it| matches!(it, EntryKind::Notice(..)))),
        ("finding", "findings", recording.findings.len() as u64),
    ];
    let mut tools: BTreeMap<&str, u64> = BTreeMap::new();
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for call in entries.calls() {
        *tools.entry(if call.tool.is_empty() { "no name" } else { &call.tool }).or_default() += 1;
        *outcomes.entry(outcome(call.outcome)).or_default() += 1;
    }
    let chips = |counts: BTreeMap<&'static str, u64>| {
        counts.into_iter().map(|(name, count)| (name, name, count)).collect::<Vec<Chip<'_>>>()
    };
    let outcomes = chips(outcomes);
    let mut tools: Vec<Chip<'_>> = tools.into_iter().map(|(it, count)| (it, it, count)).collect();
    tools.sort_by_key(|(name, _, count)| (Reverse(*count), *name));
    tools.truncate(TOOLS_MAX);
    let has_failure = entries.calls().any(|call| class(call.outcome) != "good")
        || !recording.findings.is_empty()
        || count(|it| matches!(it, EntryKind::Notice(NoticeKind::Error, _))) > 0;
    let is_empty = entries.all().all(PageEntry::is_blank) && answers == 0;
    if is_empty && recording.findings.len() < 2 {
        // There is nothing to search.
        return html! {};
    }
    html! {
        form #filter hidden role="search" {
            div.find {
                input type="search" name="search" autocomplete="off" placeholder="Search"
                    aria-label="Search";
                button type="button" name="previous" aria-label="previous hit" { "↑" }
                button type="button" name="next" aria-label="next hit" { "↓" }
            }
            output {}
            (group("kind", "what", &kinds))
            (group("outcome", "outcomes", &outcomes))
            (group("tool", "tools", &tools))
            p.actions {
                @if has_failure { button type="button" name="failure" { "Next failure" } " " }
                button type="button" name="fold" { "Unfold all" } " "
                button type="button" name="copy" { "Copy as text" }
            }
            p.keys {
                kbd { "/" } " search, " kbd { "n" } " next hit, "
                kbd { "j" } " " kbd { "k" } " next and previous entry"
                @if has_failure { ", " kbd { "f" } " next failure" }
            }
        }
    }
}

/// Chips, if there is a choice.
fn group(key: &str, title: &str, chips: &[Chip<'_>]) -> Markup {
    let shown = || chips.iter().filter(|(.., count)| *count > 0);
    html! {
        @if shown().count() > 1 {
            div.chips role="group" aria-label=(title) {
                @for (value, words, count) in shown() {
                    button type="button" name=(key) value=(OneLine(value)) aria-pressed="false" {
                        (OneLine(words)) " " small { (count) }
                    }
                }
            }
        }
    }
}
