//! What a call changed in a file, as a diff.

use maud::{Markup, html};
use ndjson_check_core::{ChangeKind, FileChange, escape::clipped};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::excerpt::Excerpt;
use super::folded::folded;
use super::words::{OneLine, push_text};
use crate::limits::PAGE_VALUE_BYTES_MAX;

pub(super) const CHANGES_MAX: usize = 20;
const PATH_BYTES_MAX: usize = 300;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The two versions are compared if they have at most so many different lines.
const LINES_MAX: usize = 4_000;

/// Replaced lines of which the changed words are marked: so many together, and so many bytes each.
const PAIRS_MAX: usize = 40;
const PAIR_BYTES_MAX: usize = 400;

/// The markup of a line, in bytes, and that of the words of a byte.
const LINE_MARKUP: usize = 12;
const WORD_MARKUP: usize = 4;

#[derive(Debug)]
pub(super) struct PageChange {
    pub(super) path: String,
    from: Option<String>,
    kind: Option<ChangeKind>,
    pub(super) added: Option<u64>,
    pub(super) removed: Option<u64>,
    /// Lines that begin with a space, `-`, `+` or `@`.
    lines: Excerpt,
    cost: usize,
}

impl PageChange {
    pub(super) fn new(change: &FileChange) -> Self {
        let path = |path: &str| clipped(path, PATH_BYTES_MAX).into_owned();
        let text = match (&change.diff, &change.old, &change.new) {
            (Some(diff), ..) => FileChange::hunks(diff).to_owned(),
            (None, None, None) => String::new(),
            (None, old, new) => {
                diff(old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default())
            }
        };
        let count = |sign: char| {
            let lines = text.lines().filter(|line| line.starts_with(sign)).count();
            (!text.is_empty()).then_some(lines as u64)
        };
        let lines = Excerpt::of(&text, PAGE_VALUE_BYTES_MAX);
        let shown = lines.head().lines().count() + lines.tail().1.lines().count();
        Self {
            path: path(&change.path),
            from: change.from.as_deref().map(path),
            kind: change.kind,
            added: change.added.or_else(|| count('+')),
            removed: change.removed.or_else(|| count('-')),
            cost: lines.cost() * WORD_MARKUP + shown * LINE_MARKUP + 6 * 2 * PATH_BYTES_MAX,
            lines,
        }
    }

    /// What it takes in a page at most, in bytes.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    /// Whether the diff shows the lines of this text: an argument that it repeats.
    pub(super) fn says(&self, text: &Excerpt) -> bool {
        let shown = self.lines.head();
        let has = |line: &str| shown.lines().any(|it| it.contains(line.trim()));
        let mut lines =
            text.head().lines().filter(|line| !line.trim().is_empty()).take(20).peekable();
        lines.peek().is_some() && lines.all(has)
    }

    pub(super) fn is_said_by(&self, text: &Excerpt) -> bool {
        let shown = self.lines.head().trim_end();
        !shown.is_empty() && FileChange::hunks(text.head()).starts_with(shown)
    }

    pub(super) fn markup(&self) -> Markup {
        html! {
            p.file {
                @if let Some(from) = &self.from { code { (OneLine(from)) } " → " }
                code { (OneLine(&self.path)) } " "
                (counts(self.added, self.removed))
                @match self.kind {
                    Some(ChangeKind::Added) => { " new file" }
                    Some(ChangeKind::Deleted) => { " deleted" }
                    _ => {}
                }
            }
            @if !self.lines.is_blank() {
                div.diff { (folded(&self.lines, write)) }
            }
        }
    }
}

pub(super) fn counts(added: Option<u64>, removed: Option<u64>) -> Markup {
    html! {
        @if let Some(added) = added.filter(|it| *it > 0) { span.added { "+" (added) } " " }
        @if let Some(removed) = removed.filter(|it| *it > 0) { span.removed { "−" (removed) } }
    }
}

/// The lines that differ, the old ones first, with some lines around.
fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let before = old.iter().zip(&new).take_while(same).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(same).count();
    let old_part = &old_rest[..old_rest.len() - after];
    let new_part = &new_rest[..new_rest.len() - after];
    let mut out = String::new();
    let mut push = |sign: char, lines: &[&str]| {
        for line in lines {
            out.push(sign);
            out.push_str(line);
            out.push('\n');
        }
    };
    push(' ', &old[before.saturating_sub(CONTEXT)..before]);
    if old_part.len() + new_part.len() > LINES_MAX {
        push('-', old_part);
        push('+', new_part);
    } else {
        for op in capture_diff_slices(Algorithm::Myers, old_part, new_part) {
            match op {
                DiffOp::Equal { old_index, len, .. } if len > 2 * CONTEXT + 1 => {
                    push(' ', &old_part[old_index..old_index + CONTEXT]);
                    push('@', &["@"]);
                    push(' ', &old_part[old_index + len - CONTEXT..old_index + len]);
                }
                DiffOp::Equal { old_index, len, .. } => {
                    push(' ', &old_part[old_index..old_index + len]);
                }
                _ => {
                    push('-', &old_part[op.old_range()]);
                    push('+', &new_part[op.new_range()]);
                }
            }
        }
    }
    let end = old_rest.len() - after;
    push(' ', &old_rest[end..(end + CONTEXT).min(old_rest.len())]);
    out
}

