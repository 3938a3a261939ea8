//! The functions that a line defines.

use std::collections::BTreeMap;

use super::ending::{ends_otherwise, may_end};
use super::wrappers::without_prefix;

/// How many functions of a line are known.
const FUNCTIONS_MAX: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Functions {
    by_name: BTreeMap<String, Function>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Function {
    /// Whether it may end the shell without a failure.
    may_end: bool,
    /// The same where it is the action of `trap … EXIT`.
    ends_otherwise: bool,
}

impl Functions {
    /// A later definition with the same name may be one that is not reached.
    pub(super) fn define(&mut self, name: &str, body: &str) {
        if self.by_name.len() < FUNCTIONS_MAX {
            let known = self.by_name.entry(name.to_owned()).or_default();
            known.may_end |= may_end(body);
            known.ends_otherwise |= ends_otherwise(body, &["EXIT"]);
        }
    }

    /// Whether the command is a call of one.
    pub(super) fn are_called(&self, words: &[String]) -> bool {
        without_prefix(words).first().is_some_and(|name| self.by_name.contains_key(name))
    }

    /// Whether the command may end the shell through one: it calls it, or `trap` does in the end.
    pub(super) fn may_end_shell(&self, words: &[String]) -> bool {
        let function = |name: &str| self.by_name.get(name).copied().unwrap_or_default();
        match without_prefix(words) {
            [trap, action, ..] if trap == "trap" => {
                action.split_whitespace().any(|name| function(name).ends_otherwise)
            }
            [name, ..] => function(name).may_end,
            [] => false,
        }
    }
}
