//! Stage: what the user demands of the run: its limits, and what is expected of it.

use super::calls::CallCounts;
use super::expect::{Context, ExpectCheck, Expected};
use super::limits::LimitCheck;
use crate::check::contract::Options;
use crate::check::{Event, EventKind, Limits, WantedEvents};
use crate::facts::{Facts, RunFacts};
use crate::profile::CallRules;
use crate::rules::diagnostic::Diagnostic;

/// What ends a run early.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Broken {
    /// A limit is exceeded.
    pub(crate) limit: bool,
    /// The run has not started as it must.
    pub(crate) start: bool,
}

#[derive(Debug)]
pub(crate) struct DemandCheck<'c> {
    limits: LimitCheck,
    expect: ExpectCheck<'c>,
}

impl<'c> DemandCheck<'c> {
    /// Nothing, if the user demands nothing.
    pub(crate) fn new(options: &'c Options, calls: &CallRules) -> Option<Self> {
        has_demands(options).then(|| Self {
            limits: LimitCheck::new(&options.limits, &options.prices),
            expect: ExpectCheck::new(&options.expected, calls.show_inner()),
        })
    }

    #[inline]
    pub(crate) fn observe(
        &mut self,
        facts: &Facts<'_>,
        events: &[Event<'_>],
        used: (&RunFacts, CallCounts),
    ) -> Broken {
        if let Some(rare) = &facts.rare {
            self.expect.observe_unavailable(&rare.unavailable, facts.line);
        }
        self.expect.observe(events);
        let has_messages = self.messages(events, used.0);
        // No other event changes a figure.
        if has_messages || facts.rare.is_some() {
            self.limits.observe((facts.line, facts.offset), used.0, used.1);
        }
        Broken { limit: self.limits.is_exceeded, start: self.expect.starts_wrong() }
    }

    /// Events that no event of the agent shows: those of a line of plain text, and those that close
    /// what is open at the end.
    pub(crate) fn observe_others(
        &mut self,
        place: (u64, u64),
        events: &[Event<'_>],
        used: (&RunFacts, CallCounts),
    ) {
        self.expect.observe(events);
        if self.messages(events, used.0) {
            self.limits.observe(place, used.0, used.1);
        }
    }

    /// Whether there are any.
    fn messages(&mut self, events: &[Event<'_>], facts: &RunFacts) -> bool {
        let messages = events.iter().filter_map(|event| match &event.kind {
            EventKind::MessageUsage(message) => Some(message),
            _ => None,
        });
        messages.map(|message| self.limits.message(message, facts)).count() > 0
    }

    pub(crate) fn wants(options: &Options) -> WantedEvents {
        let wants = options.expected.iter().map(Expected::wants);
        // The tokens of messages are details.
        let of_limits = match options.limits {
            Limits { tokens: Some(_), .. } | Limits { estimates: true, .. } => {
                WantedEvents::DETAILS
            }
            _ if has_demands(options) => WantedEvents::PLAIN,
            _ => WantedEvents::NONE,
        };
        wants.fold(of_limits, WantedEvents::or)
    }

    pub(crate) fn finish(
        &mut self,
        used: (&RunFacts, CallCounts),
        context: Context,
        found: &mut Vec<Diagnostic>,
    ) {
        self.limits.finish(used, context, found);
        self.expect.finish(used.0, context, found);
    }
}

fn has_demands(options: &Options) -> bool {
    options.limits != Limits::default() || !options.expected.is_empty()
}
