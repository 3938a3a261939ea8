//! The text of the answer, which may be megabytes.

use std::borrow::Cow;

use super::template::joined;
use crate::json::JsonRef;

/// The text of the answer: strings of one event that are concatenated. Mostly it is only compared
/// with what came before, so no copy is made.
#[derive(Debug)]
pub(crate) struct AnswerText<'e>(pub(super) Vec<JsonRef<'e>>);

impl<'e> AnswerText<'e> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|string| string.is(""))
    }

    pub(crate) fn text(&self) -> Cow<'e, str> {
        joined(self.0.iter().filter_map(|string| string.as_str()), "")
    }

    pub(crate) fn chunks(&self, mut take: impl FnMut(&str)) {
        self.0.iter().for_each(|string| string.chunks(&mut take));
    }
}
