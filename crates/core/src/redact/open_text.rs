//! The end of a text that may be a part of a secret, until the text goes on.

use ndjson_check_secrets::{CONTEXT_BYTES, Found, Search, SecretFinder, looks_random};

use super::held::{HeldLines, TextPart};

/// A start that is at the beginning of a string must have this many bytes, so that the next string
/// can be a longer copy of it.
const COPY_BYTES_MIN: usize = 4;

/// Which text a string is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextKey {
    /// By the profile; strings of one such text always make one text.
    pub(super) known: Option<u64>,
    /// The indices and ids of its event.
    pub(super) labels: u64,
}

impl TextKey {
    pub(super) fn is_same(self, other: Self) -> bool {
        self.known == other.known && (self.known.is_some() || self.labels == other.labels)
    }
}

#[derive(Debug)]
pub(super) struct SearchedString<'t> {
    pub(super) event: u64,
    pub(super) key: TextKey,
    pub(super) text: &'t [u8],
    pub(super) piece: TextPart,
    pub(super) search: Search,
}

/// A text that may go on in a later event.
#[derive(Debug, Clone)]
pub(super) struct OpenText {
    /// The event of its last piece.
    pub(super) event: u64,
    pub(super) key: TextKey,
    /// The event and the string in which the secret begins.
    pub(super) origin: (u64, usize),
    /// Whether an event with other labels went it on, which may be of another text.
    pub(super) is_guess: bool,
    /// What came before it, which shows whether a word begins here, and what may be a secret.
    pub(super) text: Vec<u8>,
    pub(super) context: usize,
    pub(super) part: OpenPart,
}

#[derive(Debug, Clone)]
pub(super) enum OpenPart {
    Start {
        pieces: Vec<TextPart>,
        /// Where it begins in its string, if it is one.
        at: Option<usize>,
        /// Starts of the same secret, in shorter copies of the text.
        copies: Vec<Vec<TextPart>>,
        cut: Option<Found>,
    },
    /// A secret that could be longer.
    Whole {
        /// Where what may be more of it begins.
        more: usize,
        unsure: Vec<TextPart>,
        /// The pieces that make it, if they are of events with other labels, and so perhaps of
        /// another text; else they have been replaced.
        likely: Option<(Vec<TextPart>, Found)>,
    },
}

/// Longest prefix or name of a secret, in bytes.
const NAME_BYTES_MAX: usize = 128;

pub(super) struct Continued {
    /// How far the string belongs to its secret.
    pub(super) covered: usize,
    /// Whether it is clear that the string belongs to the text.
    pub(super) is_gone_on: bool,
    pub(super) open: Vec<OpenText>,
}

impl OpenText {
    /// The start of a secret at the end of a string.
    pub(super) fn start_of(string: &SearchedString<'_>) -> Option<Self> {
        let tail = string.search.tail.as_ref()?;
        let at = tail.start;
        let first = at.saturating_sub(CONTEXT_BYTES);
        let part = OpenPart::Start {
            pieces: vec![TextPart { part: at..string.text.len(), ..string.piece.clone() }],
            at: Some(at),
            copies: Vec::new(),
            cut: tail.cut.as_ref().map(|cut| moved_back(cut, first)),
        };
        Some(Self::new(string, at, part))
    }

    /// The secret at the end of a string.
    pub(super) fn whole_of(string: &SearchedString<'_>) -> Option<Self> {
        let found = &string.search.found;
        let last = found.last().filter(|found| found.may_go_on)?;
        // What names the secret is before it.
        let named = last.range.start.saturating_sub(NAME_BYTES_MAX);
        let before = found.len().checked_sub(2).map_or(0, |index| found[index].range.end);
        let at = named.max(before);
        let more = string.text.len() - at.saturating_sub(CONTEXT_BYTES);
        let part = OpenPart::Whole { more, unsure: Vec::new(), likely: None };
        Some(Self::new(string, at, part))
    }

    fn new(string: &SearchedString<'_>, at: usize, part: OpenPart) -> Self {
        let SearchedString { event, key, text, piece, .. } = string;
        let first = at.saturating_sub(CONTEXT_BYTES);
        let (event, origin) = (*event, (*event, piece.content.start));
        let (text, context) = (text[first..].to_vec(), at - first);
        Self { event, key: *key, origin, is_guess: false, text, context, part }
    }

