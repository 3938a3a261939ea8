//! The profiles that are part of the program.

/// The profile used when none is named.
pub const DEFAULT: &str = "cursor";

/// A profile that is part of the program.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) profile: &'static str,
    /// The schema of its events; none if it is that of the profile which it extends.
    pub(super) schema: Option<&'static str>,
}

/// The row of a profile: its files are in the folder of its name.
macro_rules! row {
    ($name:literal) => {
        Row {
            name: $name,
            profile: include_str!(concat!("builtin/", $name, "/profile.json")),
            schema: Some(include_str!(concat!("builtin/", $name, "/schema.json"))),
        }
    };
}

/// All of them: the one that is taken where nothing else is known, then by name.
pub(super) const BUILT_IN: [Row; 24] = [
    row!("cursor"),
    row!("acp"),
    row!("amp"),
    row!("antigravity"),
    row!("claude"),
    row!("cline"),
    row!("codex"),
    row!("codex-old"),
    row!("command-code"),
    row!("copilot"),
    row!("droid"),
    row!("gemini"),
    row!("goose"),
    row!("grok"),
    row!("grok-messages"),
    row!("kimi"),
    row!("kimi-code"),
    row!("muse"),
    row!("opencode"),
    row!("openhands"),
    row!("pi"),
    row!("qwen"),
    row!("vibe"),
    row!("vibe-old"),
];
