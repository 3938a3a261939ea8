//! What is kept of a value to tell whether a later one equals it.

use foldhash::quality::RandomState;
use serde_json::Value;

use crate::stream::event::Node;
use crate::limits::CALL_SOURCES_BYTES_MAX;

/// What is kept of a value, in bounded memory.
#[derive(Debug)]
pub(super) enum Likeness {
    /// Its text. Producers repeat a value as they wrote it before, so comparing it is all that
    /// must be done, and it is done at the speed of memory.
    Source(Box<str>),
    /// Its fingerprint, where the text is not at hand or there is no room for it.
    Fingerprint(u64),
}

/// Makes and compares likenesses.
#[derive(Debug, Default)]
pub(super) struct Likenesses {
    state: RandomState,
    /// Bytes of the texts that are kept.
    kept: usize,
}

impl Likenesses {
    /// Keeps what is needed of a value.
    pub(super) fn keep(&mut self, node: Node<'_>) -> Likeness {
        match node.source() {
            Some(source) if self.kept + source.len() <= CALL_SOURCES_BYTES_MAX => {
                self.kept += source.len();
                Likeness::Source(source.into())
            }
            Some(_) | None => Likeness::Fingerprint(node.fingerprint(&self.state)),
        }
    }

    /// Whether a value equals that of a likeness, the order of members not counted.
    pub(super) fn equal(&self, likeness: &Likeness, node: Node<'_>) -> bool {
        let fingerprint = match likeness {
            Likeness::Source(text) if node.source() == Some(text) => return true,
            Likeness::Source(text) => {
                let value: Value = serde_json::from_str(text).unwrap_or_default();
                Node::Tree(&value).fingerprint(&self.state)
            }
            Likeness::Fingerprint(fingerprint) => *fingerprint,
        };
        fingerprint == node.fingerprint(&self.state)
    }

    /// Forgets likenesses.
    pub(super) fn forget(&mut self, likenesses: Vec<Option<Likeness>>) {
        for likeness in likenesses.into_iter().flatten() {
            if let Likeness::Source(text) = likeness {
                self.kept -= text.len();
            }
        }
    }
}
