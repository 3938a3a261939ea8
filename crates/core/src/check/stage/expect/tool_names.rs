//! The tools of a run, next to the name that an expectation looks for.

use super::truth::Truth;
use super::verdict::Answered;
use crate::check::globs::NameGlob;
use crate::limits::CALL_ID_BYTES_MAX;
use crate::rules::escape::{clipped, shown};

#[derive(Debug, Default)]
pub(super) struct ToolNames {
    /// Whether a tool has the name.
    is_known: bool,
    /// The first tool whose name differs only in the case of its letters.
    similar: Option<String>,
}

impl ToolNames {
    /// A tool that the session lists, or that a call used.
    pub(super) fn observe(&mut self, name: &str, wanted: &NameGlob) {
        if self.is_known || self.similar.is_some() && !wanted.is_for(name) {
            return;
        }
        self.is_known = wanted.is_for(name);
        if wanted.is_like(name) {
            self.similar = Some(clipped(name, CALL_ID_BYTES_MAX).into_owned());
        }
    }

    /// A name that no tool has forbids nothing, if it is a misspelling.
    pub(super) fn judge(&self, wanted: Option<&NameGlob>, answered: Answered) -> Answered {
        let similar = self.similar.as_ref().filter(|_| !self.is_known);
        let (Some(similar), Some(wanted), Truth::Yes) = (similar, wanted, answered.truth) else {
            return answered;
        };
        let similar = shown(similar);
        let doubt = Some(format!("no tool is called {wanted}, but there is {similar}"));
        Answered { truth: Truth::Unknown, doubt, ..answered }
    }
}
