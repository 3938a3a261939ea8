//! A character that an agent cut in two: half of its surrogate pair ends a delta, the other half
//! begins the next one.

use std::borrow::Cow;

use crate::json::{LoneHalves, REPLACEMENT};

/// The half at the end of the deltas so far. It waits for the next delta.
#[derive(Debug, Default)]
pub(crate) struct OpenHalf(Option<u16>);

impl OpenHalf {
    /// The text that a delta adds; `halves` are those of its event.
    pub(crate) fn join<'t>(
        &mut self,
        delta: Cow<'t, str>,
        halves: Option<LoneHalves>,
    ) -> Cow<'t, str> {
        if delta.is_empty() || self.0.is_none() && halves.is_none() {
            return delta; // As for nearly every delta.
        }
        let LoneHalves { first, last, .. } = halves.unwrap_or_default();
        let high = self.0.take();
        let whole = high.zip(first).and_then(|(high, low)| pair(high, low));
        let (start, rest) = match whole.zip(delta.strip_prefix(REPLACEMENT)) {
            Some((whole, rest)) => (Some(whole), rest),
            None => (high.map(|_| REPLACEMENT), &*delta),
        };
        let open = last.and_then(|high| Some((high, rest.strip_suffix(REPLACEMENT)?)));
        self.0 = open.map(|(high, _)| high);
        let rest = open.map_or(rest, |(_, rest)| rest);
        Cow::Owned(start.into_iter().chain(rest.chars()).collect())
    }

    /// No other delta follows. What is left of the character, if there is half of one.
    pub(crate) fn end(&mut self) -> Option<&'static str> {
        self.0.take().map(|_| "\u{fffd}")
    }
}

fn pair(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_neighbouring_deltas_are_one_character() {
        let halves = |first, last| Some(LoneHalves { at: 0, first, last });
        let mut open = OpenHalf::default();
        let mut text = String::new();
        for (delta, halves) in [
            ("a\u{fffd}", halves(None, Some(0xd83d))),
            ("", None),
            ("\u{fffd}b\u{fffd}", halves(Some(0xde00), Some(0xd83d))),
            ("\u{fffd}", halves(Some(0xde80), None)),
            ("\u{fffd}", halves(None, Some(0xd83d))),
            ("c", None),
            ("\u{fffd}", halves(Some(0xde80), None)),
            ("\u{fffd}", None),
            ("\u{fffd}", halves(None, Some(0xd83d))),
        ] {
            text.push_str(&open.join(Cow::Borrowed(delta), halves));
        }
        text.push_str(open.end().unwrap_or_default());
        assert_eq!(text, "a😀b🚀\u{fffd}c\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(open.end(), None);
    }
}
