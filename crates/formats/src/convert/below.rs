//! The lines below a call in a log: its result, or what it changed.

use ndjson_check_core::{CallKind, CallOutcome, CompletedCall, FileChange, escape::clipped_chars};

use super::colours::shown_line;
use super::log::{FormStyle, LineStyle};

const LINE_CHARS_MAX: usize = 300;

/// Of what was read, one line in so many is shown: a reader of the log wants to know what became of
/// it.
const READ_PART: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct BelowLine {
    pub(super) text: String,
    pub(super) style: LineStyle,
}

impl FormStyle {
    pub(super) fn below(&self, call: &CompletedCall<'_>) -> Vec<BelowLine> {
        if self.results == 0 {
            return Vec::new();
        }
        let changed = changed_lines(&call.changes);
        if !changed.is_empty() {
            return self.shown_lines(&changed, self.results);
        }
        let Some(result) = call.result.as_deref() else { return Vec::new() };
        let has_failed = call.outcome == CallOutcome::Failed || call.outcome.is_refusal();
        let style = if has_failed { LineStyle::Plain } else { LineStyle::Quiet };
        let is_read = matches!(call.call.kind, Some(CallKind::Read)) && !has_failed;
        let most = if is_read { self.results.div_ceil(READ_PART) } else { self.results };
        self.result_lines(result, style, most)
    }

    fn result_lines(&self, result: &str, style: LineStyle, most: usize) -> Vec<BelowLine> {
        let lines: Vec<(LineStyle, String)> =
            result.trim_end().split('\n').map(|line| (style, line.to_owned())).collect();
        let is_blank = |(_, line): &(_, String)| line.trim().is_empty();
        let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
        self.shown_lines(&lines[first..], most)
    }

    /// All lines, or the first and the last.
    fn shown_lines(&self, lines: &[(LineStyle, String)], most: usize) -> Vec<BelowLine> {
        let left_out = lines.len().saturating_sub(most);
        if left_out == 0 {
            return lines.iter().map(|line| self.shown(line)).collect();
        }
        let last = most / 2;
        let (head, rest) = lines.split_at(most - last);
        let text = match left_out {
            1 => "… 1 line more …".to_owned(),
            count => format!("… {count} lines more …"),
        };
        let more = BelowLine { text, style: LineStyle::Quiet };
        let head = head.iter().map(|line| self.shown(line));
        head.chain([more]).chain(rest[left_out..].iter().map(|line| self.shown(line))).collect()
    }

    /// A line, and not too much of it.
    fn shown(&self, (style, line): &(LineStyle, String)) -> BelowLine {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if self.is_raw {
            let text = clipped_chars(line, LINE_CHARS_MAX).into_owned();
            return BelowLine { text, style: *style };
        }
        // Lines with a colour of ours have none of their own.
        let is_plain = matches!(style, LineStyle::Plain | LineStyle::Quiet);
        let text = shown_line(line, LINE_CHARS_MAX, self.color && is_plain);
        let style = if is_plain && text.contains('\x1b') { LineStyle::Plain } else { *style };
        BelowLine { text, style }
    }
}

fn changed_lines(changes: &[FileChange]) -> Vec<(LineStyle, String)> {
    let mut lines = Vec::new();
    for change in changes {
        let before = lines.len();
        if let Some(diff) = &change.diff {
            of_diff(diff, &mut lines);
        } else if change.old.is_some() || change.new.is_some() {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            of_texts(&text(&change.old), &text(&change.new), &mut lines);
        }
        if changes.len() > 1 && lines.len() > before {
            lines.insert(before, (LineStyle::Quiet, change.path.clone()));
        }
    }
    lines
}

fn of_diff(diff: &str, lines: &mut Vec<(LineStyle, String)>) {
    lines.extend(FileChange::hunks(diff).lines().filter_map(|line| {
        let style = match line.as_bytes().first() {
            Some(b'+') => LineStyle::Added,
            Some(b'-') => LineStyle::Removed,
            _ => return None,
        };
        Some((style, line.to_owned()))
    }));
}

/// Of two texts: what lies between the lines with which both begin and those with which both end.
fn of_texts(old: &str, new: &str, lines: &mut Vec<(LineStyle, String)>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let begin = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (&old[begin..], &new[begin..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let removed =
        old[..old.len() - end].iter().map(|line| (LineStyle::Removed, format!("-{line}")));
    let added = new[..new.len() - end].iter().map(|line| (LineStyle::Added, format!("+{line}")));
    lines.extend(removed.chain(added));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lines: usize, result: &str) -> Vec<String> {
        let log = FormStyle::default();
        let below = log.result_lines(result, LineStyle::Quiet, lines);
        below.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn the_first_and_the_last_lines_of_a_result_are_shown() {
        assert_eq!(shown(3, "\n \na\n\nb\n\n"), ["a", "", "b"]);
        assert_eq!(shown(3, ""), [""; 0]);
        assert_eq!(shown(3, "a\nb\nc\nd"), ["a", "b", "… 1 line more …", "d"]);
        assert_eq!(shown(1, "a\nb\nc"), ["a", "… 2 lines more …"]);
        assert_eq!(shown(2, "a\r\nb\u{1b}[2J\rc"), ["a", "b\\x1b[2J\\rc"]);
        let long = shown(1, &"ä".repeat(LINE_CHARS_MAX + 1));
        assert_eq!(long, [format!("{}…", "ä".repeat(LINE_CHARS_MAX))]);
    }

    fn texts(lines: &[(LineStyle, String)]) -> Vec<&str> {
        lines.iter().map(|(_, line)| &**line).collect()
    }

    #[test]
    fn a_diff_is_its_changed_lines() {
        let mut lines = Vec::new();
        of_diff("--- a\n+++ b\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n", &mut lines);
        assert_eq!(texts(&lines), ["-old", "+new"]);
        lines.clear();
        of_texts("a\nb\nc\n", "a\nB\nc\n", &mut lines);
        assert_eq!(texts(&lines), ["-b", "+B"]);
        lines.clear();
        of_texts("", "a\nb\n", &mut lines);
        assert_eq!(texts(&lines), ["+a", "+b"]);
        lines.clear();
        of_texts("a\na\n", "a\n", &mut lines);
        assert_eq!(texts(&lines), ["-a"]);
    }
}