    pub(super) fn first_line(&self) -> Option<u64> {
        let first = |pieces: &[TextPart]| pieces.first().map(|piece| piece.line);
        match &self.part {
            OpenPart::Start { pieces, copies, .. } => {
                copies.iter().map(|it| first(it)).chain([first(pieces)]).flatten().min()
            }
            OpenPart::Whole { unsure, likely, .. } => {
                let likely = likely.as_ref().and_then(|(pieces, _)| first(pieces));
                likely.into_iter().chain(first(unsure)).min()
            }
        }
    }

    /// Replaces what is a secret unless another event goes on its start.
    pub(super) fn replace_likely(&self, finder: &SecretFinder, held: &mut HeldLines) {
        if let OpenPart::Whole { likely: Some((pieces, found)), .. } = &self.part {
            replace(pieces, self.context, found, finder, held);
        }
    }

    pub(super) fn start_in_string(&self) -> usize {
        match &self.part {
            OpenPart::Start { at, .. } => at.unwrap_or(0),
            OpenPart::Whole { .. } => usize::MAX,
        }
    }

    /// Whether a string has the same text before the start, and the start, once more.
    pub(super) fn is_copied_by(&self, string: &SearchedString<'_>) -> bool {
        let OpenPart::Start { at: Some(at), .. } = self.part else { return false };
        let start = &self.text[self.context..];
        let first = at - self.context;
        self.key.known.is_none()
            && (at > 0 || start.len() >= COPY_BYTES_MIN)
            && string.text.get(first..).is_some_and(|rest| rest.starts_with(&self.text))
    }

    /// A longer copy shows what the start is.
    pub(super) fn grow(
        self,
        string: &SearchedString<'_>,
        own: Option<&mut Self>,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        let OpenPart::Start { pieces, at: Some(at), mut copies, .. } = self.part else { return };
        copies.push(pieces);
        let end = at + self.text.len() - self.context;
        let is_here = |found: &&Found| found.range.end > at && found.range.start <= end;
        if let Some(found) = string.search.found.iter().find(is_here) {
            let found = moved_back(found, at.saturating_sub(self.context));
            for pieces in &copies {
                replace(pieces, self.context, &found, finder, held);
            }
        } else if let Some(own) = own
            && let OpenPart::Start { at: Some(own_at), copies: of_own, .. } = &mut own.part
            && *own_at <= at
        {
            of_own.append(&mut copies);
        }
    }

    /// Searches the text with a string behind it.
    pub(super) fn continued(
        mut self,
        string: &SearchedString<'_>,
        is_same: bool,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) -> Continued {
        if string.text.is_empty() {
            self.event = string.event;
            return Continued { covered: 0, is_gone_on: false, open: vec![self] };
        }
        let before = self.text.len();
        self.text.extend_from_slice(string.text);
        let search = finder.search(&self.text, self.context);
        let of_string = string.search.found.first().map(|own| own.range.end + before);
        let is_new = |it: &Found| it.range.start < before || Some(it.range.end) != of_string;
        let found = search.found.into_iter().next().filter(is_new);
        let is_longer = |at: usize| found.as_ref().is_none_or(|found| at < found.range.start);
        let tail = search.tail.filter(|tail| tail.start < before && is_longer(tail.start));
        let covered = found.as_ref().map_or(0, |found| found.range.end.saturating_sub(before));
        let more = TextPart { part: 0..covered.min(string.text.len()), ..string.piece.clone() };
        let key = TextKey { known: self.key.known, labels: string.key.labels };
        let first = string.search.found.first();
        let is_next = key.known.is_none() && first.is_some_and(|found| found.range.start == 0);
        let (event, part) = (string.event, &mut self.part);
        let open = match (part, found, tail) {
            (OpenPart::Start { pieces, .. }, Some(found), None) => {
                let mut pieces = pieces.clone();
                pieces.push(more);
                let likely = Some((pieces, found.clone()));
                let whole = self.whole(likely, event, key);
                if is_same {
                    whole.replace_likely(finder, held);
                    let open = found.may_go_on.then(|| self.whole(None, event, key));
                    let open = open.into_iter().collect();
                    return Continued { covered, is_gone_on: true, open };
                }
                Some(whole)
            }
            (OpenPart::Whole { .. }, Some(found), _) if covered > 0 && !is_next => {
                let mut longer = Self { event, key, ..self.clone() };
                longer.lengthen(more, &found, finder, held);
                if is_same && !found.may_go_on {
                    longer.replace_likely(finder, held);
                    return Continued { covered, is_gone_on: true, open: Vec::new() };
                }
                Some(longer)
            }
            (OpenPart::Start { pieces, .. }, found, Some(tail)) => {
                let mut longer = pieces.clone();
                longer.push(TextPart { part: 0..string.text.len(), ..string.piece.clone() });
                if let Some(found) = found.filter(|_| is_same) {
                    replace(&longer, self.context, &found, finder, held);
                }
                Some(self.start(longer, tail.start, tail.cut, event, key))
            }
            _ => None,
        };
        if is_same {
            if open.is_none() {
                self.replace_likely(finder, held);
            }
            let is_gone_on = open.is_some();
            return Continued { covered, is_gone_on, open: open.into_iter().collect() };
        }
        self.text.truncate(before);
        let guess = open.map(|open| Self { is_guess: true, ..open });
        let open = std::iter::once(self).chain(guess).collect();
        Continued { covered: 0, is_gone_on: false, open }
    }

