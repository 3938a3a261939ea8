//! One prefix, and whether a secret of its format begins at a place.

use std::ops::Range;

use crate::borders::{Border, border};
use crate::classes::{Class, Runs};
use crate::finder::{Found, Tail};
use crate::formats::{FormatRun, Proof, TokenShape};
use crate::pem::{self, Key, PRIVATE_KEY_BYTES_MAX};
use crate::randomness::{looks_like_name, looks_random};
use crate::url::{Authority, authority};

/// The shortest run behind a prefix that is replaced where the text was cut.
const CUT_BYTES_MIN: usize = 4;

/// Longest run that may go on in another text, of most formats, and of tokens and keys.
pub(crate) const LONG: usize = 512;
const VERY_LONG: usize = 8 * 1024;

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) prefix: Vec<u8>,
    pub(crate) body: TokenShape,
    pub(crate) format: usize,
}

/// Whether a secret begins at a place.
pub(crate) enum Match {
    No,
    /// It may, if the text goes on.
    Open(Tail),
    Yes(Found),
}

impl Row {
    /// Where the secret begins whose prefix the text cuts, if what is before allows it.
    pub(crate) fn cut_start(
        &self,
        text: &[u8],
        at: usize,
        floor: usize,
        is_word: bool,
    ) -> Option<usize> {
        match self.body {
            TokenShape::Run(FormatRun { before: None, .. }) => is_word.then_some(at),
            TokenShape::Run(run) => self.first(run, text, at, floor),
            TokenShape::Url | TokenShape::Pem | TokenShape::Nothing => Some(at),
        }
    }

    pub(crate) fn match_body(&self, runs: &mut Runs, at: usize, floor: usize) -> Match {
        let text = runs.text;
        let (start, format) = (at + self.prefix.len(), self.format);
        let found = |range: Range<usize>, may_go_on| Found { range, format, may_go_on };
        match self.body {
            TokenShape::Nothing => Match::Yes(found(at..start, false)),
            TokenShape::Run(run) => self.match_run(run, runs, at, floor),
            TokenShape::Pem => match pem::key(&self.prefix, &text[start..]) {
                Key::No => Match::No,
                Key::Cut(is_private) => {
                    let cut = is_private.then(|| found(at..text.len(), true));
                    Match::Open(Tail { start: at, cut })
                }
                Key::Yes(length, is_whole) => {
                    let end = start + length;
                    let may_go_on =
                        !is_whole && end == text.len() && length < PRIVATE_KEY_BYTES_MAX;
                    Match::Yes(found(at..end, may_go_on))
                }
            },
            // The scheme may be in the text before.
            TokenShape::Url if at > 0 && !text[at - 1].is_ascii_alphanumeric() => Match::No,
            TokenShape::Url => match authority(runs, at + 1) {
                Authority::Plain => Match::No,
                Authority::Open(part) => {
                    let is_cut = part.len() >= CUT_BYTES_MIN;
                    let cut = is_cut.then(|| found(part, true));
                    Match::Open(Tail { start: at, cut })
                }
                Authority::Secret(range) => Match::Yes(found(range, false)),
            },
        }
    }

    fn match_run(&self, run: FormatRun, runs: &mut Runs, at: usize, floor: usize) -> Match {
        let text = runs.text;
        let start = at + self.prefix.len();
        let border = if run.before.is_some() { Border::Word } else { border(text, at) };
        if border != Border::Word && !self.may_follow_letters(run, border) {
            return Match::No;
        }
        let Some(first) = self.first(run, text, at, floor) else { return Match::No };
        let end = runs.end(run.class, start);
        let body = &text[start..end];
        let reaches_end = end == text.len();
        let is_glued = border != Border::Word;
        let is_whole = body.len() >= run.least
            && (body.len() == run.least || !run.is_exact)
            && (!is_glued || self.is_distinct(run, body))
            && match run.proof {
                Proof::Dots => has_dots(runs, start),
                proof => proof.holds(body),
            };
        let found = |may_go_on| Found { range: first..end, format: self.format, may_go_on };
        if is_whole {
            return Match::Yes(found(reaches_end && body.len() < longest(run)));
        }
        if !reaches_end || body.len() >= longest(run) || (run.is_exact && body.len() > run.least) {
            return Match::No;
        }
        let is_word = run.keeps_prefix && looks_like_name(body);
        let cut = (body.len() >= CUT_BYTES_MIN && !is_word).then(|| found(true));
        // What names the secret is a part of its start.
        Match::Open(Tail { start: first.min(at), cut })
    }

    fn first(&self, run: FormatRun, text: &[u8], at: usize, floor: usize) -> Option<usize> {
        let Some((class, least, most)) = run.before else {
            return Some(if run.keeps_prefix { at + self.prefix.len() } else { at });
        };
        let length = class.length_before(&text[floor.max(at.saturating_sub(most)).min(at)..at]);
        (length >= least).then_some(at - length)
    }

    /// Whether the prefix is one that also begins a secret behind a letter, a digit or `_`.
    fn may_follow_letters(&self, run: FormatRun, border: Border) -> bool {
        !run.keeps_prefix
            && !run.is_exact
            && (border == Border::Underscore || self.prefix.len() >= 4 || self.prefix == b"SK")
    }

    /// Whether a run behind such a prefix can be nothing else.
    fn is_distinct(&self, run: FormatRun, body: &[u8]) -> bool {
        let has_mark = self.prefix.iter().any(|it| !it.is_ascii_alphanumeric());
        (has_mark || body.len() == run.least) && looks_random(body)
    }
}

fn has_dots(runs: &mut Runs, start: usize) -> bool {
    let first = runs.end(Class::Url, start);
    runs.text.get(first) == Some(&b'.') && {
        let second = runs.end(Class::Url, first + 1);
        runs.text.get(second) == Some(&b'.')
    }
}

/// The longest run that may go on in another text.
fn longest(run: FormatRun) -> usize {
    let is_long = run.keeps_prefix || run.proof == Proof::Dots || run.class == Class::Token;
    if is_long { VERY_LONG } else { LONG }
}
