//! The arguments of open calls, kept to compare both halves.

use std::hash::RandomState;

use serde_json::Value;

use crate::json::JsonRef;
use crate::limits::CALL_SOURCES_BYTES_MAX;

/// What is kept of a value, in bounded memory.
#[derive(Debug)]
pub(in crate::check::stage) enum KeptValue {
    /// Its text. Producers repeat a value as they wrote it before, so comparing it is all that
    /// must be done, and it is done at the speed of memory.
    Source(Box<str>),
    /// Its hash, if the text is not known or there is no room for it.
    Hash(u64),
}

#[derive(Debug, Default)]
pub(in crate::check::stage) struct CallArguments {
    state: RandomState,
    /// Bytes of the texts that are kept.
    kept: usize,
}

impl CallArguments {
    pub(in crate::check::stage) fn keep(&mut self, node: JsonRef<'_>) -> KeptValue {
        match node.source() {
            Some(source) if self.kept + source.len() <= CALL_SOURCES_BYTES_MAX => {
                self.kept += source.len();
                KeptValue::Source(source.into())
            }
            Some(_) | None => KeptValue::Hash(node.value_hash(&self.state)),
        }
    }

    /// Whether a value equals a kept one, the order of members not counted.
    pub(in crate::check::stage) fn equal(&self, kept: &KeptValue, node: JsonRef<'_>) -> bool {
        let fingerprint = match kept {
            KeptValue::Source(text) if node.source() == Some(text) => return true,
            KeptValue::Source(text) => {
                let value: Value = serde_json::from_str(text).unwrap_or_default();
                JsonRef::tree(&value).value_hash(&self.state)
            }
            KeptValue::Hash(fingerprint) => *fingerprint,
        };
        fingerprint == node.value_hash(&self.state)
    }

    pub(in crate::check::stage) fn release(&mut self, values: Vec<Option<KeptValue>>) {
        for kept in values.into_iter().flatten() {
            if let KeptValue::Source(text) = kept {
                self.kept -= text.len();
            }
        }
    }
}
