//! Times for formats that need one for everything.

use ndjson_check_core::EventTime;

/// Gives the time of each event: that of the stream, or its order if the stream has no times.
///
/// The choice is made when a time is first needed, and does not change. Times never go back.
#[derive(Debug, Default)]
pub(super) struct TraceClock {
    has_times: Option<bool>,
    first_ms: u64,
    latest: ClockTime,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClockTime {
    line: u64,
    time_ms: Option<u64>,
}

impl ClockTime {
    pub(super) fn is_same_time(self, other: Self) -> bool {
        self.time_ms == other.time_ms
    }

    pub(super) fn min(self, other: Self) -> Self {
        if other.time_ms.is_some() && other.time_ms < self.time_ms { other } else { self }
    }

    /// An earlier time, if there are times.
    pub(super) fn before(self, duration_ms: u64) -> Self {
        Self { time_ms: self.time_ms.map(|time_ms| time_ms.saturating_sub(duration_ms)), ..self }
    }
}

impl TraceClock {
    /// An event without a time has that of the one before.
    pub(super) fn now(&mut self, at: EventTime) -> ClockTime {
        let EventTime { line, time_ms, .. } = at;
        if self.latest.time_ms.is_none() {
            self.first_ms = time_ms.unwrap_or_default();
        }
        self.latest.line = self.latest.line.max(line.unwrap_or_default());
        self.latest.time_ms = self.latest.time_ms.max(time_ms);
        self.latest
    }

    pub(super) fn milliseconds(&mut self, time: ClockTime) -> u64 {
        if !self.has_times() {
            return time.line;
        }
        time.time_ms.unwrap_or(self.first_ms)
    }

    pub(super) fn meaning(&mut self) -> &'static str {
        if self.has_times() {
            "the times in the stream"
        } else {
            "the order of the events: one millisecond for each line, as the stream has no times"
        }
    }

    /// Whether the choice is made, or is known because there is a time.
    pub(super) fn is_settled(&self) -> bool {
        self.has_times.is_some() || self.latest.time_ms.is_some()
    }

    pub(super) fn has_times(&mut self) -> bool {
        *self.has_times.get_or_insert(self.latest.time_ms.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u64, time_ms: Option<u64>) -> EventTime {
        let mut at = EventTime::default();
        (at.line, at.time_ms) = (Some(line), time_ms);
        at
    }

    #[test]
    fn times_never_go_back() {
        let mut clock = TraceClock::default();
        let times = [None, Some(50), None, Some(40), Some(60)];
        let times: Vec<ClockTime> =
            (1..).zip(times).map(|(line, time)| clock.now(at(line, time))).collect();
        let times: Vec<u64> = times.into_iter().map(|it| clock.milliseconds(it)).collect();
        assert_eq!(times, [50, 50, 50, 50, 60]);
    }

    #[test]
    fn a_stream_without_times_has_an_order() {
        let mut clock = TraceClock::default();
        let first = clock.now(at(3, None));
        assert_eq!(clock.milliseconds(first), 3);
        // A time that comes too late changes nothing.
        let second = clock.now(at(4, Some(1_000)));
        assert_eq!(clock.milliseconds(second), 4);
        let end = clock.now(EventTime::default());
        assert_eq!(clock.milliseconds(end), 4);
    }
}
