//! Adds words. `build.rs` compiles this file, too.

use super::PackedTexts;

impl PackedTexts {
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