    fn lengthen(
        &mut self,
        piece: TextPart,
        found: &Found,
        finder: &SecretFinder,
        held: &mut HeldLines,
    ) {
        let OpenPart::Whole { more, unsure, .. } = &mut self.part else { return };
        unsure.push(piece);
        let is_known = self.key.known.is_some();
        if is_known || looks_random(&self.text[*more..found.range.end]) {
            for piece in unsure.drain(..) {
                let text = if piece.is_plain { finder.replacement(found) } else { "" };
                held.replace(&piece, [(piece.part.clone(), text)]);
            }
        }
    }

    /// The rest of this text, from a place where a secret may begin.
    fn start(
        &self,
        mut pieces: Vec<TextPart>,
        at: usize,
        cut: Option<Found>,
        event: u64,
        key: TextKey,
    ) -> Self {
        let mut skipped = at.saturating_sub(self.context);
        pieces.retain_mut(|piece| {
            let skip = skipped.min(piece.part.len());
            skipped -= skip;
            piece.part.start += skip;
            !piece.part.is_empty()
        });
        let first = at.saturating_sub(CONTEXT_BYTES);
        let cut = cut.map(|cut| moved_back(&cut, first));
        let part = OpenPart::Start { pieces, at: None, copies: Vec::new(), cut };
        let text = self.text[first..].to_vec();
        Self { event, key, text, context: at - first, part, ..*self }
    }

    /// The secret at the end of this text.
    fn whole(&self, likely: Option<(Vec<TextPart>, Found)>, event: u64, key: TextKey) -> Self {
        let (text, more) = (self.text.clone(), self.text.len());
        let part = OpenPart::Whole { more, unsure: Vec::new(), likely };
        Self { event, key, text, part, ..*self }
    }
}

fn moved_back(found: &Found, by: usize) -> Found {
    let mut moved = found.clone();
    moved.range = found.range.start.saturating_sub(by)..found.range.end.saturating_sub(by);
    moved
}

/// Replaces a secret in pieces that make the text behind the context; the first of its pieces gets
/// the replacement.
pub(super) fn replace(
    pieces: &[TextPart],
    context: usize,
    found: &Found,
    finder: &SecretFinder,
    held: &mut HeldLines,
) {
    let (mut start, mut is_first) = (context, true);
    for piece in pieces {
        let end = start + piece.part.len();
        let range = found.range.start.max(start)..found.range.end.min(end);
        if range.start < range.end {
            let offset = |at: usize| piece.part.start + at - start;
            let text = if is_first || piece.is_plain { finder.replacement(found) } else { "" };
            held.replace(piece, [(offset(range.start)..offset(range.end), text)]);
            is_first = false;
        }
        start = end;
    }
}
