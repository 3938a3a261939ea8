//! The timeline of a run, as a drawing.

use maud::{Markup, html};
use ndjson_check_core::{CallOutcome, Severity, escape::clipped};

use super::blocks::{Blocks, TimeBlock};
use super::clock::{Axis, Gap, Moment};
use super::legend::{in_words, legend};
use super::recording::{Bar, EntryKind, PageEntry, PageFinding, Recording};
use super::words::{OneLine, about, duration, offset, whole};
use crate::report::summary_text::grouped;

/// Rows of calls at the same time in a timeline; what does not fit shares the last one.
const PAGE_LANES_MAX: usize = 12;

/// Heights, in pixels.
const MARKS: usize = 14;
const TEXT: usize = 14;
const LANE: usize = 18;
const BAR: usize = 14;
const TICKS: usize = 20;

/// The narrowest bar with a label, and the shortest one, in percent.
const LABEL_MIN: f64 = 4.0;
const BAR_MIN: f64 = 0.3;

/// The shortest silence, in percent.
pub(super) const SILENCE_MIN: f64 = 1.0;

/// Most lines of the axis that have a label.
const TICKS_MAX: f64 = 6.0;

/// The room for such a label, in percent.
const TICK_ROOM: f64 = 9.0;

/// From this place on, a label goes left of its line, in percent.
const LABEL_END: f64 = 97.0;

/// Where everything is. Horizontal places are percent of the width.
struct Drawing<'r> {
    axis: Axis,
    recording: &'r Recording,
    /// The lane of each bar.
    lanes: Vec<usize>,
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
    let lanes = lanes(recording.bars.as_deref().unwrap_or_default(), &axis);
    let count = lanes.iter().max().map_or(0, |last| last + 1);
    let is_notice = |entry: &PageEntry| matches!(entry.kind, EntryKind::Notice(..));
    let has_marks = recording.findings.iter().any(|it| it.diagnostic.line.is_some())
        || recording.entries.all().any(is_notice);
    let text = if has_marks { MARKS } else { 4 };
    let has_text = !(recording.texts.is_empty() && recording.thoughts.is_empty());
    let calls = if has_text { text + TEXT + 4 } else { text + 4 };
    let count = if recording.bars.is_none() { 2 } else { count };
    let rows = RowHeights { text, calls, bottom: calls + count * LANE };
    let drawing = Drawing { axis, recording, lanes, rows };
    let height = drawing.rows.bottom + TICKS;
    html! {
        section.timeline aria-labelledby="timeline" {
            h2 #timeline { "Timeline" }
            svg role="group" aria-label=(in_words(recording, &drawing.axis))
                width="100%" height=(height) {
                (definitions())
                // The transcript has all of it, and is easier to read aloud.
                g aria-hidden="true" {
                    (drawing.ticks())
                    (drawing.silences())
                    (drawing.texts())
                    (drawing.gaps())
                    (drawing.too_many_bars())
                }
                (drawing.bars())
                g aria-hidden="true" {
                    (drawing.marks())
                    (drawing.notices())
                    (drawing.ends())
                }
            }
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

/// Puts calls that are open at the same time on different lanes: each on the first that is free.
fn lanes(bars: &[Bar], axis: &Axis) -> Vec<usize> {
    let mut ends: Vec<f64> = Vec::new();
    let lane = |bar: &Bar| {
        let (start, end) = span(axis, &bar.start, &bar.end);
        let free = ends.iter().position(|lane_end| *lane_end <= start);
        let lane = free.unwrap_or(ends.len()).min(PAGE_LANES_MAX - 1);
        let end = end.max(start + BAR_MIN / 10.0);
        match ends.get_mut(lane) {
            Some(lane_end) => *lane_end = lane_end.max(end),
            None => ends.push(end),
        }
        lane
    };
    bars.iter().map(lane).collect()
}

fn span(axis: &Axis, start: &Moment, end: &Moment) -> (f64, f64) {
    (axis.start(start), axis.end(end).max(axis.start(start)))
}

impl Drawing<'_> {
    fn ticks(&self) -> Markup {
        let step = step(&self.axis);
        let places = self.tick_places(step);
        let label = |at: f64| {
            let early = self.axis.early;
            if self.axis.by_time { offset(at - early, step < 1_000.0) } else { grouped(whole(at)) }
        };
        let (bottom, last) = (self.rows.bottom, self.rows.bottom + 15);
        html! {
            g.ticks {
                @for at in places {
                    @let x = percent(self.axis.percent(at));
                    @let anchor = if self.axis.percent(at) > LABEL_END { "end" } else { "start" };
                    line x1=(x) x2=(x) y1="0" y2=(bottom + 5) {}
                    text x=(x) y=(last) text-anchor=(anchor) { (label(at)) }
                }
            }
        }
    }

    /// The lines of the axis: where something begins again, and each step from there.
    fn tick_places(&self, step: f64) -> Vec<f64> {
        let mut places: Vec<f64> = Vec::new();
        let mut free = 0.0;
        for (start, end) in self.axis.parts() {
            let last =
                self.axis.percent(end) - if end < self.axis.length { TICK_ROOM } else { 0.0 };
            if self.axis.percent(start) >= free {
                places.push(start);
                free = self.axis.percent(start) + TICK_ROOM;
            }
            let early = self.axis.early;
            let mut at = (((start - early) / step).floor() + 1.0) * step + early;
            while at <= end && places.len() < 50 {
                let x = self.axis.percent(at);
                // The label of the last line goes left of it.
                let room = if x > LABEL_END { TICK_ROOM } else { 0.0 };
                if x >= free + room && x <= last {
                    places.push(at);
                    free = x + TICK_ROOM;
                }
                if at + step <= at {
                    break; // So far from zero a step is nothing.
                }
                at += step;
            }
        }
        places
    }

    fn silences(&self) -> Markup {
        let gaps = &self.axis.gaps;
        let silences = self.recording.entries.all().filter_map(|entry| match entry.kind {
            EntryKind::Silence(ms) => {
                let end = self.axis.at(&entry.at);
                entry.at.ms().map(|_| Gap { start: end - ms, end })
            }
            _ => None,
        });
        // Those that are drawn short are there, also if their entries are left out.
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
            @for (bar, lane) in self.recording.bars.iter().flatten().zip(&self.lanes) {
                (self.bar(bar, *lane))
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

    fn bar(&self, bar: &Bar, lane: usize) -> Markup {
        let (start, end) = span(&self.axis, &bar.start, &bar.end);
        let width = (end - start).max(BAR_MIN);
        let x = percent(start.min(100.0 - BAR_MIN));
        let y = self.rows.calls + lane * LANE;
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
            @for (PageFinding { diagnostic, at }, number) in findings {
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
                @if let EntryKind::Notice(..) = &entry.kind {
                    @let x = percent(self.axis.end(&entry.at).clamp(0.5, 99.5));
                    a href={ "#e" (number) } tabindex="-1" {
                        circle.notice cx=(x) cy="6" r="4" {}
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

/// The distance between two lines of the axis.
fn step(axis: &Axis) -> f64 {
    const TIMES: [f64; 17] = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0,
        1_800.0, 3_600.0, 7_200.0,
    ];
    let least = axis.drawn() / TICKS_MAX;
    if axis.by_time
        && let Some(step) = TIMES.iter().map(|step| step * 1_000.0).find(|step| *step >= least)
    {
        return step;
    }
    // Of events, or of days.
    let power = 10.0_f64.powf(least.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= least).unwrap_or(least)
}

/// How a call ended, as a class of the style.
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

fn percent(value: f64) -> String {
    format!("{value:.2}%")
}
