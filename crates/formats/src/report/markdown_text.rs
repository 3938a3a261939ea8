//! Text in a Markdown report. It cannot become markup, a mention or a link.

use ndjson_check_core::escape::{clipped, visible};

use super::quoted::parts;

/// Longest text of a stream in one place of a Markdown report, in bytes.
const MARKDOWN_TEXT_BYTES_MAX: usize = 500;

/// Characters that mean something in Markdown, wherever they are in a line.
const MARKUP: &str = "\\`*_[]<>~|&$";

/// A sentence. What it quotes between backticks is a code span, and so are words that GitHub would
/// make links or mentions.
pub(super) fn prose(text: &str) -> String {
    let text = visible(text);
    let text = clipped(&text, MARKDOWN_TEXT_BYTES_MAX);
    let parts = parts(&text).into_iter().enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { code(part) } else { words(part) }).collect()
}

fn words(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        if !is_linked(word) {
            return escaped(word);
        }
        let rest = word.trim_start_matches(['(', '"', '\'']);
        let before = &word[..word.len() - rest.len()];
        let linked = rest.trim_end_matches(['.', ',', ';', ':', ')', '"', '\'']);
        if linked.is_empty() {
            return escaped(word);
        }
        format!("{before}{}{}", code(linked), &rest[linked.len()..])
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether GitHub would make a link, a mention or an image of a word.
fn is_linked(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_emoji = word.bytes().filter(|byte| *byte == b':').count() > 1;
    is_emoji || ["@", "#", "://", "www.", "gh-"].iter().any(|sign| word.contains(sign))
}

fn escaped(word: &str) -> String {
    let mut text = String::with_capacity(word.len());
    for character in word.chars() {
        if MARKUP.contains(character) {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// A code span in a table: a bar ends a cell even there.
pub(super) fn cell(text: &str) -> String {
    code(text).replace('|', "\\x7c")
}

/// A code span: its fence is longer than every run of backticks in it.
pub(super) fn code(text: &str) -> String {
    let text = visible(text);
    let text = clipped(&text, MARKDOWN_TEXT_BYTES_MAX);
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // One space on each side is not shown.
    let pad = if text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Lines of text as a block of code, which no text in them can end.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_stands_for_itself() {
        let cases = [
            ("failed: no *quota* left", r"failed: no \*quota\* left"),
            ("the `rm *` call of a_b", r"the `rm *` call of a\_b"),
            ("it cost $0.03; <b> & [x](y)", r"it cost \$0.03; \<b\> \& \[x\](y)"),
            ("ask @me (see https://a.example, #1)", "ask `@me` (see `https://a.example`, `#1`)"),
            (":tada: a `b", r"`:tada`: a \`b"),
        ];
        for (text, shown) in cases {
            assert_eq!(prose(text), shown);
        }
    }

    #[test]
    fn no_text_leaves_its_code_span() {
        let cases = [
            ("a", "`a`"),
            ("", "`  `"),
            ("`", "`` ` ``"),
            (" a ", "`  a  `"),
            ("a``b`", "``` a``b` ```"),
            ("</details>\n@x", "`</details>\\n@x`"),
        ];
        for (text, span) in cases {
            assert_eq!(code(text), span);
        }
        assert!(code(&"`".repeat(5_000)).len() < 3 * MARKDOWN_TEXT_BYTES_MAX);
    }
}
