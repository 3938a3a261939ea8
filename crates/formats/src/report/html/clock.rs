//! When something happened: by the agent's own times, or by the order of the events.

/// Shortest time without an event that a timeline may draw short, in milliseconds.
const PAGE_GAP_MS_MIN: f64 = 60_000.0;

const PAGE_GAPS_MAX: usize = 12;

/// The width of a gap that is drawn short, and of all of them, in percent.
const GAP_WIDTH: f64 = 7.0;
const GAPS_WIDTH_MAX: f64 = 40.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Moment {
    /// The number of its line, from 1.
    pub(super) line: u64,
    /// The number of the event, from 1.
    event: u64,
    /// Milliseconds since the first time in the stream; of an event without a time, those of the
    /// last one before it that has one.
    ms: Option<f64>,
    /// Whether the time is that of the event.
    is_own: bool,
}

impl Moment {
    /// Its own time, in milliseconds since the first one.
    pub(super) fn ms(&self) -> Option<f64> {
        self.ms.filter(|_| self.is_own)
    }

    /// So many milliseconds before it; negative before the first time.
    pub(super) fn earlier(self, ms: f64) -> Self {
        Self { ms: self.ms.map(|at| at - ms), ..self }
    }

    /// Whether nothing shows that time passed from one to the other.
    pub(super) fn is_same_time(&self, other: &Self) -> bool {
        self.line == other.line || self.ms().is_some() && self.ms() == other.ms()
    }

    /// Milliseconds between two events that both have a time. What one event starts and ends took
    /// an unknown time.
    pub(super) fn until(&self, later: &Self) -> Option<f64> {
        (self.event != later.event).then_some(later.ms()? - self.ms()?)
    }
}

#[derive(Debug, Default)]
pub(super) struct Clock {
    first: Option<f64>,
    last: Option<f64>,
    events: u64,
    timed: u64,
    line: u64,
    /// The longest times without an event.
    gaps: Vec<Gap>,
    /// All times without an event that are long, in milliseconds.
    idle_ms: f64,
    /// How long before the first time a call started, in milliseconds.
    early_ms: f64,
}

/// A time in which nothing happened, in milliseconds since the first time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Gap {
    pub(super) fn length(&self) -> f64 {
        self.end - self.start
    }

    pub(super) fn has_end(&self, at: f64) -> bool {
        (self.end - at).abs() < 1.0
    }
}

impl Clock {
    /// The moment of the next event; `time` is in milliseconds. A time that goes back counts as the
    /// last one.
    pub(super) fn tick(&mut self, line: u64, time: Option<f64>) -> Moment {
        self.events += 1;
        self.line = line;
        let time = time.filter(|time| time.is_finite());
        if let Some(time) = time {
            self.timed += 1;
            let first = *self.first.get_or_insert(time);
            let ms = (time - first).max(0.0);
            self.last = Some(self.last.map_or(ms, |last| last.max(ms)));
        }
        Moment { line, event: self.events, ms: self.last, is_own: time.is_some() }
    }

    pub(super) fn now(&self) -> Moment {
        Moment { line: self.line, event: self.events, ms: self.last, is_own: false }
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn idle(&mut self, start: &Moment, end: &Moment) {
        let (Some(start), Some(end)) = (start.ms, end.ms) else { return };
        let gap = Gap { start, end };
        if gap.length() < PAGE_GAP_MS_MIN {
            return;
        }
        self.idle_ms += gap.length();
        let place = self.gaps.partition_point(|it| it.length() >= gap.length());
        if place < PAGE_GAPS_MAX {
            self.gaps.truncate(PAGE_GAPS_MAX - 1);
            self.gaps.insert(place, gap);
        }
    }

    /// A call started at this moment, which may be before the first event.
    pub(super) fn started(&mut self, moment: &Moment) {
        self.early_ms = self.early_ms.max(-moment.ms.unwrap_or_default());
    }

    /// The first time, in milliseconds since 1970 if the agent counts from then.
    pub(super) fn first(&self) -> Option<f64> {
        self.first
    }

    pub(super) fn axis(&self) -> Axis {
        let length = self.last.filter(|last| *last > 0.0 && self.timed > 1);
        let untimed = self.events - self.timed;
        let (by_time, early) = (length.is_some(), self.early_ms);
        let length = length.map_or_else(|| count(self.events.max(1)), |length| length + early);
        let gaps = if by_time { self.short_gaps(length) } else { Vec::new() };
        let gap_width = GAP_WIDTH.min(GAPS_WIDTH_MAX / count(gaps.len().max(1) as u64));
        Axis { by_time, length, early, untimed, gaps, gap_width }
    }

    /// A gap is drawn short if it is longer than all that is not a gap: what happened would have
    /// no room.
    fn short_gaps(&self, length: f64) -> Vec<Gap> {
        let busy = length - self.idle_ms;
        let short = self.gaps.iter().filter(|gap| busy > 0.0 && gap.length() > busy);
        let short =
            short.map(|gap| Gap { start: gap.start + self.early_ms, end: gap.end + self.early_ms });
        let mut short: Vec<Gap> = short.collect();
        short.sort_by(|a, b| a.start.total_cmp(&b.start));
        short
    }
}

#[derive(Debug)]
pub(super) struct Axis {
    pub(super) by_time: bool,
    /// In milliseconds, or in events.
    pub(super) length: f64,
    /// The part of it before the first event.
    pub(super) early: f64,
    /// Events without a time.
    pub(super) untimed: u64,
    /// Times that are drawn short, in their order. Each has the same width.
    pub(super) gaps: Vec<Gap>,
    gap_width: f64,
}

impl Axis {
    /// The length that is drawn in proportion.
    pub(super) fn drawn(&self) -> f64 {
        (self.length - self.gaps.iter().map(Gap::length).sum::<f64>()).max(1.0)
    }

