//! What a stream has that the profile does not know, as plain data.

use serde::{Deserialize, Serialize};

use crate::rules::names::names;

/// A name or a value that the profile does not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnknownName {
    /// What it is.
    pub kind: UnknownKind,
    /// Of a value, the path where it is; of a member, the tag of its event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The tag, the tool, the value, or the pointer to the member. Empty if it has no name.
    pub name: String,
    /// How often it came.
    pub count: u64,
    /// The line where it came first.
    pub line: u64,
}

names! {
    /// Kinds of names that a profile can know.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum UnknownKind {
        /// The tag of an event.
        Event = "event",
        /// A tool.
        Tool = "tool",
        /// The tool of a result whose kind is not known.
        Result = "result",
        /// A value outside of a closed set.
        Value = "value",
        /// A member of an event whose tag is known.
        Member = "member",
    }
}
