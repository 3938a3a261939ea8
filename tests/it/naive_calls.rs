//! What `[expect]` says of calls, and what a naive reading of the events says.

use std::collections::BTreeMap;

use ndjson_check::{
    CallKind, CallOutcome, ChangeKind, Checker, EventKind, Expectation, ExpectedCalls, FileChange,
    Outcome, ProducerExit, Reader, Rule,
};

use crate::streams::some_cases;
use crate::support::{builder, check};

const KINDS: [CallKind; 6] = [
    CallKind::Read,
    CallKind::Write,
    CallKind::Delete,
    CallKind::Command,
    CallKind::Search,
    CallKind::Task,
];

struct Call {
    kind: CallKind,
    has_added: bool,
    has_deleted: bool,
    path: Option<String>,
    start: usize,
    /// `usize::MAX` if it has none.
    end: usize,
    outcome: Option<CallOutcome>,
}

impl Call {
    fn is(&self, kind: CallKind) -> bool {
        self.kind == kind || self.has_deleted && kind == CallKind::Delete
    }

    fn is_refused(&self) -> bool {
        matches!(self.outcome, Some(CallOutcome::Rejected | CallOutcome::Denied))
    }

    /// Nothing that tests depend on is in a directory for temporary files.
    fn is_lasting(&self) -> bool {
        let path = self.path.as_deref().unwrap_or_default();
        let changes = self.is(CallKind::Write) || self.is(CallKind::Delete);
        !changes || !["/dev/", "/tmp/", "/var/tmp/"].iter().any(|it| path.starts_with(it))
    }

    fn has_succeeded(&self) -> bool {
        self.outcome == Some(CallOutcome::Succeeded)
    }
}

struct Run {
    calls: Vec<Call>,
    has_succeeded: bool,
}

impl Run {
    fn read(mut reader: Reader, stream: &[u8]) -> Self {
        let mut events = reader.feed(stream).unwrap();
        let end = reader.finish(&ProducerExit::default()).unwrap();
        events.extend(end.events);
        let mut calls: BTreeMap<u64, Call> = BTreeMap::new();
        for (place, event) in events.into_iter().enumerate() {
            let (call, outcome, changes) = match event.kind {
                EventKind::CallStarted(it) | EventKind::CallUpdated(it) => (it, None, Vec::new()),
                EventKind::CallCompleted(it) => (it.call, Some(it.outcome), it.changes),
                EventKind::CallCorrected { call, outcome, instead_of } => {
                    let known = calls.get_mut(&call.number).unwrap();
                    known.outcome = Some(outcome);
                    // It went on in the background.
                    if instead_of == CallOutcome::Unknown {
                        known.end = place;
                    }
                    continue;
                }
                _ => continue,
            };
            let known = calls.entry(call.number).or_insert(Call {
                kind: CallKind::Other,
                has_added: false,
                has_deleted: false,
                path: None,
                start: place,
                end: usize::MAX,
                outcome,
            });
            known.kind = call.kind.unwrap_or(known.kind);
            known.path = call.detail.map(String::from).or(known.path.take());
            let is = |kind| move |it: &FileChange| it.kind == Some(kind);
            known.has_added |= !changes.is_empty() && changes.iter().all(is(ChangeKind::Added));
            known.has_deleted |= changes.iter().any(is(ChangeKind::Deleted));
            if outcome.is_some() {
                (known.end, known.outcome) = (place, outcome);
            }
        }
        let has_succeeded = end.summary.outcome == Outcome::Succeeded;
        Self { calls: calls.into_values().collect(), has_succeeded }
    }

