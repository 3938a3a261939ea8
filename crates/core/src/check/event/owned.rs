//! Events that outlive the bytes which they were read from.

use std::borrow::Cow;

use super::{CompletedCall, Defect, Event, EventCall, EventKind, TextSegment};

fn text(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

fn texts(maybe: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
    maybe.map(text)
}

impl Event<'_> {
    /// The same event, without a borrow.
    pub fn into_owned(self) -> Event<'static> {
        Event { kind: self.kind.into_owned(), at: self.at }
    }
}

impl CompletedCall<'_> {
    fn into_owned(self) -> CompletedCall<'static> {
        CompletedCall {
            call: self.call.into_owned(),
            outcome: self.outcome,
            exit_code: self.exit_code,
            result: texts(self.result),
            stdout: texts(self.stdout),
            stderr: texts(self.stderr),
            changes: self.changes,
            media: self.media,
            duration_ms: self.duration_ms,
            passed_ms: self.passed_ms,
            said_ms: self.said_ms,
            arguments: self.arguments,
            numbers: self.numbers,
            has_blank_result: self.has_blank_result,
            has_cut_result: self.has_cut_result,
            is_new: self.is_new,
        }
    }
}

impl EventKind<'_> {
    fn into_owned(self) -> EventKind<'static> {
        match self {
            Self::Session(it) => EventKind::Session(it),
            Self::SessionChanged(it) => EventKind::SessionChanged(it),
            Self::Turn { turn } => EventKind::Turn { turn },
            Self::TextDelta { segment, text: it } => {
                EventKind::TextDelta { segment, text: text(it) }
            }
            Self::Text(it) => EventKind::Text(it.into_owned()),
            Self::TextAbandoned { segment, is_replaced } => {
                EventKind::TextAbandoned { segment, is_replaced }
            }
            Self::Answer { text: it } => EventKind::Answer { text: text(it) },
            Self::CallStarted(it) => EventKind::CallStarted(it.into_owned()),
            Self::CallUpdated(it) => EventKind::CallUpdated(it.into_owned()),
            Self::CallCompleted(it) => EventKind::CallCompleted(Box::new(it.into_owned())),
            Self::CallCorrected { call, outcome, instead_of } => {
                EventKind::CallCorrected { call: call.into_owned(), outcome, instead_of }
            }
            Self::CallUnfinished(it) => EventKind::CallUnfinished(it.into_owned()),
            Self::ThinkingDelta { block, text: it } => {
                EventKind::ThinkingDelta { block, text: text(it) }
            }
            Self::ThinkingEnd { block } => EventKind::ThinkingEnd { block },
            Self::Plan { items } => EventKind::Plan { items },
            Self::Notice(it) => EventKind::Notice(it),
            Self::Error { severity, message } => {
                EventKind::Error { severity, message: texts(message) }
            }
            Self::MessageUsage(it) => EventKind::MessageUsage(it),
            Self::Usage(it) => EventKind::Usage(it),
            Self::Defect(it) => EventKind::Defect(Defect {
                rule: it.rule,
                severity: it.severity,
                message: text(it.message),
                note: texts(it.note),
                related_line: it.related_line,
                call_id: texts(it.call_id),
            }),
            Self::End(it) => EventKind::End(it),
            Self::Cut(it) => EventKind::Cut(it),
        }
    }
}

impl TextSegment<'_> {
    fn into_owned(self) -> TextSegment<'static> {
        TextSegment {
            segment: self.segment,
            text: texts(self.text),
            bytes: self.bytes,
            beginning: text(self.beginning),
            came_in_deltas: self.came_in_deltas,
        }
    }
}

impl EventCall<'_> {
    pub(in crate::check) fn into_owned(self) -> EventCall<'static> {
        EventCall {
            number: self.number,
            id: text(self.id),
            tool: texts(self.tool),
            parent: self.parent,
            started_line: self.started_line,
            started_ms: self.started_ms,
            kind: self.kind,
            detail: texts(self.detail),
            files: Cow::Owned(self.files.into_owned()),
            arguments: self.arguments,
            rule: self.rule,
            shows_detail: self.shows_detail,
            shows_files: self.shows_files,
            deletes: self.deletes,
        }
    }
}
