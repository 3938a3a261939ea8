//! What profiles do not know, as a person reads it.

use ndjson_check_core::{UnknownKind, UnknownName, counted, escape::visible};

use super::stats::{Agent, FoundName, StatsTotals, Unknown};
use super::stats_text::{agent, short};
use crate::limits::STATS_ROWS_MAX;

/// A line for each name that a profile does not know, as many as there is room for.
pub(super) fn all(totals: &StatsTotals) -> Vec<String> {
    let has_several = totals.agents.named.len() > 1;
    let line = |((of, unknown), found): (&(Agent, Unknown), &FoundName)| {
        let owner = if has_several {
            format!("{}: ", agent(&of.0, of.1.as_deref()))
        } else {
            String::new()
        };
        format!("{owner}{}", line(unknown, found))
    };
    let names = &totals.unknown.named;
    let mut lines: Vec<String> = names.iter().take(STATS_ROWS_MAX).map(line).collect();
    let omitted = names.len().saturating_sub(STATS_ROWS_MAX);
    if omitted > 0 {
        lines.push(format!("and {omitted} more: see `ndjson-check drift`"));
    }
    lines
}

pub(super) fn line((kind, of, name): &Unknown, found: &FoundName) -> String {
    let (name, count) = (named(*kind, of.as_deref(), name), found.count);
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    let streams = match found.streams {
        1 => String::new(),
        streams => format!(" in {}", counted(streams, "stream")),
    };
    format!("{name}: {times}{streams}, first {}:{}", visible(&found.path), found.line)
}

/// One name without its counts.
pub(crate) fn name(unknown: &UnknownName) -> String {
    named(unknown.kind, unknown.of.as_deref(), &unknown.name)
}

fn named(kind: UnknownKind, of: Option<&str>, name: &str) -> String {
    let name = if name.is_empty() { "(no name)".to_owned() } else { visible(name).into_owned() };
    let of = of.map(|of| format!(" of {}", short(of))).unwrap_or_default();
    match kind {
        UnknownKind::Value => format!("value \"{name}\"{of}"),
        kind => format!("{} {name}{of}", kind.name()),
    }
}
