//! What the timeline shows, in words.

use maud::{Markup, html};
use ndjson_check_core::{Severity, counted};

use super::clock::Axis;
use super::recording::{Bar, EntryKind, Recording};
use super::timeline::{SILENCE_MIN, class};
use super::words::duration;
use crate::report::summary_text::grouped;

/// The timeline for those who do not see it.
pub(super) fn in_words(recording: &Recording, axis: &Axis) -> String {
    let calls = match recording.calls.count() {
        0 => return "No tool calls".to_owned(),
        count => counted(count, "tool call"),
    };
    if axis.by_time {
        format!("{calls} in {}, in the order of their first events", duration(axis.length))
    } else {
        format!("{calls}, in the order of their first events")
    }
}

pub(super) fn legend(recording: &Recording, axis: &Axis) -> Markup {
    let bars = recording.bars.as_deref();
    let has = |wanted: fn(&Bar) -> bool| bars.unwrap_or_default().iter().any(wanted);
    let is_notice = |kind: &EntryKind| matches!(kind, EntryKind::Notice(..));
    let has_notice = recording.entries.all().any(|entry| is_notice(&entry.kind));
    let is_shown = |ms: f64| ms >= axis.drawn() * SILENCE_MIN / 100.0;
    let has_silence = axis.by_time
        && (recording.silences.iter().any(|it| is_shown(it.length())) || !axis.gaps.is_empty());
    let finds = |severity: Severity| {
        let found = recording.findings.iter().map(|it| &it.diagnostic);
        found.filter(|it| it.line.is_some()).any(|it| it.severity == severity)
    };
    let entries = [
        (!recording.texts.is_empty(), "text", "text"),
        (!recording.thoughts.is_empty(), "thought", "reasoning"),
        (bars.is_none() || has(|bar| class(bar.outcome) == "good"), "good", "tool call"),
        (has(|bar| class(bar.outcome) == "failed"), "failed", "failed"),
        (bars.is_none() && !recording.bad_calls.is_empty(), "failed", "not successful"),
        (has(|bar| class(bar.outcome) == "refused"), "refused", "refused"),
        (has(|bar| class(bar.outcome) == "open"), "open", "never completed"),
        (recording.meter.curves().1, "tokens", "tokens"),
        (recording.meter.curves().2, "cost", "cost"),
        (has_notice, "notice", "notice"),
        (has_silence, "silence", "no event"),
        (!recording.ends.is_empty(), "end", "terminal event"),
        (finds(Severity::Warning), "mark", "warning"),
        (finds(Severity::Error), "mark error", "error"),
    ];
    html! {
        p.legend {
            @for (_, class, words) in entries.iter().filter(|entry| entry.0) {
                span class=(class) { (words) } " "
            }
            span.axis {
                @if !axis.by_time { "The stream has no times: events are in their order. " }
                @if !axis.gaps.is_empty() { "Gaps with a label are drawn short. " }
                @if axis.by_time && axis.untimed > 0 {
                    (grouped(axis.untimed)) " of " (grouped(recording.clock.events()))
                    " events have no time of their own. "
                }
                @if bars.is_none() {
                    (grouped(recording.calls.count()))
                    " calls are too many to be shown one by one: a block has several."
                }
            }
            // For the script, which shows it while a bar has the focus.
            span.keys hidden {
                "Arrow keys go from bar to bar, Enter to the call; + and − zoom. "
            }
            button.reset type="button" hidden { "Show all" }
        }
    }
}
