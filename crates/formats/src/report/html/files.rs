//! The files that a run changed.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ndjson_check_core::StreamSummary;

use super::diff::{PageChange, counts};
use super::words::OneLine;

const COUNTED_MAX: usize = 1_000;
const LISTED_MAX: usize = 200;

/// Files that are listed without a fold.
const SHOWN_MAX: usize = 8;

#[derive(Debug, Default)]
pub(super) struct ChangedFiles(BTreeMap<String, FileLines>);

#[derive(Debug, Clone, Copy)]
struct FileLines {
    call: u64,
    added: Option<u64>,
    removed: Option<u64>,
}

impl ChangedFiles {
    pub(super) fn add(&mut self, changes: &[PageChange], call: u64) {
        for change in changes {
            if self.0.len() == COUNTED_MAX && !self.0.contains_key(&change.path) {
                continue;
            }
            let none = FileLines { call, added: None, removed: None };
            let lines = self.0.entry(change.path.clone()).or_insert(none);
            let sum = |known: Option<u64>, more: Option<u64>| match (known, more) {
                (Some(known), Some(more)) => Some(known.saturating_add(more)),
                (known, more) => known.or(more),
            };
            lines.added = sum(lines.added, change.added);
            lines.removed = sum(lines.removed, change.removed);
        }
    }

    /// `is_shown` says whether a call is in the transcript.
    pub(super) fn list(&self, summary: &StreamSummary, is_shown: impl Fn(u64) -> bool) -> Markup {
        let mut names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        let said = summary.facts.files.iter().flatten().map(String::as_str);
        names.extend(said.filter(|name| !self.0.contains_key(*name)));
        let item = |name: &&str| {
            let lines = self.0.get(*name);
            let link = lines.map(|it| it.call).filter(|call| is_shown(*call));
            html! {
                li {
                    a href=[link.map(|call| format!("#c{call}"))] { code { (OneLine(name)) } } " "
                    @if let Some(lines) = lines { (counts(lines.added, lines.removed)) }
                }
            }
        };
        let items: Vec<Markup> = names.iter().take(LISTED_MAX).map(item).collect();
        let (first, rest) = items.split_at(items.len().min(SHOWN_MAX));
        html! {
            @if !items.is_empty() {
                div.files {
                    p.label { "changed files" }
                    ul { @for item in first { (item) } }
                    @if !rest.is_empty() {
                        details.more {
                            summary { "show " (names.len() - first.len()) " more" }
                            ul {
                                @for item in rest { (item) }
                                @if names.len() > LISTED_MAX {
                                    li { "and " (names.len() - LISTED_MAX) " more" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
