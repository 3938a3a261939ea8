//! The lines of the axis of a timeline.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::clock::Axis;
use super::timeline::percent;
use super::words::{offset, whole};
use crate::report::summary_text::grouped;

/// Most lines of the axis that have a label.
const TICKS_MAX: f64 = 6.0;

/// The room for such a label, in percent.
const TICK_ROOM: f64 = 9.0;

/// From this place on, a label goes left of its line, in percent: a narrow drawing has no room for
/// it on the right.
const LABEL_END: f64 = 87.0;

pub(super) fn ticks(axis: &Axis, bottom: usize) -> Markup {
    let step = step(axis);
    let label = |at: f64| {
        let early = axis.early;
        if axis.by_time { offset(at - early, step < 1_000.0) } else { grouped(whole(at)) }
    };
    html! {
        g.ticks {
            @for at in tick_places(axis, step) {
                @let x = percent(axis.percent(at));
                @let anchor = if axis.percent(at) > LABEL_END { "end" } else { "start" };
                line x1=(x) x2=(x) y1="0" y2=(bottom + 5) {}
                text x=(x) y=(bottom + 15) text-anchor=(anchor) { (label(at)) }
            }
        }
    }
}

/// For the script: places in percent and the times or events that are there, in pairs.
pub(super) fn points(axis: &Axis) -> String {
    let mut points = String::new();
    for (start, end) in axis.parts() {
        for at in [start, end] {
            // Writing to a string cannot fail.
            let _ = write!(points, "{:.2} {:.0} ", axis.percent(at), at - axis.early);
        }
    }
    points.pop();
    points
}

/// The lines of the axis: where something begins again, and each step from there.
fn tick_places(axis: &Axis, step: f64) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::new();
    let mut free = 0.0;
    for (start, end) in axis.parts() {
        let last = axis.percent(end) - if end < axis.length { TICK_ROOM } else { 0.0 };
        if axis.percent(start) >= free {
            places.push(start);
            free = axis.percent(start) + TICK_ROOM;
        }
        let early = axis.early;
        let mut at = (((start - early) / step).floor() + 1.0) * step + early;
        while at <= end && places.len() < 50 {
            let x = axis.percent(at);
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
