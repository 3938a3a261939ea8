//! The naive model of a run: all that it knows of contracts is here, in plain words. Nothing of it
//! is made from the code that is tested.

use std::collections::BTreeSet;

/// What an agent writes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Session,
    /// The agent goes on after an end.
    Turn,
    Prompt,
    Start(u8),
    /// Whether the call succeeded.
    Completion(u8, bool),
    Refusal(u8),
    Delta(&'static str),
    /// All of the segment, whether deltas came before or not.
    Text(String),
    /// The end, its text, and whether the run succeeded.
    End(bool, String),
}

/// What is different from one contract to the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Contract {
    /// Cursor: the end repeats all text; a call must complete before a success.
    Cursor,
    /// The normal form: the answer is free, and a call may stay open.
    Normal,
    /// Codex: several turns; no deltas, and the answer is the last text of the last turn.
    Codex,
}

/// What must be said about a history.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Expected {
    pub(super) conforms: bool,
    pub(super) outcome: &'static str,
    /// Calls in all, and those that never completed.
    pub(super) calls: u64,
    pub(super) open: u64,
    /// None: nothing is said about the answer.
    pub(super) answer: Option<String>,
}

/// What is known at one line of a history.
#[derive(Default)]
struct Run {
    is_cursor: bool,
    is_codex: bool,
    /// The end is all that Cursor writes without a stream.
    is_alone: bool,
    faults: u32,
    started: bool,
    /// Whether the run has ended, and how.
    ended: Option<bool>,
    calls: u64,
    refused: u64,
    open: BTreeSet<u8>,
    /// Calls that an earlier turn left open.
    left_open: u64,
    known: BTreeSet<u8>,
    /// Calls whose completion came before their start.
    early: BTreeSet<u8>,
    /// All text, the open segment, whether deltas made it, and the last message.
    all: String,
    segment: String,
    deltas: bool,
    last: String,
}

impl Run {
    fn fault_if(&mut self, is_fault: bool) {
        self.faults += u32::from(is_fault);
    }

    fn step(&mut self, step: &Step) {
        if *step == Step::Turn {
            return self.new_turn();
        }
        if self.ended.is_some() {
            return self.fault_if(true);
        }
        self.fault_if(*step != Step::Session && !self.started && !self.is_alone);
        match step {
            Step::Session => {
                self.fault_if(self.started);
                self.started = true;
            }
            Step::Prompt | Step::Turn => {}
            Step::Start(id) => {
                // An id that is used again is a new call, and only a warning.
                if !self.early.remove(id) {
                    let is_new = self.open.insert(*id);
                    self.calls += u64::from(is_new);
                    self.fault_if(!is_new);
                }
                self.known.insert(*id);
                self.end_segment();
            }
            Step::Completion(id, _) => self.complete(*id, false),
            Step::Refusal(id) => self.complete(*id, true),
            Step::Delta(text) => {
                self.segment += text;
                self.deltas = true;
                self.last.clone_from(&self.segment);
            }
            Step::Text(text) => {
                self.fault_if(self.deltas && self.segment != *text);
                self.segment.clone_from(text);
                self.last.clone_from(text);
                self.all += &std::mem::take(&mut self.segment);
                self.deltas = false;
            }
            Step::End(success, text) => {
                let said = self.all.clone() + &self.segment;
                let repeats = self.is_cursor && !self.is_alone && *success;
                self.fault_if(repeats && *text != said);
                // The normal form has the answer again.
                if !(self.is_cursor || self.is_codex) || self.is_alone {
                    self.last.clone_from(text);
                }
                self.ended = Some(*success);
                self.fault_if(*success && !self.may_stay_open() && !self.open.is_empty());
            }
        }
    }

    fn may_stay_open(&self) -> bool {
        !self.is_cursor && !self.is_codex
    }

    /// Only the faults and the calls of the turns before count.
    fn new_turn(&mut self) {
        if self.ended.take().is_some() {
            self.left_open += self.open.len() as u64;
            self.open.clear();
            self.known.clear();
            self.early.clear();
            self.last.clear();
        }
    }

    fn complete(&mut self, id: u8, is_refusal: bool) {
        let is_known = !self.known.insert(id);
        if !self.open.remove(&id) {
            // Only a refusal may come without a start.
            let is_fault = is_known || !is_refusal;
            self.fault_if(is_fault);
            self.calls += u64::from(!is_known);
            if is_fault && !is_known {
                self.early.insert(id);
            }
        }
        self.refused += u64::from(is_refusal);
        self.end_segment();
    }

    /// A call ends a segment of Cursor's.
    fn end_segment(&mut self) {
        if self.is_cursor {
            self.all += &std::mem::take(&mut self.segment);
            self.deltas = false;
        }
    }
}

/// Goes through a history, line by line.
pub(super) fn expected(history: &[Step], contract: Contract) -> Expected {
    let is_cursor = contract == Contract::Cursor;
    let is_codex = contract == Contract::Codex;
    // A stream that begins with its end is Cursor's single object, whatever follows.
    let is_alone = is_cursor && matches!(history, [Step::End(..), ..]);
    let mut run = Run { is_cursor, is_codex, is_alone, ..Run::default() };
    for step in history {
        run.step(step);
    }
    let outcome = match run.ended {
        None => "truncated",
        Some(true) => "succeeded",
        Some(false) => "failed",
    };
    run.fault_if(run.ended.is_none());
    let succeeded = run.ended == Some(true);
    run.fault_if(succeeded && run.calls > 0 && run.refused == run.calls);
    let answer = succeeded.then_some(run.last);
    let open = run.left_open + run.open.len() as u64;
    Expected { conforms: run.faults == 0, outcome, calls: run.calls, open, answer }
}
