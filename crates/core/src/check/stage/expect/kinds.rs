//! When the calls of a kind started and ended, for expectations about the order of calls.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};

use super::seen_call::SeenCall;
use super::truth::Truth;
use crate::check::paths::{ResolvedPath, resolved};
use crate::limits::EXPECTED_PATHS_MAX;
use crate::profile::CallKind;

/// The calls of the kinds that expectations name. Calls are counted in the order in which they
/// end, and wait until then.
#[derive(Debug, Default)]
pub(super) struct KindHistories {
    of: Vec<KindHistory>,
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct KindHistory {
    kind: CallKind,
    /// The latest end, with the line of that call.
    last_end: Seen,
    /// The line of the one that started last.
    last_start: u64,
    /// The number of the one that started first, with its line.
    first: Seen,
    /// The numbers and lines of those that wait.
    waiting: BTreeSet<(u64, u64)>,
    waiting_unsure: BTreeSet<(u64, u64)>,
    /// The paths of those that succeeded, and of the files that any call created, with the first
    /// end of such a call.
    paths: BTreeMap<SeenPath, u64>,
    /// When the last of them ended, by the agent's clock in milliseconds.
    last_end_ms: Option<f64>,
    /// The first end of a call with a clear path, and of one with an unclear path.
    clear_end: Option<u64>,
    unclear_end: Option<u64>,
    /// The first end of one that succeeded with a path that is not known.
    hidden_end: Option<u64>,
    /// The first ends of commands that name a file of this name: they may have read it.
    named: BTreeMap<FileName, u64>,
}

/// Words of a command that may name files.
const COMMAND_WORDS_MAX: usize = 200;

/// The last part of a path, as its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileName(u64);

/// A path, which may be long, as its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeenPath {
    hash: u64,
    /// Whether the stream does not show what it is relative to.
    is_unclear: bool,
    name: FileName,
}

/// A figure of the calls of a kind, and of those that may be of this kind, each with a line.
#[derive(Debug, Default)]
struct Seen {
    sure: Option<(u64, u64)>,
    unsure: Option<(u64, u64)>,
}

impl Seen {
    fn of(&mut self, is_of_kind: Truth) -> Option<&mut Option<(u64, u64)>> {
        match is_of_kind {
            Truth::Yes => Some(&mut self.sure),
            Truth::Unknown => Some(&mut self.unsure),
            Truth::No => None,
        }
    }

    fn all(&self, is_so: impl Fn(u64) -> bool) -> Truth {
        let all = |seen: Option<(u64, u64)>| seen.is_none_or(|(figure, _)| is_so(figure));
        match (all(self.sure), all(self.unsure)) {
            (false, _) => Truth::No,
            (true, false) => Truth::Unknown,
            (true, true) => Truth::Yes,
        }
    }
}

impl KindHistories {
    pub(super) fn new(kinds: impl Iterator<Item = CallKind>) -> Self {
        let mut histories: Vec<KindHistory> = Vec::new();
        for kind in kinds {
            if histories.iter().all(|known| known.kind != kind) {
                histories.push(KindHistory { kind, ..KindHistory::default() });
            }
        }
        Self { of: histories, hasher: RandomState::new() }
    }

    fn of(&self, kind: CallKind) -> Option<&KindHistory> {
        self.of.iter().find(|history| history.kind == kind)
    }

    pub(super) fn seen_path(&self, path: &str, directory: Option<&str>) -> SeenPath {
        let (path, is_unclear) = match resolved(path, directory) {
            ResolvedPath::Known(path) => (path, false),
            ResolvedPath::Unclear(path) => (path, true),
        };
        let name = self.file_name(&path);
        SeenPath { hash: self.hasher.hash_one(path), is_unclear, name }
    }

    fn file_name(&self, path: &str) -> FileName {
        FileName(self.hasher.hash_one(path.rsplit(['/', '\\']).next().unwrap_or(path)))
    }

    /// The files that a command may name.
    pub(super) fn words(&self, command: &str) -> Vec<FileName> {
        let is_between = |it: char| it.is_whitespace() || "'\"`()[]{}<>;|&=:,".contains(it);
        let words = command.split(is_between).filter(|it| !it.is_empty() && !it.starts_with('-'));
        words.map(|word| self.file_name(word)).take(COMMAND_WORDS_MAX).collect()
    }

    /// Takes what is known of a call that has not been counted.
    pub(super) fn waits(&mut self, call: &SeenCall) {
        for history in &mut self.of {
            history.forget(call);
            match call.acted_as(history.kind) {
                _ if call.was_refused() => false,
                Truth::Yes => history.waiting.insert((call.number, call.line)),
                Truth::Unknown => history.waiting_unsure.insert((call.number, call.line)),
                Truth::No => false,
            };
        }
    }

    pub(super) fn count(&mut self, call: &SeenCall) {
        self.of.iter_mut().for_each(|history| history.count(call));
    }

