//! Texts by number. A table of them has one pointer: the loader adjusts none for each text.

use std::borrow::Cow;

/// Texts, one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PackedTexts {
    pub(crate) text: Cow<'static, str>,
    /// Where each word ends in the text.
    pub(crate) ends: Cow<'static, [u32]>,
}

impl PackedTexts {
    #[inline]
    pub(crate) fn get(&self, word: u16) -> &str {
        let word = usize::from(word);
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.text[start as usize..self.ends[word] as usize]
    }
}
