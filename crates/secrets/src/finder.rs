//! Finds secrets in a text, and the start of one that may go on in the next text.

use std::ops::Range;

use crate::borders::{Border, border};
use crate::classes::Runs;
use crate::colours::PlainText;
use crate::commands;
use crate::formats::{FORMATS, TokenShape};
use crate::forms::SecretValue;
use crate::named::{Named, NamedKind, SEPARATORS, behind_separator, cut_name, is_cut_value};
use crate::pem;
use crate::rows::{LONG, Match, Row};
use crate::starts::Starts;
use crate::values::is_secret_value;

/// How much of the text before a place shows whether a secret begins there, in bytes.
pub const CONTEXT_BYTES: usize = 64;

/// The shortest start of the value of a variable that is replaced where the text was cut.
const CUT_VALUE_BYTES_MIN: usize = 6;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// The index of its replacement.
    pub(crate) format: usize,
    /// Whether it reaches the end of the text, and more of it could follow.
    pub may_go_on: bool,
}

/// What a search finds in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The secrets in their order.
    pub found: Vec<Found>,
    /// What may be a secret if the text goes on.
    pub tail: Option<Tail>,
}

/// The end of a text that may be the start of a secret.
#[derive(Debug, PartialEq, Eq)]
pub struct Tail {
    /// Where it begins in the text.
    pub start: usize,
    /// What to replace if nothing follows because the text was cut.
    pub cut: Option<Found>,
}

/// Searches texts for the known formats of secrets, and for values.
#[derive(Debug)]
pub struct SecretFinder {
    rows: Vec<Row>,
    /// The rows by their first byte, in the order of the second one, the longest prefix first.
    by_first: Vec<Vec<(Option<u8>, u16)>>,
    starts: Starts,
    prefix_bytes_max: usize,
    replacements: Vec<String>,
}

/// The names of the replacements behind those of the formats.
const NAMED: usize = FORMATS.len();
const COOKIE: usize = NAMED + 1;

/// What begins an option of a command, a value in a table, an entry of a `.netrc`, and `ENV NAME
/// VALUE` and the like.
#[rustfmt::skip]
const OTHERS: &[&[u8]] = &[
    b"--", b"-u", b"-su", b"-U", b"-p", b"-P", b"-a", b"-b", b"-w", b"||", NETRC,
    b"-storepass", b"-keypass", b"-srcstorepass", b"-deststorepass",
    b"-SecureString", b"-String", b"-AsPlainText", b"-Force",
    b"ENV ", b"setenv ", b"setx ", b"set ", b"add ", b"put ",
];
const NETRC: &[u8] = b"password ";

impl SecretFinder {
    /// Finds the known formats, and these values.
    pub fn new(values: &[SecretValue]) -> Self {
        let values: Vec<_> = values.iter().map(|it| (it.name.clone(), it.forms())).collect();
        Self::with_forms(&values)
    }

