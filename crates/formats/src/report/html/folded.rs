//! A long block of text: its first and last lines, and between them a fold with the others.

use maud::{Markup, PreEscaped, html};

use super::excerpt::Excerpt;
use super::words::size;

/// Rows of a block that stay before a fold and after it, and the fewest that are folded.
const HEAD_ROWS: usize = 8;
const TAIL_ROWS: usize = 5;
const FOLD_ROWS: usize = 5;

const ROW_CHARS: usize = 110;

/// The markup of an excerpt; `write` appends the markup of each piece of its text, in order.
pub(super) fn folded(text: &Excerpt, mut write: impl FnMut(&str, &mut String)) -> Markup {
    let (missing, tail) = text.tail();
    let whole;
    let (head, tail) = if missing == 0 {
        whole = format!("{}{tail}", text.head());
        (whole.as_str(), "")
    } else {
        (text.head(), tail)
    };
    let (head, tail) = (head.trim_start_matches(['\r', '\n']), tail.trim_end());
    let head = if missing == 0 { head.trim_end() } else { head };
    let mut pre = |text: &str| {
        let mut out = String::new();
        write(text, &mut out);
        PreEscaped(out)
    };
    let (first, rest) = head.split_at(first_rows(head, HEAD_ROWS));
    let (middle, last) = if missing == 0 {
        rest.split_at(last_rows(rest, TAIL_ROWS))
    } else {
        tail.split_at(last_rows(tail, TAIL_ROWS))
    };
    if missing == 0 && rows(middle) < FOLD_ROWS {
        let is_short = head.len() <= ROW_CHARS && !head.contains('\n');
        return html! {
            @if is_short { pre.short { (pre(head)) } } @else { pre { (pre(head)) } }
        };
    }
    let lines =
        middle.matches('\n').count() + if missing > 0 { rest.matches('\n').count() } else { 0 };
    html! {
        pre { (pre(first)) }
        details.more {
            summary {
                @if missing > 0 { "show the rest that is here; " (size(missing)) " are left out" }
                @else if lines > 0 { "show " (lines) " more lines" }
                @else { "show " (size(middle.len() as u64)) " more" }
            }
            pre {
                @if missing > 0 {
                    (pre(rest)) span.cut { "… " (size(missing)) " left out …" }
                }
                (pre(middle))
            }
        }
        @if !last.is_empty() { pre { (pre(last)) } }
    }
}

fn rows_of_line(line: &str) -> usize {
    1 + line.len() / ROW_CHARS
}

fn rows(text: &str) -> usize {
    text.split_inclusive('\n').map(rows_of_line).sum()
}

/// Where these first rows end: after a line, or within a line that is very long.
fn first_rows(text: &str, max: usize) -> usize {
    let (mut end, mut rows) = (0, 0);
    for line in text.split_inclusive('\n') {
        rows += rows_of_line(line);
        if rows > max && end > 0 {
            break;
        }
        if rows > 2 * max {
            return boundary(text, end + max * ROW_CHARS);
        }
        end += line.len();
        if rows >= max {
            break;
        }
    }
    end
}

/// Where these last rows begin.
fn last_rows(text: &str, max: usize) -> usize {
    let (mut start, mut rows) = (text.len(), 0);
    for line in text.split_inclusive('\n').rev() {
        rows += rows_of_line(line);
        if rows > max && start < text.len() {
            break;
        }
        if rows > 2 * max {
            return boundary(text, start - max * ROW_CHARS);
        }
        start -= line.len();
        if rows >= max {
            break;
        }
    }
    start
}

/// The first place between two characters from here on.
fn boundary(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, max: usize) -> String {
        folded(&Excerpt::of(text, max), |text, out| out.push_str(text)).into_string()
    }

    #[test]
    fn only_long_blocks_are_folded() {
        let lines =
            |count: usize| (1..=count).map(|it| format!("{it}\n")).collect::<Vec<_>>().concat();
        assert_eq!(shown(&lines(17), 1_000).matches("<pre>").count(), 1);
        let page = shown(&lines(60), 1_000);
        assert!(page.contains("<pre>1\n2\n3\n4\n5\n6\n7\n8\n</pre>"), "{page}");
        assert!(page.contains("show 47 more lines") && page.contains("<pre>9\n10\n"), "{page}");
        assert!(page.ends_with("<pre>56\n57\n58\n59\n60</pre>"), "{page}");
    }

    /// Goal: nothing is lost but what there is no room for, wherever a text is cut.
    #[test]
    fn a_long_line_is_folded() {
        let long = "é".repeat(20_000);
        let page = shown(&long, 100_000);
        assert_eq!(page.matches('é').count(), 20_000);
        assert!(page.contains("more</summary>"), "{page}");
        let page = shown(&"word\n".repeat(5_000), 4_000);
        assert!(page.contains("left out …</span>"), "{page}");
        assert_eq!(shown("", 100), "<pre class=\"short\"></pre>");
    }
}
