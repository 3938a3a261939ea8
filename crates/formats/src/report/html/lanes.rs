//! Rows of a timeline: calls at the same time are below each other, and those of a sub-agent are
//! apart.

use super::clock::Axis;
use super::recording::Bar;
use super::timeline::{BAR_MIN, span};

/// Rows of calls of the agent itself, and of each sub-agent; what does not fit shares the last one.
const PAGE_LANES_MAX: usize = 12;
const INNER_LANES_MAX: usize = 4;

/// Sub-agents with rows of their own; the others share those of the last one.
const GROUPS_MAX: usize = 8;

/// Heights of a row, and of the title of a sub-agent, in pixels.
pub(super) const LANE: usize = 18;
const TITLE: usize = 15;

/// Where bars are from top to bottom, in pixels.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// Of each bar.
    pub(super) tops: Vec<usize>,
    /// Of each sub-agent: the call that it works in, and the top of its title.
    pub(super) groups: Vec<(u64, usize)>,
    pub(super) height: usize,
}

struct LaneGroup {
    parent: Option<u64>,
    /// Where the last bar of each row ends.
    ends: Vec<f64>,
}

impl Lanes {
    pub(super) fn new(bars: &[Bar], axis: &Axis) -> Self {
        let mut groups = vec![LaneGroup { parent: None, ends: Vec::new() }];
        let places: Vec<(usize, usize)> =
            bars.iter().map(|bar| place(bar, axis, &mut groups)).collect();
        let (mut tops, mut titles, mut height) = (Vec::new(), Vec::new(), 0);
        for group in &groups {
            if let Some(parent) = group.parent {
                titles.push((parent, height));
                height += TITLE;
            }
            tops.push(height);
            height += group.ends.len() * LANE;
        }
        let tops = places.into_iter().map(|(group, lane)| tops[group] + lane * LANE).collect();
        Self { tops, groups: titles, height }
    }
}

/// The group of a bar, and the first of its rows that is free.
fn place(bar: &Bar, axis: &Axis, groups: &mut Vec<LaneGroup>) -> (usize, usize) {
    let known = groups.iter().position(|group| group.parent == bar.parent);
    let group = known.unwrap_or_else(|| {
        if groups.len() <= GROUPS_MAX {
            groups.push(LaneGroup { parent: bar.parent, ends: Vec::new() });
        }
        groups.len() - 1
    });
    let ends = &mut groups[group].ends;
    let max = if bar.parent.is_none() { PAGE_LANES_MAX } else { INNER_LANES_MAX };
    let (start, end) = span(axis, &bar.start, &bar.end);
    let free = ends.iter().position(|lane_end| *lane_end <= start);
    let lane = free.unwrap_or(ends.len()).min(max - 1);
    let end = end.max(start + BAR_MIN / 10.0);
    match ends.get_mut(lane) {
        Some(lane_end) => *lane_end = lane_end.max(end),
        None => ends.push(end),
    }
    (group, lane)
}
