//! What a producer's events mean, as data: the profile language and the profiles built in.
//!
//! A profile is a JSON file with a closed vocabulary, described by its own JSON Schema
//! ([`LANGUAGE`]). The stages know nothing of any producer; this is all there is to know.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::profile::path::Path;

pub mod builtin;
mod calls;
pub mod condition;
pub mod detect;
mod exit;
mod load;
mod noise;
pub mod path;
pub mod pattern;
mod session;
mod tags;
mod template;
mod terminal;
mod text;
mod validate;
mod versions;

pub use builtin::DEFAULT;
pub use calls::{
    Alone, CallCompletion, CallOutcome, CallOutcomeRule, CallStart, Calls, OpenAtEnd, ToolName,
};
pub use exit::{ErrorRule, ErrorSeverity, Exit, ExitStatus, FailureCodes, StatusMeaning};
pub use load::read_json;
pub use noise::{Noise, NoiseKind, NoisePlace};
pub use session::{Repeats, Session};
pub use tags::{EventRule, Objects, Single, Tags};
pub use template::{Action, Actions, Figure};
pub use terminal::{
    RunOutcome, Terminal, TerminalOutcome, TerminalPolicy, TerminalRule, UsagePaths, VerdictRule,
};
pub use text::{FinalIs, TextDeltas, TextGroups, TextMode, TextRule};
pub use versions::Versions;

/// The JSON Schema of the profile language.
pub const LANGUAGE: &str = include_str!("profile.schema.json");

/// What the events of one kind of producer mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name reports give it.
    pub name: String,
    /// Which producer, and how it is called.
    pub title: String,
    /// The event schema, which is loaded apart.
    #[serde(rename = "schema")]
    _schema: Option<Value>,
    /// Which versions of the producer it is written for.
    #[serde(default)]
    pub versions: Versions,
    /// An early event for which one of these holds is this producer's, and no other's.
    #[serde(default)]
    pub fingerprint: Vec<EventRule>,
    /// The single object of the producer's non-streaming format, if it has one.
    pub single: Option<Single>,
    /// Where the parts of an event's tag stand.
    pub tag: Vec<Path>,
    /// The tags that are known.
    #[serde(default)]
    pub events: Tags,
    /// How a session begins and what identifies it.
    #[serde(default)]
    pub session: Session,
    /// Where an event's time in milliseconds stands.
    pub time: Option<Path>,
    /// How tool calls start and complete.
    #[serde(default)]
    pub calls: Calls,
    /// Where the assistant's text stands; for each event the first rule that holds.
    #[serde(default)]
    pub text: Vec<TextRule>,
    /// Whether the segments of several groups are open at once.
    #[serde(default)]
    pub text_groups: TextGroups,
    /// What becomes of deltas; nothing is promised if it is not said.
    pub text_deltas: Option<TextDeltas>,
    /// Whether a tool call ends an open segment.
    #[serde(default = "always")]
    pub calls_end_text: bool,
    /// What the final text is.
    #[serde(default)]
    pub final_is: FinalIs,
    /// Events that end a text segment, besides tool calls and the terminal event.
    #[serde(default)]
    pub boundaries: Vec<EventRule>,
    /// How the stream ends.
    #[serde(default)]
    pub terminal: Terminal,
    /// Events that tell of an error; the first rule that holds.
    #[serde(default)]
    pub errors: Vec<ErrorRule>,
    /// Lines that are no events and are known; the first that matches.
    #[serde(default)]
    pub noise: Vec<Noise>,
    /// What the producer's exit codes mean.
    #[serde(default)]
    pub exit: Exit,
}

/// For a key that is on unless a profile turns it off.
fn always() -> bool {
    true
}

/// One path, or a list of them.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Path>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Paths {
        One(Path),
        Many(Vec<Path>),
    }
    Ok(match Paths::deserialize(from)? {
        Paths::One(path) => vec![path],
        Paths::Many(paths) => paths,
    })
}