    /// The calls of a kind that were tried.
    fn tried(&self, kind: CallKind) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |it| it.is(kind) && !it.is_refused())
    }

    fn meets(&self, expected: &ExpectedCalls) -> bool {
        let selected = || self.tried(expected.kind.unwrap());
        let is_in_place = |call: &&Call| {
            let (after, before) = (expected.after, expected.before);
            let lasting = |kind| self.tried(kind).filter(|it| it.is_lasting());
            after.is_none_or(|kind| lasting(kind).all(|it| it.end < call.start))
                && before.is_none_or(|kind| lasting(kind).all(|it| it.start >= call.start))
        };
        let counted = || selected().filter(is_in_place);
        if let Some(most) = expected.at_most {
            return counted().count() as u64 <= most;
        }
        if let Some(required) = expected.requires {
            return selected().all(|call| {
                let mut earlier = self.calls.iter().filter(|it| it.end < call.start);
                let is_known = |it: &Call| it.has_added || it.is(required) && it.has_succeeded();
                call.has_added || earlier.any(|it| it.path == call.path && is_known(it))
            });
        }
        if !self.has_succeeded {
            return true;
        }
        if let Some(least) = expected.at_least {
            return counted().filter(|it| it.has_succeeded()).count() as u64 >= least;
        }
        // The last one, and those that overlap it.
        let last = selected().max_by_key(|it| (it.end, it.start));
        last.is_some_and(|last| {
            let mut latest = selected().filter(|it| it.end > last.start);
            latest.all(|it| is_in_place(&it) && it.has_succeeded())
        })
    }
}

/// Each condition for each kind, before and after each other kind.
fn expectations() -> Vec<ExpectedCalls> {
    let mut all = Vec::new();
    for kind in KINDS {
        let of_kind = ExpectedCalls::default().kind(kind);
        let others = KINDS.into_iter().filter(|it| *it != kind);
        let placed =
            others.flat_map(|other| [of_kind.clone().after(other), of_kind.clone().before(other)]);
        for it in placed.chain([of_kind.clone()]) {
            all.extend([it.clone().at_least(1), it.clone().at_least(2)]);
            all.extend([it.clone().at_most(0), it.clone().at_most(1)]);
            all.push(it.last_must_succeed(true));
        }
        if matches!(kind, CallKind::Read | CallKind::Write | CallKind::Delete) {
            all.push(of_kind.requires(CallKind::Read));
        }
    }
    all
}

/// Goal: an entry of `calls` is met if a naive reading of the stream's events says so.
/// Method: every fixture without a finding about its calls, with all such entries at once.
#[test]
fn entries_for_calls_say_what_a_naive_reading_says() {
    let expectations = expectations();
    // Reports print 100 findings of a rule.
    let demanding = |flags: &[String], entries: &[ExpectedCalls]| {
        let builder = builder(flags.iter().map(String::as_str));
        let expected = entries.iter().cloned().map(Expectation::Calls);
        let places = (0..).map(|place: u32| place.to_string()).zip(expected);
        places.fold(builder, |builder, (place, it)| builder.expect(&place, it)).build().unwrap()
    };
    let mut demanding_by_flags: BTreeMap<Vec<String>, Vec<Checker>> = BTreeMap::new();
    let (mut met, mut unmet, mut not_shown) = (0, 0, 0);
    for case in some_cases(3) {
        let (name, bytes) = (case.path.display(), case.bytes());
        let run = Run::read(case.checker().reader("-"), &bytes);
        let chunks = || expectations.chunks(100);
        let checkers = demanding_by_flags
            .entry(case.flags.clone())
            .or_insert_with(|| chunks().map(|entries| demanding(&case.flags, entries)).collect());
        for (entries, checker) in chunks().zip(checkers) {
            let (_, found) = check(checker, bytes.as_slice());
            let found = found.into_iter().filter_map(|it| Some((it.demand?, it.rule)));
            let said: BTreeMap<String, Rule> = found.collect();
            for (place, expected) in entries.iter().enumerate() {
                let rule = said.get(&place.to_string());
                if rule == Some(&Rule::ExpectationUnobservable) {
                    not_shown += 1;
                    continue;
                }
                assert_eq!(rule.is_none(), run.meets(expected), "{name}: {expected:?}");
                *if rule.is_none() { &mut met } else { &mut unmet } += 1;
            }
        }
    }
    assert!(met > 30_000 && unmet > 15_000, "{met} met, {unmet} not, {not_shown} not shown");
}