    /// Whether a call starts after the last call of this kind has ended, of those counted so far.
    pub(super) fn is_after(&self, kind: CallKind, call: &SeenCall) -> Truth {
        let Some(history) = self.of(kind) else { return Truth::Unknown };
        match (history.last_end_ms, call.times) {
            (Some(end), Some((start, _))) if start < end => return Truth::No,
            _ => {}
        }
        let is_after = history.last_end.all(|end| end < call.started);
        // Asked for after the last of them, and ended after it: one may have waited for the other.
        let (last_end, _) = history.last_end.sure.unwrap_or_default();
        let is_next = history.last_start < call.line && last_end < call.ended;
        if is_after == Truth::No && is_next { Truth::Unknown } else { is_after }
    }

    /// Whether a call of this kind was open when a call started.
    pub(super) fn overlaps(&self, kind: CallKind, call: &SeenCall) -> bool {
        let last_end = self.of(kind).and_then(|history| history.last_end.sure);
        last_end.is_some_and(|(end, _)| end > call.started)
    }

    /// The line of the call of this kind that ended last.
    pub(super) fn last_line(&self, kind: CallKind) -> u64 {
        self.of(kind).and_then(|it| it.last_end.sure).map_or(0, |(_, line)| line)
    }

    /// Whether a call starts before the first call of this kind does.
    pub(super) fn is_before(&self, kind: CallKind, call: &SeenCall) -> Truth {
        let Some(history) = self.of(kind) else { return Truth::Unknown };
        let is_later = |number: u64| number > call.number;
        let others = |waiting: &BTreeSet<(u64, u64)>| {
            waiting.iter().find(|(number, _)| *number != call.number).copied()
        };
        let (sure, unsure) = (others(&history.waiting), others(&history.waiting_unsure));
        history.first.all(is_later).min(Seen { sure, unsure }.all(is_later))
    }

    /// The line of the call of this kind that started first.
    pub(super) fn first_line(&self, kind: CallKind) -> u64 {
        let Some(history) = self.of(kind) else { return 0 };
        let waiting = history.waiting.first().copied();
        waiting.into_iter().chain(history.first.sure).min().map_or(0, |(_, line)| line)
    }

    /// Whether a successful call of this kind with the same path ended before a call started. The
    /// run knows the files that it creates without such a call.
    pub(super) fn has_same_path(&self, kind: CallKind, call: &SeenCall) -> Truth {
        let Some(history) = self.of(kind) else { return Truth::Unknown };
        let is_before = |end: u64| end < call.started;
        let has = |path: &SeenPath| {
            // A clear path and an unclear one may be the same file.
            let other_end = if path.is_unclear { history.clear_end } else { history.unclear_end };
            match history.paths.get(path) {
                Some(end) if is_before(*end) => Truth::Yes,
                _ if call.created.contains(path) => Truth::Yes,
                _ if call.may_create() => Truth::Unknown,
                _ if history.named.get(&path.name).is_some_and(|end| is_before(*end)) => {
                    Truth::Unknown
                }
                _ if history.hidden_end.is_some_and(is_before) => Truth::Unknown,
                _ if other_end.is_some_and(is_before) => Truth::Unknown,
                _ => Truth::No,
            }
        };
        call.paths.iter().map(has).min().unwrap_or(Truth::Unknown)
    }
}

impl KindHistory {
    fn forget(&mut self, call: &SeenCall) {
        self.waiting.remove(&(call.number, call.line));
        self.waiting_unsure.remove(&(call.number, call.line));
    }

    fn count(&mut self, call: &SeenCall) {
        self.forget(call);
        if call.was_refused() {
            return;
        }
        let may_read = self.kind == CallKind::Read && call.succeeded() != Truth::No;
        if may_read && self.named.len() <= EXPECTED_PATHS_MAX {
            for word in &call.words {
                let end = self.named.entry(*word).or_insert(call.ended);
                *end = call.ended.min(*end);
            }
        }
        let is_of_kind = call.acted_as(self.kind);
        if let Some(end) = self.last_end.of(is_of_kind) {
            *end = (*end).max(Some((call.ended, call.line)));
        }
        if is_of_kind == Truth::Yes {
            self.last_start = self.last_start.max(call.line);
        }
        if let Some((_, end)) = call.times.filter(|_| is_of_kind == Truth::Yes) {
            self.last_end_ms = Some(self.last_end_ms.map_or(end, |last| last.max(end)));
        }
        if let Some(first) = self.first.of(is_of_kind) {
            let this = (call.number, call.line);
            *first = Some(first.map_or(this, |first| first.min(this)));
        }
        let succeeded = call.is_of(self.kind).min(call.succeeded());
        let known = if succeeded == Truth::Yes { &call.paths } else { &call.created };
        let has_room = self.paths.len() + known.len() <= EXPECTED_PATHS_MAX;
        for path in known.iter().filter(|_| has_room) {
            let end = self.paths.entry(*path).or_insert(call.ended);
            *end = call.ended.min(*end);
            let of_form = if path.is_unclear { &mut self.unclear_end } else { &mut self.clear_end };
            *of_form = Some(of_form.map_or(*end, |first| first.min(*end)));
        }
        match succeeded {
            Truth::No => {}
            Truth::Yes if has_room && !call.paths.is_empty() => {}
            Truth::Yes | Truth::Unknown => {
                let end = self.hidden_end.get_or_insert(call.ended);
                *end = call.ended.min(*end);
            }
        }
    }
}
