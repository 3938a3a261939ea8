//! What a producer's events mean, as data: the profile language and the profiles built in.
//!
//! A profile is a JSON file with a closed vocabulary, described by its own JSON Schema
//! ([`LANGUAGE`]). The stages know nothing of any producer; this is all there is to know.

use serde::Deserialize;
use serde_json::Value;

pub(crate) mod builtin;
mod calls;
pub(crate) mod condition;
pub(crate) mod detect;
mod end;
mod exit;
mod load;
mod noise;
pub(crate) mod path;
pub(crate) mod pattern;
mod session;
mod tags;
mod template;
mod text;
mod validate;
mod versions;

pub use calls::CallOutcome;
pub use exit::ExitStatus;

pub(crate) use builtin::DEFAULT;
pub(crate) use calls::{CallCompletion, CallRules, OpenAtEnd, ToolName, WithoutStart};
pub(crate) use end::{EndRules, RunOutcome, TerminalOutcome, TerminalPolicy};
pub(crate) use exit::{ErrorRule, ErrorSeverity, ExitCodes, StatusMeaning};
pub(crate) use load::read_json;
pub(crate) use noise::{Noise, NoiseKind, NoisePlace};
pub(crate) use session::{Repeats, SessionRules};
pub(crate) use tags::{EventRule, Objects, SingleObject, Tags};
pub(crate) use template::{ActionRule, ActionRules, Template};
pub(crate) use text::{FinalText, TextDeltas, TextMode, TextRule, TextRules};
pub(crate) use versions::Versions;

/// The JSON Schema of the profile language.
pub const LANGUAGE: &str = include_str!("profile.schema.json");

/// What the events of one kind of producer mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// The name reports give it.
    pub name: String,
    /// The producer's name, command and flags.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the program prints it"))]
    pub title: String,
    /// The event schema, which is loaded apart.
    #[serde(rename = "schema")]
    _schema: Option<Value>,
    /// Which versions of the producer it is written for.
    #[serde(default)]
    pub versions: Versions,
    /// An early event for which one of these holds is this producer's, and no other's.
    #[serde(default)]
    pub detect: Vec<EventRule>,
    /// What kind of event an event is, and which are known.
    pub tags: Tags,
    /// How a session begins and what identifies it.
    #[serde(default)]
    pub session: SessionRules,
    /// How tool calls start and complete.
    #[serde(default)]
    pub calls: CallRules,
    /// Where the assistant's text is.
    #[serde(default)]
    pub text: TextRules,
    /// How the run ends, and what goes wrong before.
    #[serde(default)]
    pub end: EndRules,
    /// Lines that are no events and are known; the first that matches.
    #[serde(default)]
    pub noise: Vec<Noise>,
    /// The single object of the producer's non-streaming format, if it has one.
    pub single_object: Option<SingleObject>,
}

/// For a key that is on unless a profile turns it off.
fn always() -> bool {
    true
}
