//! The profiles that are part of the program.

use crate::schema::{self, BuiltIn};

/// The profile used when none is named.
pub const DEFAULT: &str = "cursor";

/// A profile that is part of the program.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) profile: &'static str,
    /// The schema of its events; none if it is that of the profile which it extends.
    pub(super) schema: Option<BuiltIn>,
}

/// All of them.
pub(super) const BUILT_IN: [Row; 1] = [Row {
    name: "cursor",
    profile: include_str!("../profiles/cursor/profile.json"),
    schema: Some(schema::CURSOR),
}];
