//! The timeline of a run, as a drawing.

use maud::{Markup, html};
use ndjson_check_core::{CallOutcome, NoticeKind, Severity, escape::clipped};

use super::blocks::{Blocks, TimeBlock};
use super::clock::{Axis, Gap, Moment};
use super::curves::{CURVES, curves};
use super::lanes::{LANE, Lanes};
use super::legend::{in_words, legend};
use super::recording::{Bar, EntryKind, PageEntry, PageFinding, Recording};
use super::ticks;
use super::words::{OneLine, about, duration};

/// Heights, in pixels.
const MARKS: usize = 14;
const TEXT: usize = 14;
const BAR: usize = 14;
const TICKS: usize = 20;

/// The narrowest bar with a label, and the shortest one, in percent.
const LABEL_MIN: f64 = 4.0;
pub(super) const BAR_MIN: f64 = 0.3;

/// The shortest silence, in percent.
pub(super) const SILENCE_MIN: f64 = 1.0;

/// Where everything is. Horizontal places are percent of the width.
struct Drawing<'r> {
    axis: Axis,
    recording: &'r Recording,
    lanes: Lanes,
    rows: RowHeights,
}

/// Vertical places, in pixels.
struct RowHeights {
    text: usize,
    calls: usize,
    bottom: usize,
}

/// The timeline with its legend; nothing for a stream without events.
pub(super) fn timeline(recording: &Recording) -> Markup {
    if recording.clock.events() == 0 {
        return html! {};
    }
    let axis = recording.clock.axis();
    let mut lanes = Lanes::new(recording.bars.as_deref().unwrap_or_default(), &axis);
    if recording.bars.is_none() {
        lanes.height = 2 * LANE;
    }
    let is_notice = |entry: &PageEntry| matches!(entry.kind, EntryKind::Notice(..));
    let has_marks = recording.findings.iter().any(|it| it.diagnostic.line.is_some())
        || recording.entries.all().any(is_notice);
    let text = if has_marks { MARKS } else { 4 };
    let has_text = !(recording.texts.is_empty() && recording.thoughts.is_empty());
    let calls = if has_text { text + TEXT + 4 } else { text + 4 };
    let below = calls + lanes.height;
    let curves = curves(&recording.meter, &axis, below + 4);
    let bottom = below + if curves.is_some() { CURVES } else { 0 };
    let drawing = Drawing { axis, recording, lanes, rows: RowHeights { text, calls, bottom } };
    html! {
        section.timeline aria-labelledby="timeline" {
            h2 #timeline { "Timeline" }
            div.scroll { (drawing.svg(curves.as_ref())) }
            (legend(recording, &drawing.axis))
        }
    }
}

fn definitions() -> Markup {
    html! {
        defs {
            linearGradient #fade {
                stop offset="0" class="solid" {}
                stop offset="1" class="faded" {}
            }
            pattern #hatch width="6" height="6" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                line y2="6" {}
            }
        }
    }
}

/// Where something begins and ends, in percent.
pub(super) fn span(axis: &Axis, start: &Moment, end: &Moment) -> (f64, f64) {
    (axis.start(start), axis.end(end).max(axis.start(start)))
}

