//! Calls that there was no room to follow.

use super::call_name::name;
use crate::facts::Call;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

/// The calls that there was no room to follow. How many are open is known; that their completions
/// belong to them shows in a sum, which is zero when each of them has completed.
#[derive(Debug, Default)]
pub(super) struct UntrackedCalls {
    /// The hashes of the ids that started, minus those that completed. The author of a stream does
    /// not know the key of the hash, so two ids do not cancel out.
    sum: u64,
}

impl UntrackedCalls {
    pub(super) fn start(&mut self, key: u64) {
        self.sum = self.sum.wrapping_add(key);
    }

    /// A completion that leaves `open` calls; true if they are none, and one completion so far
    /// belonged to none of them.
    pub(super) fn complete(&mut self, key: u64, open: u64) -> bool {
        self.sum = self.sum.wrapping_sub(key);
        open == 0 && std::mem::take(&mut self.sum) != 0
    }
}

pub(super) fn foreign_completion(call: &Call<'_>) -> Diagnostic {
    let message = format!(
        "{} or an earlier call is completed but was not started before; too many were open to know \
         which",
        name(call, None)
    );
    Diagnostic::new(Rule::CompletionWithoutStart, message)
}