    /// What is between the gaps, from its start to its end.
    pub(super) fn parts(&self) -> Vec<(f64, f64)> {
        let starts = std::iter::once(0.0).chain(self.gaps.iter().map(|gap| gap.end));
        starts.zip(self.gaps.iter().map(|gap| gap.start).chain([self.length])).collect()
    }

    /// The place on the axis, from 0 to 100; an event is an interval on an axis of events.
    pub(super) fn start(&self, moment: &Moment) -> f64 {
        self.percent(if self.by_time { self.at(moment) } else { count(moment.event - 1) })
    }

    pub(super) fn end(&self, moment: &Moment) -> f64 {
        self.percent(if self.by_time { self.at(moment) } else { count(moment.event) })
    }

    /// Milliseconds since the beginning of the axis.
    pub(super) fn at(&self, moment: &Moment) -> f64 {
        moment.ms.unwrap_or(0.0) + self.early
    }

    pub(super) fn percent(&self, at: f64) -> f64 {
        let at = at.clamp(0.0, self.length);
        let (mut before, mut gaps) = (at, 0.0);
        for gap in self.gaps.iter().filter(|gap| gap.start < at) {
            let part = at.min(gap.end) - gap.start;
            before -= part;
            gaps += self.gap_width * part / gap.length();
        }
        let room = 100.0 - self.gap_width * count(self.gaps.len() as u64);
        (before / self.drawn() * room + gaps).clamp(0.0, 100.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(times: &[f64]) -> Axis {
        let mut clock = Clock::default();
        let moments: Vec<Moment> =
            times.iter().zip(1..).map(|(time, line)| clock.tick(line, Some(*time))).collect();
        for pair in moments.windows(2) {
            clock.idle(&pair[0], &pair[1]);
        }
        clock.axis()
    }

    /// Goal: gaps are drawn short only where they would leave no room, and never out of order.
    #[test]
    fn long_gaps_are_short() {
        let minute = 60_000.0;
        let busy = axis(&[0.0, 50_000.0, 100_000.0, 161_000.0]);
        assert!(busy.gaps.is_empty(), "{busy:?}");
        let times = [0.0, minute / 2.0, 31.0 * minute, 31.5 * minute, 91.5 * minute];
        let axis = axis(&times);
        let lengths: Vec<f64> = axis.gaps.iter().map(|gap| gap.length() / minute).collect();
        assert_eq!(lengths, [30.5, 60.0]);
        let places: Vec<f64> = times.iter().map(|time| axis.percent(*time).round()).collect();
        assert_eq!(places, [0.0, 43.0, 50.0, 93.0, 100.0]);
        assert!(axis.percent(10.0 * minute) < axis.percent(20.0 * minute));
        assert_eq!(axis.parts().len(), 3);
    }

    /// Goal: of many equal gaps those that fit are drawn short.
    #[test]
    fn many_gaps_are_short() {
        let bursts =
            (0..15_u32).flat_map(|hour| [0.0, 1_000.0].map(|ms| f64::from(hour) * 3.6e6 + ms));
        let axis = axis(&bursts.collect::<Vec<_>>());
        assert_eq!(axis.gaps.len(), PAGE_GAPS_MAX);
    }

    /// Goal: a call that began before the first event is on the axis, and so is all after it.
    #[test]
    fn an_axis_begins_with_the_first_call() {
        let mut clock = Clock::default();
        let first = clock.tick(1, Some(5_000.0));
        let second = clock.tick(2, Some(6_000.0));
        let start = second.earlier(4_000.0);
        clock.started(&start);
        let axis = clock.axis();
        let places = [&start, &first, &second].map(|moment| axis.start(moment));
        assert_eq!((axis.length, axis.early, places), (4_000.0, 3_000.0, [0.0, 75.0, 100.0]));
    }

    /// Goal: two events with nothing between them have a whole axis.
    #[test]
    fn a_gap_alone_has_the_whole_axis() {
        let axis = axis(&[5.0, 3_600_000.0]);
        assert!(axis.gaps.is_empty());
        assert!(axis.percent(axis.length) > 99.0);
    }
}