    /// `values` are further secrets, by the name that the replacement shows.
    fn with_forms(values: &[(String, Vec<Vec<u8>>)]) -> Self {
        let mut rows = Vec::new();
        let mut replacements = Vec::new();
        for format in FORMATS {
            for prefix in format.prefixes {
                let (prefix, format_index) = (prefix.as_bytes().to_vec(), replacements.len());
                rows.push(Row { prefix, body: format.body, format: format_index });
            }
            replacements.push(format!("[REDACTED:{}]", format.name));
        }
        replacements.push("[REDACTED:named-secret]".to_owned());
        replacements.push("[REDACTED:cookie]".to_owned());
        for (name, forms) in values {
            let format = replacements.len();
            let row =
                |form: &Vec<u8>| Row { prefix: form.clone(), body: TokenShape::Nothing, format };
            rows.extend(forms.iter().map(row));
            replacements.push(format!("[REDACTED:{name}]"));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.prefix.len()));
        let mut by_first = vec![Vec::new(); 256];
        for (index, row) in rows.iter().enumerate() {
            let (first, second) = (row.prefix[0], row.prefix.get(1).copied());
            by_first[usize::from(first)].push((second, u16::try_from(index).unwrap_or(u16::MAX)));
        }
        for rows in &mut by_first {
            rows.sort_by_key(|(second, _)| *second);
        }
        let prefixes = rows.iter().map(|row| &row.prefix[..]);
        // Of several separators the last one counts.
        let starts: Vec<&[u8]> = prefixes.chain(OTHERS.iter().copied()).collect();
        let starts = Starts::new(&starts, b"=:>,", b"=:>{[(<$%");
        let prefix_bytes_max = rows.iter().map(|row| row.prefix.len()).max().unwrap_or_default();
        Self { rows, by_first, starts, prefix_bytes_max, replacements }
    }

    /// What to write instead of a secret: `[REDACTED:github-token]`.
    pub fn replacement(&self, found: &Found) -> &str {
        &self.replacements[found.format]
    }

    /// The secret in a text that the name of a secret belongs to, such as a member of an object.
    pub fn member_value(&self, value: &[u8]) -> Option<Found> {
        let format = self.search(value, 0).found.into_iter().next();
        let whole = 0..value.len();
        if format.as_ref().is_none_or(|it| it.range != whole) && is_secret_value(value, true) {
            return Some(Found { range: whole, format: NAMED, may_go_on: false });
        }
        format
    }

    /// The secrets in the value of a header, which a member with its name has.
    pub fn header_values(&self, name: &[u8], value: &[u8]) -> Vec<Found> {
        if !is_header(name) {
            return Vec::new();
        }
        let header = [name, b": ", value].concat();
        let from = name.len() + 2;
        let found = self.search_whole(&header, 0).found.into_iter();
        let of_value = found.filter(|found| found.range.start >= from);
        of_value
            .map(|it| Found { range: it.range.start - from..it.range.end - from, ..it })
            .collect()
    }

    /// Searches `text` from `from`; what is before it shows where words begin, and may be the name
    /// or the prefix that a secret keeps. The colours of a terminal may be between them.
    pub fn search(&self, text: &[u8], from: usize) -> Search {
        let search = self.search_plain(text, from);
        match PlainText::of(text) {
            None => search,
            Some(plain) => {
                let in_plain = self.search_plain(&plain.text, plain.place_of(from));
                plain.joined(search, in_plain)
            }
        }
    }

    fn search_plain(&self, text: &[u8], from: usize) -> Search {
        let mut search = self.search_whole(text, from);
        let last = search.found.last();
        let floor = last.map_or(from, |it| it.range.end);
        if !last.is_some_and(|it| it.may_go_on)
            && let Some(tail) = self.cut_prefix(text, floor)
        {
            search.add_tail(tail);
        }
        search
    }

    /// The same for a text that has ended: its last word cannot be the start of a secret.
    pub fn search_whole(&self, text: &[u8], from: usize) -> Search {
        let mut search = Search::default();
        let mut runs = Runs::new(text);
        let (mut at, mut floor) = (from.saturating_sub(CONTEXT_BYTES), from);
        while let Some(candidate) = self.starts.next(text, at) {
            at = candidate;
            match self.match_at(&mut runs, at, floor) {
                Match::No => at += 1,
                Match::Open(tail) if tail.start < floor => at += 1,
                Match::Yes(found) if found.range.start < floor => at += 1,
                Match::Open(tail) => {
                    at += 1;
                    search.add_tail(tail);
                }
                // The length is right only because the text ends here.
                Match::Yes(found) if search.tail.is_some() && is_exact_by_end(&found) => at += 1,
                Match::Yes(found) => {
                    floor = self.add_found(&mut runs, at, floor, found, &mut search);
                    at = floor.max(at + 1);
                }
            }
        }
        search
    }

    /// Adds a secret, and those between the name or prefix that shows it and itself. Returns where
    /// it ends.
    fn add_found(
        &self,
        runs: &mut Runs,
        at: usize,
        mut floor: usize,
        mut found: Found,
        search: &mut Search,
    ) -> usize {
        let mut from = floor.max(at + 1);
        while from < found.range.start
            && let Some(place) = self.starts.next(&runs.text[..found.range.start], from)
        {
            from = place + 1;
            let Match::Yes(inner) = self.match_rows(runs, place, floor) else { continue };
            if inner.range.end > found.range.start {
                found.range.start = inner.range.start.min(found.range.start);
                found.range.end = inner.range.end.max(found.range.end);
            } else {
                from = inner.range.end;
                floor = inner.range.end;
                search.found.push(inner);
            }
        }
        let end = found.range.end;
        search.found.push(found);
        end
    }

    /// What begins here. A secret may also reach back from here, to `floor` at most.
    fn match_at(&self, runs: &mut Runs, at: usize, floor: usize) -> Match {
        let formats = self.match_rows(runs, at, floor);
        let named = match runs.text[at] {
            _ if matches!(formats, Match::Yes(_)) => Named::No,
            byte if SEPARATORS.contains(&byte) => behind_separator(runs, at),
            b'-' => commands::option(runs, at),
            b'p' if runs.text[at..].starts_with(NETRC) => {
                commands::netrc(runs, at, at + NETRC.len())
            }
            b'E' | b's' | b'a' | b'p' => commands::assignment(runs, at),
            _ => Named::No,
        };
        match named {
            Named::Open(start, value) if matches!(formats, Match::No) => {
                let is_cut = is_cut_value(&runs.text[value.clone()]) && value.start >= floor;
                let cut = is_cut.then_some(Found { range: value, format: NAMED, may_go_on: true });
                Match::Open(Tail { start: start.max(floor), cut })
            }
            Named::No | Named::Open(..) => formats,
            Named::Secret(start, range, kind) => self.of_named(runs, start, range, kind, floor),
        }
    }

    /// A secret by its name, called by its format if it has one.
    fn of_named(
        &self,
        runs: &mut Runs,
        start: usize,
        range: Range<usize>,
        kind: NamedKind,
        floor: usize,
    ) -> Match {
        // A replacement is not a value.
        let value = &runs.text[start.min(range.start)..range.end];
        if range.start < floor || memchr::memmem::find(value, b"[REDACTED:").is_some() {
            return Match::No;
        }
        for place in [start, range.start] {
            match self.match_rows(runs, place, floor) {
                Match::Yes(found) if found.range.end >= range.end => return Match::Yes(found),
                _ => {}
            }
        }
        let may_go_on = range.end == runs.text.len() && range.len() < LONG;
        let format = if kind == NamedKind::Cookie { COOKIE } else { NAMED };
        Match::Yes(Found { range, format, may_go_on })
    }

    fn match_rows(&self, runs: &mut Runs, at: usize, floor: usize) -> Match {
        let text = runs.text;
        let mut open = Match::No;
        let next = text.get(at + 1).copied();
        let rows = &self.by_first[usize::from(text[at])];
        let of_one_byte = rows.iter().take_while(|(second, _)| second.is_none());
        for (_, index) in of_one_byte.chain(of_pair(rows, next)) {
            let row = &self.rows[usize::from(*index)];
            if !text[at..].starts_with(&row.prefix) {
                continue;
            }
            match row.match_body(runs, at, floor) {
                Match::Yes(found) => return Match::Yes(found),
                Match::Open(tail) if matches!(open, Match::No) => open = Match::Open(tail),
                Match::Open(_) | Match::No => {}
            }
        }
        open
    }

    /// The start of a prefix, a value or a name that the end of the text cuts.
    fn cut_prefix(&self, text: &[u8], from: usize) -> Option<Tail> {
        let mut at = from.max((text.len() + 1).saturating_sub(self.prefix_bytes_max));
        let mut prefix = None;
        while prefix.is_none() && at < text.len() {
            at = self.starts.next(text, at).unwrap_or(text.len() - 1);
            prefix = self.cut_row(text, at, from);
            at += 1;
        }
        let name = cut_name(text, from);
        match (prefix, name) {
            (Some(tail), Some(name)) => Some(Tail { start: tail.start.min(name), cut: tail.cut }),
            (Some(tail), None) => Some(tail),
            (None, name) => name.map(|start| Tail { start, cut: None }),
        }
    }

    /// A row whose prefix begins at a place, and goes on behind the end of the text.
    fn cut_row(&self, text: &[u8], at: usize, floor: usize) -> Option<Tail> {
        let rest = &text[at..];
        let next = rest.get(1).copied();
        let rows = &self.by_first[usize::from(rest[0])];
        // The search looks at pairs, so it did not look at the last byte.
        let rows = if next.is_none() { &rows[..] } else { of_pair(rows, next) };
        let rows = rows.iter().map(|(_, index)| &self.rows[usize::from(*index)]);
        let is_cut = |row: &&Row| {
            next.is_none() || (row.prefix.len() > rest.len() && row.prefix.starts_with(rest))
        };
        let mut rows = rows.filter(is_cut).peekable();
        let is_word = rows.peek().is_some() && border(text, at) == Border::Word;
        let mut tail: Option<Tail> = None;
        for row in rows {
            let Some(start) = row.cut_start(text, at, floor, is_word) else { continue };
            let is_long = rest.len() >= CUT_VALUE_BYTES_MIN;
            let is_value = is_long && matches!(row.body, TokenShape::Nothing);
            let range = at..text.len();
            let cut = is_value.then_some(Found { range, format: row.format, may_go_on: true });
            let known = tail.get_or_insert(Tail { start, cut: None });
            known.start = known.start.min(start);
            known.cut = known.cut.take().or(cut);
        }
        tail
    }
}

