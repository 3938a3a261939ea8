//! Stage: the same tool call again and again.

use super::calls::{CallArguments, KeptValue};
use crate::check::CallUpdate;
use crate::facts::Facts;
use crate::limits::CALL_ID_BYTES_MAX;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::{clipped, shown};

/// Calls in a row after which a series is reported, without the option.
pub const REPEATED_CALLS: u64 = 5;

/// Watches for calls that are repeated with the same arguments.
#[derive(Debug)]
pub(crate) struct RepeatCheck {
    /// The shortest series that is reported.
    length_min: u64,
    arguments: CallArguments,
    series: Option<Series>,
}

/// Equal calls in a row.
#[derive(Debug)]
struct Series {
    tool: String,
    /// Of the first; the order of keys does not count.
    arguments: KeptValue,
    length: u64,
    first_line: u64,
    line: u64,
    offset: u64,
}

impl RepeatCheck {
    pub(crate) fn new(length_min: u64) -> Self {
        Self { length_min, arguments: CallArguments::default(), series: None }
    }

    /// Observes the calls of an event that have begun, or have come whole.
    pub(crate) fn observe(
        &mut self,
        facts: &Facts<'_>,
        updates: &[CallUpdate<'_>],
        found: &mut Vec<Diagnostic>,
    ) {
        for update in updates.iter().filter(|update| update.is_new) {
            let (Some(arguments), Some(tool), false) =
                (update.arguments_ref(), update.tool(), update.action.polls)
            else {
                found.extend(self.finish());
                continue;
            };
            let tool = clipped(tool, CALL_ID_BYTES_MAX);
            let is_next = |series: &&mut Series| {
                series.tool == tool && self.arguments.equal(&series.arguments, arguments)
            };
            if let Some(series) = self.series.as_mut().filter(is_next) {
                series.length += 1;
                (series.line, series.offset) = (facts.line, facts.offset);
                continue;
            }
            found.extend(self.finish());
            self.series = Some(Series {
                tool: tool.into_owned(),
                arguments: self.arguments.keep(arguments),
                length: 1,
                first_line: facts.line,
                line: facts.line,
                offset: facts.offset,
            });
        }
    }

    pub(crate) fn finish(&mut self) -> Option<Diagnostic> {
        let Series { tool, arguments, length, first_line, line, offset } = self.series.take()?;
        self.arguments.release(vec![Some(arguments)]);
        if length < self.length_min {
            return None;
        }
        let message = format!(
            "the tool {} is called {length} times in a row with the same arguments",
            shown(&tool)
        );
        let diagnostic = Diagnostic::new(Rule::RepeatedCall, message);
        Some(diagnostic.related(first_line).at(line, offset))
    }
}