/// Appends the markup of some lines. Lines that replace as many others have their changed words
/// marked.
fn write(text: &str, out: &mut String) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut at = 0;
    while at < lines.len() {
        let count = |from: usize, sign: char| {
            lines[from..].iter().take_while(|line| line.starts_with(sign)).count()
        };
        let (removed, added) = (count(at, '-'), count(at + count(at, '-'), '+'));
        if removed > 0 && removed == added && removed <= PAIRS_MAX {
            let (old, new) = (&lines[at..at + removed], &lines[at + removed..at + 2 * removed]);
            let pairs: Vec<[Vec<(bool, &str)>; 2]> =
                old.iter().zip(new).map(|(old, new)| words(&old[1..], &new[1..])).collect();
            for pair in &pairs {
                line("del", '-', &pair[0], out);
            }
            for pair in &pairs {
                line("ins", '+', &pair[1], out);
            }
            at += 2 * removed;
            continue;
        }
        let whole = lines[at];
        let rest = whole.get(1..).unwrap_or_default();
        match whole.chars().next() {
            Some('-') => line("del", '-', &[(false, rest)], out),
            Some('+') => line("ins", '+', &[(false, rest)], out),
            Some('@') => {
                out.push_str("<s>");
                push_text(if rest.trim() == "@" { "⋯\n" } else { whole }, out);
                out.push_str("</s>");
            }
            _ => push_text(whole, out),
        }
        at += 1;
    }
}

/// Appends a line; the words that are true are marked.
fn line(element: &str, sign: char, words: &[(bool, &str)], out: &mut String) {
    out.push('<');
    out.push_str(element);
    out.push('>');
    out.push(sign);
    for (is_changed, text) in words {
        if *is_changed {
            out.push_str("<b>");
        }
        push_text(text, out);
        if *is_changed {
            out.push_str("</b>");
        }
    }
    out.push_str("</");
    out.push_str(element);
    out.push('>');
}

/// Both lines in parts that are the same or changed. If little is the same, nothing is marked.
fn words<'t>(old: &'t str, new: &'t str) -> [Vec<(bool, &'t str)>; 2] {
    let plain = [vec![(false, old)], vec![(false, new)]];
    if old.len().max(new.len()) > PAIR_BYTES_MAX {
        return plain;
    }
    let (old_words, new_words) = (tokens(old), tokens(new));
    let ops = capture_diff_slices(Algorithm::Myers, &old_words, &new_words);
    let length = |words: &[&str]| words.iter().map(|word| word.trim().len()).sum::<usize>();
    let same = ops.iter().filter(|op| matches!(op, DiffOp::Equal { .. }));
    let same: usize = same.map(|op| length(&old_words[op.old_range()])).sum();
    if same * 5 < length(&old_words).max(length(&new_words)) * 2 {
        return plain;
    }
    let mut parts = [Vec::new(), Vec::new()];
    let (mut old_rest, mut new_rest) = (old, new);
    for op in ops {
        let is_changed = !matches!(op, DiffOp::Equal { .. });
        let sides = [
            (&mut old_rest, &old_words[op.old_range()]),
            (&mut new_rest, &new_words[op.new_range()]),
        ];
        for (part, (rest, words)) in parts.iter_mut().zip(sides) {
            let (text, after) = rest.split_at(words.iter().map(|word| word.len()).sum());
            *rest = after;
            if !text.is_empty() {
                part.push((is_changed && !text.trim().is_empty(), text));
            }
        }
    }
    parts
}

/// Words, spaces and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let class = |it: char| match it {
        _ if it.is_alphanumeric() || it == '_' => 1,
        _ if it.is_whitespace() => 2,
        _ => 3,
    };
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let same = |it: char| class(it) == class(first) && class(first) != 3;
        let end = rest.find(|it| !same(it)).unwrap_or(rest.len()).max(first.len_utf8());
        let (token, after) = rest.split_at(end);
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_the_old_lines_first() {
        let lines = |from: u32, to: u32| {
            (from..=to).map(|it| format!("{it}\n")).collect::<Vec<_>>().concat()
        };
        let new = lines(1, 9) + "ten\n" + &lines(11, 30) + "31\n";
        assert_eq!(
            diff(&lines(1, 30), &new),
            " 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n@@\n 28\n 29\n 30\n+31\n"
        );
        assert_eq!(diff("", "a\n"), "+a\n");
        assert_eq!(diff("a", "a"), " a\n");
    }

    #[test]
    fn changed_words_are_marked() {
        let shown = |text: &str| {
            let mut out = String::new();
            write(text, &mut out);
            out
        };
        assert_eq!(
            shown("-let a = 1;\n+let b = 1;\n x\n@@\n"),
            "<del>-let <b>a</b> = 1;\n</del><ins>+let <b>b</b> = 1;\n</ins> x\n<s>⋯\n</s>"
        );
        assert_eq!(shown("-abc\n+xyz <b>"), "<del>-abc\n</del><ins>+xyz &lt;b&gt;</ins>");
        assert_eq!(shown("-é\n-x\n+é"), "<del>-é\n</del><del>-x\n</del><ins>+é</ins>");
    }
}
