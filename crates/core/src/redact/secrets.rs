//! Replaces secrets in the lines of a stream, also where several events make one text.
//!
//! The deltas of a text that the profile knows are joined and searched line by line. Every other
//! string is searched alone. One that ends with what may be a part of a secret is also searched
//! together with the next string at the same place, if both can be of one text.

use std::collections::BTreeMap;
use std::sync::Arc;

use ndjson_check_secrets::{Search, SecretFinder, is_header, is_secret_name};

use super::delta_text::DeltaText;
use super::held::{HeldLines, TextPart};
use super::known_lines::LineStrings;
use super::open_text::{SearchedString, TextKey};
use super::open_texts::{OpenTexts, PLAIN};
use super::repeated::RepeatedStrings;
use super::siblings::Siblings;
use super::texts::{EventTexts, TextReader};
use super::written::{WrittenString, decoded, strings};
use crate::limits::{DELTA_TEXTS_MAX, HELD_BYTES_MAX};
use crate::profile::Profile;

/// Replaces secrets line by line. A line that ends with what may be the start of a secret waits
/// for those that follow.
#[derive(Debug)]
pub(super) struct SecretLines {
    finder: Arc<SecretFinder>,
    /// Once the profile is known.
    texts: Option<TextReader>,
    held: HeldLines,
    repeated: RepeatedStrings,
    /// The number of the next event.
    event: u64,
    /// By the place of their strings.
    open: BTreeMap<u64, OpenTexts>,
    /// By the text, as the profile knows it.
    deltas: BTreeMap<u64, DeltaText>,
    /// Where the latest delta was, and its text.
    latest: Option<(u64, u64)>,
}

impl SecretLines {
    pub(super) fn new(finder: Arc<SecretFinder>) -> Self {
        let (held, open) = (HeldLines::default(), BTreeMap::new());
        let repeated = RepeatedStrings::new();
        let deltas = BTreeMap::new();
        Self { finder, texts: None, held, repeated, event: 0, open, deltas, latest: None }
    }

    /// From the next line on, the profile says which strings make one text.
    pub(super) fn use_profile(&mut self, profile: &Arc<Profile>) {
        self.texts = Some(TextReader::new(profile));
    }

