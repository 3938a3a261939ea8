//! `chrome-trace`: one object of the Trace Event Format, on one line. Perfetto and
//! `chrome://tracing` open it.
//!
//! Turns and texts are complete events on two threads; calls are asynchronous, as they overlap;
//! errors and defects are instants. Each is written when it has ended, so little is kept.

use ndjson_check_core::{
    Defect, Event, EventKind, NoticeKind, RunResult, Session, TextSegment, escape::clipped,
};
use serde_json::{Map, Value, json};

use super::clock::{ClockTime, TraceClock};
use super::open_calls::{KeptCall, OpenCalls};
use crate::limits::MESSAGE_BYTES_MAX;

/// The threads of the trace.
const RUN: u8 = 1;
const TEXT: u8 = 2;

/// How much waits for the first time, in bytes.
const EARLY_BYTES_MAX: usize = 1024 * 1024;

/// When something happens, and when it ends.
type Times = (ClockTime, Option<ClockTime>);

#[derive(Default)]
pub(super) struct ChromeTrace {
    clock: TraceClock,
    /// What happened before the first time, such as warnings of the runtime: it gets that time.
    early: Vec<(Times, Value)>,
    early_bytes: usize,
    calls: OpenCalls,
    has_events: bool,
    profile: String,
    session_id: Option<String>,
    /// What the user asked for first.
    prompt: Option<String>,
    turn: (u64, ClockTime),
    /// When the open text began.
    text: Option<ClockTime>,
    /// When the open block of reasoning began, and its size in bytes.
    thinking: Option<(ClockTime, u64)>,
}

impl ChromeTrace {
    fn take_prompt(&mut self, text: Option<&str>) {
        let prompt = text.map(|text| clipped(text, MESSAGE_BYTES_MAX).into_owned());
        self.prompt = self.prompt.take().or(prompt);
    }

    fn write(&mut self, event: &Value, out: &mut String) {
        if std::mem::replace(&mut self.has_events, true) {
            out.push(',');
        }
        out.push_str(&event.to_string());
    }

    /// Writes what happens at a time, or until another one.
    fn write_at(&mut self, times: Times, event: Value, out: &mut String) {
        if !self.clock.is_settled() {
            self.early_bytes += event.to_string().len();
            if self.early_bytes <= EARLY_BYTES_MAX {
                return self.early.push((times, event));
            }
        }
        self.write_early(out);
        self.write_timed(times, event, out);
    }

    fn write_early(&mut self, out: &mut String) {
        for (times, event) in std::mem::take(&mut self.early) {
            self.write_timed(times, event, out);
        }
    }

    fn write_timed(&mut self, (start, end): Times, mut event: Value, out: &mut String) {
        let start = self.microseconds(start);
        event["ts"] = start.into();
        if let Some(end) = end {
            event["dur"] = self.microseconds(end).saturating_sub(start).into();
        }
        self.write(&event, out);
    }

    fn begin(&mut self, profile: &str, now: ClockTime, out: &mut String) {
        profile.clone_into(&mut self.profile);
        self.turn = (1, now);
        out.push_str("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
        let name = |name: &str, thread: u8, value: &str| {
            let args = json!({ "name": value });
            json!({"name": name, "ph": "M", "pid": 1, "tid": thread, "args": args})
        };
        self.write(&name("process_name", RUN, profile), out);
        self.write(&name("thread_name", RUN, "turns"), out);
        self.write(&name("thread_name", TEXT, "text"), out);
    }

    fn span(
        &mut self,
        (thread, name): (u8, &str),
        (start, end): (ClockTime, ClockTime),
        args: &Value,
        out: &mut String,
    ) {
        let span = json!({"name": name, "cat": "run", "ph": "X", "pid": 1, "tid": thread,
            "args": args});
        self.write_at((start, Some(end)), span, out);
    }

    fn instant(&mut self, kind: &str, name: &str, now: ClockTime, args: &Value, out: &mut String) {
        let instant = json!({"name": name, "cat": kind, "ph": "i", "s": "p", "pid": 1, "tid": RUN,
            "args": args});
        self.write_at((now, None), instant, out);
    }

    fn call(
        &mut self,
        call: &KeptCall,
        (outcome, result): (&str, Option<&str>),
        now: ClockTime,
        out: &mut String,
    ) {
        let name = call.detail.as_ref().map_or_else(
            || call.tool_name().to_owned(),
            |detail| format!("{} {detail}", call.tool_name()),
        );
        let mut args = Map::from_iter([
            ("id".to_owned(), call.id.clone().into()),
            ("outcome".to_owned(), outcome.into()),
        ]);
        args.extend(call.kind.map(|kind| ("kind".to_owned(), kind.into())));
        let arguments = call.arguments.as_ref();
        let arguments = arguments.map(|text| clipped(text, MESSAGE_BYTES_MAX).into_owned());
        args.extend(arguments.map(|arguments| ("arguments".to_owned(), arguments.into())));
        let result = result.map(|text| clipped(text, MESSAGE_BYTES_MAX).into_owned());
        args.extend(result.map(|result| ("result".to_owned(), result.into())));
        let half = |phase: &str, args: Value| {
            json!({"name": name, "cat": "call", "ph": phase, "id": call.number, "pid": 1,
                "tid": RUN, "args": args})
        };
        self.write_at((call.start, None), half("b", args.into()), out);
        self.write_at((now, None), half("e", json!({})), out);
    }

    fn close_turn(&mut self, now: ClockTime, out: &mut String) {
        let (turn, start) = self.turn;
        self.span((RUN, &format!("turn {turn}")), (start, now), &json!({}), out);
    }

    fn end(&mut self, result: &RunResult, now: ClockTime, out: &mut String) {
        if let Some((text, bytes)) = &result.cut_text {
            let start = self.text.take().unwrap_or(now);
            let args = json!({"text": clipped(text, MESSAGE_BYTES_MAX), "bytes": bytes});
            self.span((TEXT, "unfinished text"), (start, now), &args, out);
        }
        self.close_turn(now, out);
        let args = serde_json::to_value(result).unwrap_or_default();
        self.instant("run", result.outcome.name(), now, &args, out);
        self.write_early(out);
        let clock = self.clock.meaning();
        let mut data = json!({"profile": self.profile, "clock": clock});
        let known = [("session_id", &self.session_id), ("prompt", &self.prompt)];
        for (key, value) in
            known.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)))
        {
            data[key] = value.clone().into();
        }
        out.push_str("],\"otherData\":");
        out.push_str(&data.to_string());
        out.push_str("}\n");
    }

    fn microseconds(&mut self, time: ClockTime) -> u64 {
        self.clock.milliseconds(time).saturating_mul(1_000)
    }
}

