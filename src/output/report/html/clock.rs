//! When something happened: by the agent's own times, or by the order of the events.

/// When an event came.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// Milliseconds between two events that both have a time. What one event starts and ends took
    /// an unknown time.
    pub(super) fn until(&self, later: &Self) -> Option<f64> {
        (self.event != later.event).then_some(later.ms()? - self.ms()?)
    }
}

/// Reads the times of a stream.
#[derive(Debug, Default)]
pub(super) struct Clock {
    first: Option<f64>,
    last: Option<f64>,
    events: u64,
    /// Events with a time.
    timed: u64,
    line: u64,
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

    /// The latest moment.
    pub(super) fn now(&self) -> Moment {
        Moment { line: self.line, event: self.events, ms: self.last, is_own: false }
    }

    pub(super) fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn axis(&self) -> Axis {
        let length = self.last.filter(|last| *last > 0.0 && self.timed > 1);
        let untimed = self.events - self.timed;
        match length {
            Some(length) => Axis { by_time: true, length, untimed },
            None => Axis { by_time: false, length: count(self.events.max(1)), untimed },
        }
    }
}

/// Where moments are on a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub(super) by_time: bool,
    /// In milliseconds, or in events.
    pub(super) length: f64,
    /// Events without a time.
    pub(super) untimed: u64,
}

impl Axis {
    /// The place on the axis, from 0 to 100; an event is an interval on an axis of events.
    pub(super) fn start(&self, moment: &Moment) -> f64 {
        let at = if self.by_time { moment.ms.unwrap_or(0.0) } else { count(moment.event - 1) };
        self.percent(at)
    }

    pub(super) fn end(&self, moment: &Moment) -> f64 {
        let at = if self.by_time { moment.ms.unwrap_or(0.0) } else { count(moment.event) };
        self.percent(at)
    }

    pub(super) fn percent(&self, at: f64) -> f64 {
        (at / self.length * 100.0).clamp(0.0, 100.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a place in a drawing")]
fn count(number: u64) -> f64 {
    number as f64
}