impl Found {
    /// Whether it is a private key without its last line. `text` is the text that was searched.
    pub fn lacks_end(&self, text: &[u8]) -> bool {
        let format = FORMATS.get(self.format);
        let is_key = format.is_some_and(|format| matches!(format.body, TokenShape::Pem));
        is_key && pem::lacks_end(&text[self.range.clone()])
    }
}

impl Search {
    /// The earliest start, and the first that can be replaced.
    fn add_tail(&mut self, tail: Tail) {
        match &mut self.tail {
            None => self.tail = Some(tail),
            Some(known) => {
                known.start = known.start.min(tail.start);
                known.cut = known.cut.take().or(tail.cut);
            }
        }
    }
}

fn is_exact_by_end(found: &Found) -> bool {
    let body = FORMATS.get(found.format).map(|format| format.body);
    found.may_go_on && matches!(body, Some(TokenShape::Run(run)) if run.is_exact)
}

/// Whether a name is that of a header whose value [`SecretFinder::header_values`] reads: of cookies
/// or credentials.
pub fn is_header(name: &[u8]) -> bool {
    let names: [&[u8]; 4] = [b"cookie", b"set-cookie", b"authorization", b"proxy-authorization"];
    names.iter().any(|it| name.eq_ignore_ascii_case(it))
}

/// The rows with this second byte.
fn of_pair(rows: &[(Option<u8>, u16)], next: Option<u8>) -> &[(Option<u8>, u16)] {
    let Some(next) = next else { return &[] };
    let first = rows.partition_point(|(second, _)| *second < Some(next));
    let rows = &rows[first..];
    &rows[..rows.partition_point(|(second, _)| *second == Some(next))]
}

#[cfg(test)]
mod tests;