    /// Takes a line with its terminator; appends the lines that are ready.
    pub(super) fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let number = self.held.push(line);
        let body = line.trim_ascii_end();
        let Self { texts, open, .. } = self;
        let is_awaited = |place| open.contains_key(&place);
        let known = texts.as_mut().and_then(|texts| texts.known.recall(line, is_awaited));
        if let Some(known) = known {
            self.strings(body, number, &known);
        } else {
            let found = self.read(body);
            self.strings(body, number, &found);
            if !found.shape.is_json && !body.is_empty() {
                self.plain(body, number, body.len() < line.len());
            }
            self.learn(body, found);
        }
        let next = self.event;
        self.open.retain(|_, open| {
            open.expire(next, &self.finder, &mut self.held);
            !open.is_empty()
        });
        if self.held.bytes() > HELD_BYTES_MAX {
            self.cut();
        }
        self.release(out);
    }

    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        self.cut();
        self.release(out);
    }

    /// The strings of a line without its terminator.
    fn read(&mut self, line: &[u8]) -> LineStrings {
        let mut found = Vec::new();
        let shape = strings(line, |string| found.push(string));
        let texts = self.texts.as_mut().map(|texts| texts.read(line)).unwrap_or_default();
        LineStrings { shape, strings: found, texts }
    }

    /// Learns the shape of a line in which no string shows what another one is.
    fn learn(&mut self, line: &[u8], mut found: LineStrings) {
        let (Some(texts), Some(slots)) = (&mut self.texts, found.texts.slots.take()) else {
            return;
        };
        let is_alone = |it: &WrittenString| it.is_key || !(it.is_item || is_of_pair(line, it));
        if found.shape.is_json && found.strings.iter().all(is_alone) {
            texts.known.learn(line, slots, found, |string| self.repeated.has_string(line, string));
        }
    }

    fn strings(&mut self, line: &[u8], number: u64, strings: &LineStrings) {
        let LineStrings { shape, strings, texts } = strings;
        let items = strings.last().map_or(0, |string| string.item);
        let mut ends = texts.ends.iter().copied().peekable();
        let mut siblings = Siblings::default();
        for string in strings {
            let is_value = !(string.is_key || string.is_cut);
            let content = string.content.clone();
            while ends.next_if(|end| *end <= content.start).is_some() {
                self.end_texts(false);
            }
            let delta = self.delta_at(string, texts);
            let is_awaited = is_value && self.open.contains_key(&string.place);
            let is_repeated = delta.is_none() && self.repeated.has_string(line, string);
            let is_sibling = is_value && (string.is_item || is_of_pair(line, string));
            if is_repeated && !is_awaited && !is_sibling {
                continue;
            }
            let text = decoded(&line[content.clone()]);
            let piece = TextPart { line: number, content, part: 0..text.len(), is_plain: false };
            if is_sibling {
                siblings.enter(string.container, &self.finder, &mut self.held);
                let key = string.key.clone().filter(|_| !string.is_item);
                siblings.take(key.map(|key| decoded(&line[key])), &text, &piece);
            }
            if let Some(delta) = delta {
                self.delta(string.place, delta, &text, piece);
                continue;
            }
            let search = if is_repeated {
                Search::default()
            } else {
                self.search(line, string, &text, &piece)
            };
            let is_open =
                search.tail.is_some() || search.found.last().is_some_and(|it| it.may_go_on);
            if is_awaited || (is_value && is_open) {
                let key = TextKey { known: None, labels: shape.labels };
                let event = self.event + string.item;
                let is_whole = !string.is_cut && texts.is_whole(string.content.start);
                let searched = SearchedString { event, key, text: &text, piece, search };
                self.take(string.place, &searched, is_whole);
            }
        }
        siblings.leave(&self.finder, &mut self.held);
        if ends.next().is_some() {
            self.end_texts(false);
        }
        self.event += items + 1;
    }

    /// The text of which a string is a delta.
    fn delta_at(&self, string: &WrittenString, texts: &EventTexts) -> Option<u64> {
        texts.delta_at(string.content.start).or_else(|| {
            // Where the line is cut, no event shows what its last string is.
            let (place, text) = self.latest.filter(|_| string.is_cut && !string.is_key)?;
            (place == string.place).then_some(text)
        })
    }

    fn delta(&mut self, place: u64, of: u64, text: &[u8], piece: TextPart) {
        if self.deltas.len() == DELTA_TEXTS_MAX && !self.deltas.contains_key(&of) {
            self.end_texts(true);
        }
        self.latest = Some((place, of));
        self.deltas.entry(of).or_default().push(text, piece, &self.finder, &mut self.held);
    }

    /// Searches a string alone, and replaces what is found.
    fn search(
        &mut self,
        line: &[u8],
        string: &WrittenString,
        text: &[u8],
        piece: &TextPart,
    ) -> Search {
        let search = if string.is_key && !string.is_cut {
            self.finder.search_whole(text, 0)
        } else {
            self.finder.search(text, 0)
        };
        let is_name = string.is_key && (is_secret_name(text) || is_header(text));
        if search == Search::default() && !is_name {
            self.repeated.add(&line[string.content.clone()], string.is_key);
        }
        self.replace(piece, &search, string.is_cut);
        if let Some(key) = &string.key {
            let key = decoded(&line[key.clone()]);
            let is_name = is_secret_name(&key);
            let value = is_name.then(|| self.finder.member_value(text)).flatten();
            let header = self.finder.header_values(&key, text);
            self.held.replace_found(piece, value.iter().chain(&header), &self.finder);
        }
        search
    }

    /// A line that is not JSON, or not only.
    fn plain(&mut self, line: &[u8], number: u64, has_end: bool) {
        let text = if has_end { [line, b"\n"].concat() } else { line.to_vec() };
        let search = self.finder.search(&text, 0);
        let content = 0..line.len();
        let piece = TextPart { line: number, content, part: 0..text.len(), is_plain: true };
        self.replace(&piece, &search, !has_end);
        let key = TextKey { known: Some(PLAIN), labels: 0 };
        let event = self.event;
        self.take(PLAIN, &SearchedString { event, key, text: &text, piece, search }, false);
    }

    /// Replaces what was found in a string alone.
    fn replace(&mut self, piece: &TextPart, search: &Search, is_cut: bool) {
        let cut = search.tail.as_ref().and_then(|tail| tail.cut.as_ref()).filter(|_| is_cut);
        self.held.replace_found(piece, search.found.iter().chain(cut), &self.finder);
    }

    fn take(&mut self, place: u64, string: &SearchedString<'_>, is_whole: bool) {
        let open = self.open.entry(place).or_default();
        if is_whole {
            open.take_whole(string, &self.finder, &mut self.held);
        } else {
            open.take(string, &self.finder, &mut self.held);
        }
        if open.is_empty() {
            self.open.remove(&place);
        }
    }

    /// No more of the texts that the profile knows comes.
    fn end_texts(&mut self, is_cut: bool) {
        for text in std::mem::take(&mut self.deltas).values_mut() {
            text.end(is_cut, &self.finder, &mut self.held);
        }
        self.latest = None;
    }

    fn cut(&mut self) {
        self.end_texts(true);
        for open in std::mem::take(&mut self.open).into_values() {
            open.cut(&self.finder, &mut self.held);
        }
    }

    /// Appends the lines that nothing waits for.
    fn release(&mut self, out: &mut Vec<u8>) {
        let open = self.open.values().filter_map(OpenTexts::first_line);
        let deltas = self.deltas.values().filter_map(DeltaText::first_line);
        let first = open.chain(deltas).min();
        self.held.release(first.unwrap_or(u64::MAX), out);
    }
}

/// Whether a string is a name or a value in a list of these.
fn is_of_pair(line: &[u8], string: &WrittenString) -> bool {
    let is = |key: &[u8]| {
        [&b"name"[..], b"key", b"header", b"value"].iter().any(|it| key.eq_ignore_ascii_case(it))
    };
    string.key.as_ref().is_some_and(|key| is(&line[key.clone()]))
}
