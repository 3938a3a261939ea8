//! A text of a stream, in bounded memory: its start and its end.

use ndjson_check_core::escape::misleads;

/// The start of a text, the end of it if it is long, and how much is missing between them.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    head: String,
    tail: String,
    /// What the head and the tail may take in a page, in bytes.
    head_max: usize,
    tail_max: usize,
    head_cost: usize,
    /// Bytes of the whole text.
    total: u64,
}

impl Excerpt {
    /// Keeps about so many bytes, three quarters of them from the start.
    pub(super) fn new(max: usize) -> Self {
        let tail_max = max / 4;
        Self {
            head: String::new(),
            tail: String::new(),
            head_max: max - tail_max,
            tail_max,
            head_cost: 0,
            total: 0,
        }
    }

    pub(super) fn of(text: &str, max: usize) -> Self {
        let mut excerpt = Self::new(max);
        excerpt.push(text);
        excerpt
    }

    pub(super) fn push(&mut self, text: &str) {
        self.total = self.total.saturating_add(text.len() as u64);
        let mut rest = text;
        if self.tail.is_empty() {
            let mut end = 0;
            for (at, character) in text.char_indices() {
                let cost = cost_of(character);
                if self.head_cost + cost > self.head_max {
                    break;
                }
                self.head_cost += cost;
                end = at + character.len_utf8();
            }
            self.head.push_str(&text[..end]);
            rest = &text[end..];
            if !rest.is_empty() {
                // What follows goes to the tail, even if it is short.
                self.head_cost = self.head_max;
            }
        }
        if rest.len() > self.tail_max {
            self.tail.clear();
            rest = last(rest, self.tail_max);
        }
        self.tail.push_str(rest);
        if self.tail.len() > 2 * self.tail_max {
            self.tail = last(&self.tail, self.tail_max).to_owned();
        }
    }

    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// The end, and the bytes that are missing before it.
    pub(super) fn tail(&self) -> (u64, &str) {
        let mut tail = last(&self.tail, self.tail_max);
        let mut cost: usize = tail.chars().map(cost_of).sum();
        while cost > 2 * self.tail_max {
            let Some(first) = tail.chars().next() else { break };
            cost -= cost_of(first);
            tail = &tail[first.len_utf8()..];
        }
        let shown = (self.head.len() + tail.len()) as u64;
        (self.total.saturating_sub(shown), tail)
    }

    /// The text, if nothing of it is missing and it is short.
    pub(super) fn whole(&self) -> Option<&str> {
        self.tail.is_empty().then_some(&*self.head)
    }

    pub(super) fn is_blank(&self) -> bool {
        self.head.trim().is_empty() && self.tail.is_empty()
    }

    /// What it takes in a page at most, in bytes.
    pub(super) fn cost(&self) -> usize {
        let tail = self.tail.len().saturating_mul(6);
        self.head_cost + tail.min(2 * self.tail_max)
    }
}

fn cost_of(character: char) -> usize {
    match character {
        '&' | '<' | '>' | '"' => 6,
        '\n' | '\t' => 1,
        it if misleads(it) => 9,
        it => it.len_utf8(),
    }
}

/// At most `max` bytes of the end of `text`.
fn last(text: &str, max: usize) -> &str {
    let start = text.len().saturating_sub(max);
    let start = (start..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_whole() {
        let excerpt = Excerpt::of("a<b", 100);
        assert_eq!((excerpt.head(), excerpt.tail()), ("a<b", (0, "")));
    }

    /// Goal: however a text is cut into pieces, what is kept is the same, and bounded.
    #[test]
    fn a_long_text_keeps_both_ends() {
        let lines: Vec<String> = (0..5_000).map(|it| format!("{it} <é\u{202e}>\n")).collect();
        let text = lines.concat();
        let whole = Excerpt::of(&text, 1_000);
        let mut pieces = Excerpt::new(1_000);
        for character in text.chars() {
            pieces.push(character.encode_utf8(&mut [0; 4]));
        }
        let (missing, tail) = whole.tail();
        assert_eq!((pieces.head(), pieces.tail()), (whole.head(), (missing, tail)));
        assert!(text.starts_with(whole.head()) && text.ends_with(tail));
        assert_eq!(whole.head().len() as u64 + missing + tail.len() as u64, text.len() as u64);
        assert!(whole.cost() <= 1_250 && missing > 0, "{}", whole.cost());
    }
}
