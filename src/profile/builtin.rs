//! The built-in profiles: one folder of `src/profile/builtin` each. `build.rs` lists them.

/// The profile used where no other is named or detected.
pub(crate) const DEFAULT: &str = "cursor";

/// A built-in profile.
pub(super) struct BuiltInProfile {
    pub(super) name: &'static str,
    /// Its text.
    pub(super) profile: &'static str,
    /// The text of the schema of its events.
    pub(super) schema: &'static str,
}

/// All of them, by name.
static BUILT_IN: &[BuiltInProfile] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// What each of them has in `detect`, as one JSON object.
pub(super) const DETECT: &str = include_str!(concat!(env!("OUT_DIR"), "/detect.json"));

impl BuiltInProfile {
    /// All of them: the default one, then by name.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        let (default, others): (Vec<_>, Vec<_>) =
            BUILT_IN.iter().partition(|it| it.name == DEFAULT);
        default.into_iter().chain(others)
    }

    /// The one of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|it| it.name == name)
    }
}
