//! Tokens and cost over time, below the calls of a timeline.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::clock::Axis;
use super::meter::{Meter, MeterPoint};
use crate::report::summary_text::{dollars, short};

/// The height of the curves, in pixels.
pub(super) const CURVES: usize = 34;

/// A path needs plain numbers: the drawing is so many units wide.
const WIDTH: f64 = 1_000.0;

pub(super) fn curves(meter: &Meter, axis: &Axis, top: usize) -> Option<Markup> {
    let (points, has_tokens, has_cost) = meter.curves();
    let last = points.last().filter(|_| has_tokens || has_cost)?;
    #[expect(clippy::cast_precision_loss, reason = "to draw it")]
    let tokens = |point: &MeterPoint| point.tokens as f64;
    let tokens = has_tokens.then(|| path(points, axis, tokens));
    let cost = has_cost.then(|| path(points, axis, |point| point.cost));
    let labels = [
        tokens.is_some().then(|| format!("{} tokens", short(last.tokens))),
        cost.is_some().then(|| dollars(last.cost)),
    ];
    let label = labels.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let height = CURVES - 6;
    Some(html! {
        svg.curves x="0" y=(top) width="100%" height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } preserveAspectRatio="none" {
            @if let Some(tokens) = &tokens {
                path.tokens d={ (tokens) " L" (WIDTH) " " (height) " L0 " (height) "Z" } {}
            }
            @if let Some(cost) = &cost { path.cost d=(cost) {} }
        }
        text.curve x="2" y=(top + 10) { (label) }
    })
}

/// A line that goes up where something was used.
fn path(points: &[MeterPoint], axis: &Axis, value: impl Fn(&MeterPoint) -> f64) -> String {
    let most = points.last().map_or(1.0, &value).max(f64::MIN_POSITIVE);
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let height = (CURVES - 6) as f64;
    let mut path = format!("M0 {height}");
    let mut last = height;
    for point in points {
        let x = axis.end(&point.at) * WIDTH / 100.0;
        let y = height - value(point) / most * (height - 2.0);
        // Writing to a string cannot fail.
        let _ = write!(path, " L{x:.1} {last:.1} L{x:.1} {y:.1}");
        last = y;
    }
    let _ = write!(path, " L{WIDTH} {last:.1}");
    path
}
