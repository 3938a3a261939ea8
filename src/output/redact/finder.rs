//! Finds secrets in a text, and the start of one that may go on in the next text.

use std::ops::Range;

use memchr::memmem;

use super::formats::{Body, FORMATS, PEM_BYTES_MAX, URL_PART_BYTES_MAX};

/// How much of the text before a place shows whether a word begins there, in bytes.
pub(super) const CONTEXT_BYTES: usize = 16;

/// The shortest run behind a prefix that is replaced where the text was cut.
const CUT_BYTES_MIN: usize = 4;

/// Longest label of a PEM block, in bytes.
const LABEL_BYTES_MAX: usize = 40;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    /// The index of its replacement.
    pub(super) format: usize,
}

/// How much of the text is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// More may follow.
    Open,
    Final,
    /// The text was cut: the start of a secret is one, too.
    Cut,
}

/// What a search found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    /// From here on the text may be the start of a secret, and was not searched.
    pub(super) open: Option<usize>,
}

/// The formats and the values to look for.
#[derive(Debug)]
pub(super) struct SecretFinder {
    rows: Vec<Row>,
    /// The rows by their first byte, the longest prefix first.
    by_first: Vec<Vec<usize>>,
    /// A bit for each pair of bytes that a prefix begins with.
    pairs: Vec<u64>,
    prefix_bytes_max: usize,
    replacements: Vec<String>,
}

#[derive(Debug)]
struct Row {
    prefix: Vec<u8>,
    body: Body,
    keeps_prefix: bool,
    format: usize,
}

/// Whether a secret begins at a place.
enum Match {
    No,
    /// It may, if the text goes on.
    Open,
    Yes(Found),
}

impl SecretFinder {
    /// `values` are further secrets, by the name that the replacement shows.
    pub(super) fn new(values: &[(String, Vec<Vec<u8>>)]) -> Self {
        let mut rows = Vec::new();
        let mut replacements = Vec::new();
        for format in FORMATS {
            for prefix in format.prefixes {
                rows.push(Row {
                    prefix: prefix.as_bytes().to_vec(),
                    body: format.body,
                    keeps_prefix: format.keeps_prefix,
                    format: replacements.len(),
                });
            }
            replacements.push(format!("[REDACTED:{}]", format.name));
        }
        for (name, forms) in values {
            rows.extend(forms.iter().map(|form| Row {
                prefix: form.clone(),
                body: Body::Nothing,
                keeps_prefix: false,
                format: replacements.len(),
            }));
            replacements.push(format!("[REDACTED:{name}]"));
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.prefix.len()));
        let (mut by_first, mut pairs) = (vec![Vec::new(); 256], vec![0; 1024]);
        for (index, row) in rows.iter().enumerate() {
            by_first[usize::from(row.prefix[0])].push(index);
            let pair = pair(row.prefix[0], row.prefix[1]);
            pairs[pair / 64] |= 1_u64 << (pair % 64);
        }
        let prefix_bytes_max = rows.iter().map(|row| row.prefix.len()).max().unwrap_or_default();
        Self { rows, by_first, pairs, prefix_bytes_max, replacements }
    }

    pub(super) fn replacement(&self, found: &Found) -> &str {
        &self.replacements[found.format]
    }

    /// A text with its secrets replaced.
    pub(super) fn redacted(&self, text: &[u8], end: TextEnd) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut from = 0;
        for found in self.search(text, 0, end).found {
            out.extend_from_slice(&text[from..found.range.start]);
            out.extend_from_slice(self.replacement(&found).as_bytes());
            from = found.range.end;
        }
        out.extend_from_slice(&text[from..]);
        out
    }

    /// Searches `text` from `from`; what is before it shows where words begin.
    pub(super) fn search(&self, text: &[u8], from: usize, end: TextEnd) -> Search {
        let mut search = Search::default();
        let mut at = from;
        while let Some(candidate) = self.candidate(text, at) {
            at = candidate;
            match self.match_at(text, at, end) {
                Match::No => at += 1,
                Match::Open => {
                    search.open = Some(at);
                    return search;
                }
                Match::Yes(found) => {
                    at = found.range.end;
                    search.found.push(found);
                }
            }
        }
        if end == TextEnd::Open {
            let behind = search.found.last().map_or(from, |found| found.range.end);
            search.open = self.cut_prefix(text, behind);
        }
        search
    }

    /// The next place where a prefix may begin.
    #[inline]
    fn candidate(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        rest.windows(2).position(|two| self.is_pair(two[0], two[1])).map(|at| from + at)
    }

    /// Whether a prefix begins with these bytes.
    #[inline]
    fn is_pair(&self, first: u8, second: u8) -> bool {
        let pair = pair(first, second);
        self.pairs[pair / 64] >> (pair % 64) & 1 != 0
    }

    fn match_at(&self, text: &[u8], at: usize, end: TextEnd) -> Match {
        for index in &self.by_first[usize::from(text[at])] {
            let row = &self.rows[*index];
            if !text[at..].starts_with(&row.prefix) || !row.may_begin(text, at) {
                continue;
            }
            match row.match_body(text, at, end) {
                Match::No => {}
                found => return found,
            }
        }
        Match::No
    }

    /// Where a prefix begins that the end of the text cuts.
    fn cut_prefix(&self, text: &[u8], from: usize) -> Option<usize> {
        let first = from.max((text.len() + 1).saturating_sub(self.prefix_bytes_max));
        (first..text.len()).find(|&at| {
            let may_be = text.get(at + 1).is_none_or(|second| self.is_pair(text[at], *second));
            may_be
                && self.by_first[usize::from(text[at])].iter().any(|index| {
                    let row = &self.rows[*index];
                    row.prefix.len() > text.len() - at
                        && row.prefix.starts_with(&text[at..])
                        && row.may_begin(text, at)
                })
        })
    }
}

