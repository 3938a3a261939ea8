//! Texts by number. A table of them has one pointer: the loader adjusts none for each text.
//! `build.rs` compiles this file, too.

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

    /// The number of a text, which is added if it is new.
    pub(crate) fn number(&mut self, text: &str) -> Result<u16, String> {
        let count = u16::try_from(self.ends.len()).map_err(|_| "too many words")?;
        if let Some(known) = (0..count).find(|word| self.get(*word) == text) {
            return Ok(known);
        }
        self.text.to_mut().push_str(text);
        let end = u32::try_from(self.text.len()).map_err(|_| "too much text")?;
        self.ends.to_mut().push(end);
        Ok(count)
    }
}