impl ChromeTrace {
    pub(super) fn event(&mut self, event: &Event<'_>, out: &mut String) {
        let now = self.clock.now(event.at);
        if self.clock.is_settled() {
            self.write_early(out);
        }
        match &event.kind {
            EventKind::Session(begun) => {
                let Session { profile, session, .. } = &**begun;
                self.session_id = session.session_id.as_deref().map(str::to_owned);
                self.begin(profile, now, out);
            }
            EventKind::SessionChanged(changed) => {
                let id = changed.session_id.as_deref().map(str::to_owned);
                self.session_id = id.or(self.session_id.take());
            }
            EventKind::Turn { turn } => {
                self.close_turn(now, out);
                self.turn = (*turn, now);
            }
            EventKind::TextDelta { .. } => {
                self.text.get_or_insert(now);
            }
            EventKind::Text(TextSegment { beginning: text, bytes, .. }) => {
                let start = self.text.take().unwrap_or(now);
                let args = json!({"text": clipped(text, MESSAGE_BYTES_MAX), "bytes": bytes});
                self.span((TEXT, "text"), (start, now), &args, out);
            }
            EventKind::ThinkingDelta { text, .. } => {
                self.thinking.get_or_insert((now, 0)).1 += text.len() as u64;
            }
            EventKind::ThinkingEnd { .. } => {
                let (start, bytes) = self.thinking.take().unwrap_or((now, 0));
                self.span((TEXT, "thinking"), (start, now), &json!({"bytes": bytes}), out);
            }
            // It often comes before the first event with a time.
            EventKind::Notice(notice) if notice.kind == NoticeKind::Prompt => {
                self.take_prompt(notice.detail.as_deref());
            }
            EventKind::Notice(notice) => {
                self.instant("notice", "notice", now, &json!(notice), out);
            }
            EventKind::TextAbandoned { .. } => {
                let start = self.text.take().unwrap_or(now);
                self.span((TEXT, "abandoned text"), (start, now), &json!({}), out);
            }
            EventKind::CallStarted(call) | EventKind::CallUpdated(call) => {
                self.calls.start(call, now);
            }
            EventKind::CallCompleted(completed) => {
                let (outcome, result) = (completed.outcome, completed.result.as_deref());
                let call = self.calls.end(&completed.call, now, completed.duration_ms);
                self.turn.1 = self.turn.1.min(call.start);
                self.call(&call, (outcome.name(), result), now, out);
            }
            EventKind::CallUnfinished(call) => {
                let call = self.calls.end(call, now, None);
                self.call(&call, ("unfinished", None), now, out);
            }
            EventKind::Error { severity, message } => {
                let args = json!({"severity": severity, "message": message});
                self.instant("error", "error", now, &args, out);
            }
            EventKind::Defect(Defect { rule, severity, message, .. }) => {
                let args = json!({"severity": severity, "message": message});
                self.instant("defect", rule.name(), now, &args, out);
            }
            EventKind::End(result) | EventKind::Cut(result) => self.end(result, now, out),
            _ => {}
        }
    }
}