impl Row {
    /// Whether what is before the prefix allows it.
    fn may_begin(&self, text: &[u8], at: usize) -> bool {
        match self.body {
            Body::Run(..) => begins_word(text, at),
            // The scheme may be in the text before.
            Body::Url => at == 0 || text[at - 1].is_ascii_alphanumeric(),
            Body::Pem | Body::Nothing => true,
        }
    }

    fn match_body(&self, text: &[u8], at: usize, end: TextEnd) -> Match {
        let start = at + self.prefix.len();
        let body = &text[start..];
        let matched = match self.body {
            Body::Nothing => Part::Yes(0..0),
            Body::Run(charset, least, most, proof) => {
                let length = body.iter().take(most).take_while(|it| charset.has(**it)).count();
                let is_at_end = length == body.len() && length < most;
                if is_at_end && end == TextEnd::Open {
                    Part::Open
                } else if (length >= least && proof.holds(&body[..length]))
                    || (is_at_end && end == TextEnd::Cut && length >= CUT_BYTES_MIN)
                {
                    Part::Yes(0..length)
                } else {
                    Part::No
                }
            }
            Body::Pem => pem(body),
            Body::Url => password(body),
        };
        match matched {
            Part::Yes(part) => {
                let first = if self.keeps_prefix { start + part.start } else { at };
                Match::Yes(Found { range: first..start + part.end, format: self.format })
            }
            Part::Open if end == TextEnd::Open => Match::Open,
            Part::Open => match (self.body, end) {
                // A key without its end is a key, too.
                (Body::Pem, _) => {
                    let length = body.iter().take(PEM_BYTES_MAX);
                    let length = length.take_while(|it| is_of_pem(**it)).count();
                    Match::Yes(Found { range: at..start + length, format: self.format })
                }
                _ => Match::No,
            },
            Part::No => Match::No,
        }
    }
}

/// Whether a body is there, and which part of it is secret.
enum Part {
    No,
    Open,
    Yes(Range<usize>),
}

/// The rest of a private key, behind `-----BEGIN `.
fn pem(body: &[u8]) -> Part {
    let label = body.iter().take(LABEL_BYTES_MAX).take_while(|it| is_of_label(**it)).count();
    if !contains(&body[..label], b"PRIVATE KEY") {
        return if label == body.len() { Part::Open } else { Part::No };
    }
    let body = &body[..body.len().min(PEM_BYTES_MAX)];
    let Some(at) = memmem::find(body, b"-----END ") else { return Part::Open };
    let label = at + "-----END ".len();
    let behind = label + body[label..].iter().take_while(|it| is_of_label(**it)).count();
    let dashes = body[behind..].iter().take(5).take_while(|it| **it == b'-').count();
    if dashes < 5 && behind + dashes == body.len() && body.len() < PEM_BYTES_MAX {
        return Part::Open;
    }
    Part::Yes(0..behind + dashes)
}

/// The password in `user:password@`, behind `://`.
fn password(body: &[u8]) -> Part {
    let is_of_user = |it: &&u8| it.is_ascii_alphanumeric() || b"._%+~!*-".contains(it);
    let user = body.iter().take(URL_PART_BYTES_MAX).take_while(is_of_user).count();
    match body.get(user) {
        None => return Part::Open,
        Some(b':') => {}
        Some(_) => return Part::No,
    }
    let start = user + 1;
    // A variable or a placeholder is no password, and a replacement is none, either.
    if body.get(start).is_some_and(|it| b"$[{<*".contains(it)) {
        return Part::No;
    }
    let is_inside = |it: &&u8| it.is_ascii_graphic() && !b"\"'`<>@/\\".contains(it);
    let length = body[start..].iter().take(URL_PART_BYTES_MAX).take_while(is_inside).count();
    match body.get(start + length) {
        None => Part::Open,
        Some(b'@') if length >= 3 => Part::Yes(start..start + length),
        Some(_) => Part::No,
    }
}

fn is_of_label(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

fn is_of_pem(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=:,\\-".contains(&byte)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memmem::find(text, part).is_some()
}

/// Whether a word may begin at this place. What is escaped once more inside the text (`\n`,
/// `\u0022`, `%20`) and a colour of a terminal end with a letter, and a word may follow.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(CONTEXT_BYTES)..at];
    let Some((last, rest)) = before.split_last() else { return true };
    if !(last.is_ascii_alphanumeric() || *last == b'_') {
        return true;
    }
    let is_hex = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_hexdigit);
    let digits = |count: usize| before.len().checked_sub(count).map(|it| before.split_at(it));
    (b"nrtbf".contains(last) && rest.ends_with(b"\\"))
        || digits(2).is_some_and(|(rest, it)| rest.ends_with(b"%") && is_hex(it))
        || digits(4).is_some_and(|(rest, it)| rest.ends_with(b"\\u") && is_hex(it))
        || (*last == b'm' && is_colour(rest))
}

/// Whether the text ends with `[`, digits and semicolons.
fn is_colour(text: &[u8]) -> bool {
    let rest = text.iter().rev().find(|it| !it.is_ascii_digit() && **it != b';');
    rest == Some(&b'[')
}

#[inline]
fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}
