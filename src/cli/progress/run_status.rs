//! What a run does at the moment, on one line.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndjson_check_core::{
    CheckedEvent, EventCall, EventKind, counted,
    escape::{clipped, visible},
};

/// Longest name of a call in the status line, in bytes; the terminal cuts it further.
const STATUS_LABEL_BYTES_MAX: usize = 500;

/// Open calls of which the line knows the label.
const CALLS_OPEN_MAX: usize = 20_000;

/// What is known of a run that goes on.
#[derive(Debug)]
pub(super) struct RunStatus {
    started: Instant,
    events: u64,
    /// The open calls by their number, and when they started.
    open: BTreeMap<u64, (String, Instant)>,
    /// The call that ended last.
    last: String,
}

impl RunStatus {
    pub(super) fn new() -> Self {
        let started = Instant::now();
        Self { started, events: 0, open: BTreeMap::new(), last: String::new() }
    }

    pub(super) fn event(&mut self, event: &CheckedEvent<'_>) {
        self.events += 1;
        event.events().iter().for_each(|event| self.run_event(&event.kind));
    }

    fn run_event(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::CallStarted(call) if self.open.len() < CALLS_OPEN_MAX => {
                self.open.insert(call.number, (label(call), Instant::now()));
            }
            EventKind::CallUpdated(call) => {
                if let Some((known, _)) = self.open.get_mut(&call.number) {
                    *known = label(call);
                }
            }
            EventKind::CallCompleted(completed) => {
                self.open.remove(&completed.call.number);
                self.last = label(&completed.call);
            }
            EventKind::CallUnfinished(call) => {
                self.open.remove(&call.number);
            }
            _ => {}
        }
    }

    /// The line now.
    pub(super) fn line(&self) -> String {
        self.line_at(Instant::now())
    }

    fn line_at(&self, now: Instant) -> String {
        let line = format!("{}  {}", clock(now - self.started), counted(self.events, "event"));
        let Some((label, since)) = self.open.values().next() else {
            let last = &self.last;
            return if last.is_empty() { line } else { format!("{line}  last: {last}") };
        };
        let more = match self.open.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        format!("{line}  running {}{more}: {label}", clock(now.saturating_duration_since(*since)))
    }
}

/// The tool, and what the call is about.
fn label(call: &EventCall<'_>) -> String {
    let words = [call.tool.as_deref(), call.detail.as_deref()].map(Option::unwrap_or_default);
    let words = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    visible(&clipped(&words, STATUS_LABEL_BYTES_MAX)).into_owned()
}

/// `0:07`, `12:34`, `1:02:03`.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_oldest_open_call_or_the_last() {
        let mut status = RunStatus::new();
        let at = |seconds| status.started + Duration::from_secs(seconds);
        let (five, ten, late) = (at(5), at(10), at(3_723));
        assert_eq!(status.line_at(five), "0:05  0 events");
        (status.events, status.last) = (1, "read a.txt".to_owned());
        assert_eq!(status.line_at(late), "1:02:03  1 event  last: read a.txt");
        status.open.insert(2, ("shell make".to_owned(), five));
        assert_eq!(status.line_at(ten), "0:10  1 event  running 0:05: shell make");
        status.open.insert(3, ("shell ls".to_owned(), ten));
        assert_eq!(
            status.line_at(late),
            "1:02:03  1 event  running 1:01:58 and 1 more: shell make"
        );
    }
}