impl Drawing<'_> {
    fn svg(&self, curves: Option<&Markup>) -> Markup {
        let height = self.rows.bottom + TICKS;
        html! {
            svg #run role="group" aria-label=(in_words(self.recording, &self.axis))
                width="100%" height=(height) data-axis=(ticks::points(&self.axis))
                data-times[self.axis.by_time] {
                (definitions())
                // The transcript has all of it, and is easier to read aloud.
                g aria-hidden="true" {
                    (ticks::ticks(&self.axis, self.rows.bottom))
                    (self.silences())
                    (self.texts())
                    (self.gaps())
                    (self.too_many_bars())
                    (self.sub_agents())
                    @if let Some(curves) = curves { (curves) }
                }
                (self.bars())
                g aria-hidden="true" {
                    (self.marks())
                    (self.notices())
                    (self.ends())
                }
            }
        }
    }

    /// The titles of the sub-agents.
    fn sub_agents(&self) -> Markup {
        let bars = self.recording.bars.as_deref().unwrap_or_default();
        let title = |parent: u64| {
            let bar = bars.iter().find(|bar| bar.number == parent);
            bar.map_or(String::new(), |bar| {
                let detail = if bar.detail.is_empty() { &bar.tool } else { &bar.detail };
                clipped(detail, 80).into_owned()
            })
        };
        html! {
            @for (parent, top) in &self.lanes.groups {
                @let y = self.rows.calls + top;
                line.group x1="0" x2="100%" y1=(y) y2=(y) {}
                text.group x="2" y=(y + 11) {
                    "sub-agent in call " (parent) " " (OneLine(&title(*parent)))
                }
            }
        }
    }

    fn silences(&self) -> Markup {
        let gaps = &self.axis.gaps;
        let early = self.axis.early;
        let silences = self.recording.silences.iter();
        let silences = silences.map(|it| Gap { start: it.start + early, end: it.end + early });
        // Those that are drawn short have a label.
        let silences = silences.filter(|it| !gaps.iter().any(|gap| gap.has_end(it.end)));
        html! {
            @if self.axis.by_time {
                @for silence in silences { (self.silence(&silence)) }
                @for gap in gaps { (self.silence(gap)) }
            }
        }
    }

    /// How long the times are that are drawn short.
    fn gaps(&self) -> Markup {
        let y = usize::midpoint(self.rows.text, self.rows.bottom) + 4;
        html! {
            @for gap in &self.axis.gaps {
                @let x = self.axis.percent(gap.start).midpoint(self.axis.percent(gap.end));
                text.gap x=(percent(x)) y=(y) text-anchor="middle" { (about(gap.length())) }
            }
        }
    }

    fn silence(&self, silence: &Gap) -> Markup {
        let start = self.axis.percent(silence.start);
        let width = self.axis.percent(silence.end) - start;
        let (y, height) = (self.rows.text, self.rows.bottom - self.rows.text);
        html! {
            @if width >= SILENCE_MIN {
                rect.silence x=(percent(start)) y=(y) width=(percent(width)) height=(height) {}
            }
        }
    }

    fn texts(&self) -> Markup {
        let top = self.rows.text + 3;
        html! {
            (self.blocks(&self.recording.thoughts, "thought", (top, 8)))
            (self.blocks(&self.recording.texts, "text", (top, 8)))
        }
    }

    /// Blocks at this height; each is a link, if its entry is there.
    fn blocks(&self, blocks: &Blocks, class: &str, (top, height): (usize, usize)) -> Markup {
        let block = |block: &TimeBlock| {
            let (start, end) = span(&self.axis, &block.start, &block.end);
            let (x, width) = (start.min(100.0 - BAR_MIN), (end - start).max(BAR_MIN));
            let entry = self.recording.entries.get(block.entry);
            let link = entry.map(|entry| match &entry.kind {
                EntryKind::Call(call) => format!("#c{}", call.number),
                _ => format!("#e{}", block.entry),
            });
            html! {
                a href=[link] tabindex="-1" {
                    rect.(class) x=(percent(x)) y=(top) width=(percent(width)) height=(height) {}
                }
            }
        };
        html! { @for it in blocks.iter() { (block(it)) } }
    }

    fn bars(&self) -> Markup {
        html! {
            @for (bar, top) in self.recording.bars.iter().flatten().zip(&self.lanes.tops) {
                (self.bar(bar, *top))
            }
        }
    }

    fn too_many_bars(&self) -> Markup {
        html! {
            @if self.recording.bars.is_none() {
                (self.blocks(&self.recording.calls, "calls", (self.rows.calls, BAR)))
                (self.blocks(&self.recording.bad_calls, "bad-calls", (self.rows.calls + LANE, BAR)))
            }
        }
    }

    fn bar(&self, bar: &Bar, top: usize) -> Markup {
        let (start, end) = span(&self.axis, &bar.start, &bar.end);
        let width = (end - start).max(BAR_MIN);
        let x = percent(start.min(100.0 - BAR_MIN));
        let y = self.rows.calls + top;
        let detail = clipped(&bar.detail, 60);
        let link = match self.recording.entries.get(bar.entry) {
            Some(_) => format!("#c{}", bar.number),
            None => "#omitted".to_owned(),
        };
        let took = bar.took_ms.map(duration);
        html! {
            a #{ "b" (bar.number) } class=(class(bar.outcome)) href=(link) {
                title {
                    (bar.number) " " (OneLine(&bar.tool)) " " (OneLine(&detail)) ", "
                    (outcome(bar.outcome)) @if let Some(took) = took { ", " (took) }
                }
                rect x=(x) y=(y) width=(percent(width)) height=(BAR) rx="1.5" {}
                @if width >= LABEL_MIN {
                    svg x=(x) y=(y) width=(percent(width)) height=(BAR) {
                        text x="5" y="10.5" { (OneLine(&bar.tool)) " " (OneLine(&detail)) }
                    }
                }
            }
        }
    }

    fn marks(&self) -> Markup {
        let findings = self.recording.findings.iter().zip(1..);
        html! {
            @for (PageFinding { diagnostic, at, .. }, number) in findings {
                @if diagnostic.line.is_some() {
                    @let at = self.axis.end(at).clamp(0.5, 99.5);
                    @let is_error = diagnostic.severity == Severity::Error;
                    a href={ "#f" (number) } tabindex="-1" {
                        svg.mark.error[is_error] x=(percent(at)) y="0"
                            width="10" height="12" overflow="visible" {
                            title { (diagnostic.rule.name()) }
                            path d="M-5 1h10l-5 9z" {}
                        }
                    }
                }
            }
        }
    }

    fn notices(&self) -> Markup {
        let entries = &self.recording.entries;
        html! {
            @for (entry, number) in entries.numbered() {
                @if let EntryKind::Notice(kind, _) = &entry.kind {
                    @let is_error = *kind == NoticeKind::Error;
                    @let x = percent(self.axis.end(&entry.at).clamp(0.5, 99.5));
                    a href={ "#e" (number) } tabindex="-1" {
                        circle.notice.error[is_error] cx=(x) cy="6" r="4" {}
                    }
                }
            }
        }
    }

    fn ends(&self) -> Markup {
        html! {
            @for end in &self.recording.ends {
                @let x = percent(self.axis.end(end).min(99.9));
                line.end x1=(x) x2=(x) y1="0" y2=(self.rows.bottom + 5) {}
            }
        }
    }
}

pub(super) fn class(outcome: Option<CallOutcome>) -> &'static str {
    match outcome {
        Some(CallOutcome::Succeeded | CallOutcome::Unknown) => "good",
        Some(CallOutcome::Failed) => "failed",
        Some(CallOutcome::Rejected | CallOutcome::Denied) => "refused",
        None => "open",
    }
}

pub(super) fn outcome(outcome: Option<CallOutcome>) -> &'static str {
    outcome.map_or("unfinished", CallOutcome::name)
}

pub(super) fn percent(value: f64) -> String {
    format!("{value:.2}%")
}
