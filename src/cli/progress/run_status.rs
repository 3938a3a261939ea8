//! What a run does at the moment, on one line.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ndjson_check_core::{
    CheckedLine, EventCall, EventKind, Figures, Limits, Usage, counted,
    escape::{clipped, visible},
};
use ndjson_check_formats::report::{dollars, short_number};

/// Longest name of a call in the status line, in bytes; the terminal cuts it further.
const STATUS_LABEL_BYTES_MAX: usize = 500;

/// Open calls of which the line knows the label.
const CALLS_OPEN_MAX: usize = 20_000;

#[derive(Debug)]
pub(super) struct RunStatus {
    started: Instant,
    limits: Limits,
    events: u64,
    calls: u64,
    cost_usd: Option<f64>,
    turns: Option<u64>,
    usage: Usage,
    /// The tokens of the model's messages: all that is known before the agent says the sum.
    message_tokens: Option<u64>,
    /// The open calls by their number, and when they started.
    open: BTreeMap<u64, (String, Instant)>,
    /// The call that ended last.
    last: String,
}

impl RunStatus {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            started: Instant::now(),
            limits,
            events: 0,
            calls: 0,
            cost_usd: None,
            turns: None,
            usage: Usage::default(),
            message_tokens: None,
            open: BTreeMap::new(),
            last: String::new(),
        }
    }

    pub(super) fn event(&mut self, event: &CheckedLine<'_>) {
        self.events += 1;
        event.events().iter().for_each(|event| self.run_event(&event.kind));
    }

    fn run_event(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Usage(figures) => self.used(figures),
            EventKind::MessageUsage(message) => {
                let known = message.usage.known_tokens().into_iter().chain(self.message_tokens);
                self.message_tokens = known.reduce(u64::saturating_add);
            }
            EventKind::CallStarted(call) => {
                self.calls += 1;
                if self.open.len() < CALLS_OPEN_MAX {
                    self.open.insert(call.number, (label(call), Instant::now()));
                }
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

    fn used(&mut self, figures: &Figures) {
        self.cost_usd = figures.cost_usd.or(self.cost_usd);
        self.turns = figures.turns.or(self.turns);
        self.usage = figures.usage;
    }

    /// What the run used, with its limits; calls and turns only if they have one.
    fn figures(&self) -> Vec<String> {
        let Limits { cost, tokens, turns, calls, failed_calls: _, .. } = self.limits;
        let of = |limit: Option<String>| limit.map_or(String::new(), |it| format!(" of {it}"));
        let number = |limit: Option<u64>| of(limit.map(short_number));
        let mut figures = Vec::new();
        if let Some(used) = self.cost_usd {
            let limit = cost.map(|cost| dollars(cost).trim_end_matches(".00").to_owned());
            figures.push(format!("{}{}", dollars(used), of(limit)));
        }
        if let Some(used) = self.usage.known_tokens().max(self.message_tokens) {
            figures.push(format!("{}{} tokens", short_number(used), number(tokens)));
        }
        if let Some(used) = self.turns.filter(|_| turns.is_some()) {
            figures.push(format!("{used}{} turns", number(turns)));
        }
        if calls.is_some() {
            figures.push(format!("{}{} calls", self.calls, number(calls)));
        }
        figures
    }

    pub(super) fn line(&self) -> String {
        self.line_at(Instant::now())
    }

    fn line_at(&self, now: Instant) -> String {
        let events = counted(self.events, "event");
        let figures = [clock(now - self.started), events].into_iter().chain(self.figures());
        let line = figures.collect::<Vec<_>>().join("  ");
        let Some((label, since)) = self.open.values().next() else {
            let last = &self.last;
            return if last.is_empty() { line } else { format!("{line}  last: {last}") };
        };
        let more = match self.open.len() - 1 {
            0 => String::new(),
            count => format!(", and {count} more"),
        };
        let time = clock(now.saturating_duration_since(*since));
        format!("{line}  running {time}: {label}{more}")
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
        let mut status = RunStatus::new(Limits::default());
        let at = |seconds| status.started + Duration::from_secs(seconds);
        let (five, ten, late) = (at(5), at(10), at(3_723));
        assert_eq!(status.line_at(five), "0:05  0 events");
        (status.events, status.last) = (1, "read a.txt".to_owned());
        assert_eq!(status.line_at(late), "1:02:03  1 event  last: read a.txt");
        status.open.insert(2, ("shell make".to_owned(), five));
        assert_eq!(status.line_at(ten), "0:10  1 event  running 0:05: shell make");
        (status.cost_usd, status.usage.output_tokens) = (Some(0.42), Some(12_345));
        (status.limits.cost, status.limits.calls) = (Some(2.0), Some(50));
        assert_eq!(
            status.line_at(ten),
            "0:10  1 event  $0.42 of $2  12.3 k tokens  0 of 50 calls  running 0:05: shell make"
        );
        // The messages so far, which the figures of the agent may not have yet.
        status.message_tokens = Some(2_000_000);
        assert!(status.line_at(ten).contains("  2.00 M tokens  "), "{}", status.line_at(ten));
        status = RunStatus { limits: Limits::default(), cost_usd: None, ..status };
        (status.usage.output_tokens, status.message_tokens) = (None, None);
        status.open.insert(3, ("shell ls".to_owned(), ten));
        assert_eq!(
            status.line_at(late),
            "1:02:03  1 event  running 1:01:58: shell make, and 1 more"
        );
    }
}
