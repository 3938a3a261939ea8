//! What a producer's events mean, as data: the profile language and the profiles built in.
//!
//! A profile is a JSON file with a closed vocabulary, described by its own JSON Schema
//! ([`LANGUAGE`]). The stages know nothing of any producer; this is all there is to know.

use std::path::{Path as File, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::path::{Conditions, Path};
use crate::schema::Schema;

/// The JSON Schema of the profile language.
pub const LANGUAGE: &str = include_str!("profiles/profile.schema.json");

/// The profile used when none is named.
pub const DEFAULT: &str = "cursor";

/// Name, profile and event schema of each profile that is built in.
const BUILT_IN: [(&str, &str, &str); 1] = [(
    "cursor",
    include_str!("profiles/cursor/profile.json"),
    include_str!("profiles/cursor/schema.json"),
)];

/// What the events of one kind of producer mean.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The name reports give it.
    pub name: String,
    /// Which producer, and how it is called.
    pub title: String,
    /// The event schema: a file beside the profile, or the schema itself.
    schema: Option<Value>,
    /// The part of the event schema that the single object of the producer's non-streaming format
    /// must satisfy, as a reference such as `#/$defs/result`.
    pub single: Option<String>,
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
    /// Events that end a text segment, besides tool calls and the terminal event.
    #[serde(default)]
    pub boundaries: Vec<EventRule>,
    /// How the stream ends.
    #[serde(default)]
    pub terminal: Terminal,
}

/// The tags a profile knows; the parts of a tag are joined by `/`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tags {
    /// Promised by the producer's documentation.
    #[serde(default)]
    pub documented: Vec<String>,
    /// Seen in real streams only.
    #[serde(default)]
    pub observed: Vec<String>,
}

/// How a session begins and what identifies it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// The event that begins it; none if the producer writes no such event.
    #[serde(default)]
    pub start: Vec<EventRule>,
    /// Where an event names its session.
    pub id: Option<Path>,
}

/// A rule that matches events.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRule {
    /// All of these hold.
    pub when: Conditions,
}

/// How tool calls start and complete.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calls {
    /// Events that start a call; the first rule that holds.
    #[serde(default)]
    pub start: Vec<CallStart>,
    /// Events that complete one; the first rule that holds.
    #[serde(default)]
    pub completion: Vec<CallCompletion>,
    /// Where the tool's name stands; the first that is there.
    #[serde(default)]
    pub tool: Vec<ToolName>,
    /// What must be the same in both halves of a call, where both have it.
    #[serde(default)]
    pub same: Vec<Path>,
}

/// An event that starts a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallStart {
    /// All of these hold.
    pub when: Conditions,
    /// The parts of the call's id.
    pub id: Vec<Path>,
}

/// An event that completes a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCompletion {
    /// All of these hold.
    pub when: Conditions,
    /// The parts of the call's id.
    pub id: Vec<Path>,
    /// How the call ended: the first rule that holds.
    #[serde(default)]
    pub outcomes: Vec<CallOutcomeRule>,
}

/// How a call ended, if these conditions hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallOutcomeRule {
    /// The outcome.
    pub outcome: CallOutcome,
    /// All of these hold.
    pub when: Conditions,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool did what it was asked for.
    Succeeded,
    /// The tool failed.
    Failed,
    /// The user, or the policy in their place, said no.
    Rejected,
    /// A permission rule forbade it.
    Denied,
    /// The completion does not say.
    Unknown,
}

impl CallOutcome {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a tool's name stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolName {
    /// A path that ends in `*suffix`: the name is what the star stands for.
    pub key: Option<Path>,
    /// A path to a string that is the name.
    pub value: Option<Path>,
    /// The names that are known; without it every name is.
    pub known: Option<Vec<String>>,
}

/// Where a piece of the assistant's text stands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextRule {
    /// What the piece is to the whole.
    pub mode: TextMode,
    /// All of these hold.
    pub when: Conditions,
    /// An array whose elements carry the text; without it the event does.
    pub each: Option<Path>,
    /// Which elements do: all of these hold for the element.
    #[serde(rename = "where", default)]
    pub element: Conditions,
    /// The text, from the element or the event.
    pub value: Path,
}

/// What a piece of text is to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextMode {
    /// It is appended to the open segment.
    Delta,
    /// It is the whole segment, and closes it.
    Whole,
    /// It is the concatenation of all segments.
    Final,
}

/// How the stream ends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terminal {
    /// Whether there is a terminal event.
    #[serde(default)]
    pub policy: TerminalPolicy,
    /// The events that tell the run's outcome; the first rule that holds.
    #[serde(default)]
    pub rules: Vec<TerminalRule>,
    /// Where such an event tells the run's duration in milliseconds.
    pub duration_ms: Option<Path>,
    /// Where such an event counts tokens.
    #[serde(default)]
    pub usage: UsagePaths,
}

/// Whether the producer ends its stream with a terminal event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TerminalPolicy {
    /// A terminal event is the last one.
    #[default]
    Required,
    /// The end of the stream is the end of the run; outcome events may come at any time, and one
    /// failure is a failed run.
    None,
}

/// An event that tells the run's outcome.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalRule {
    /// The outcome it tells.
    pub outcome: RunOutcome,
    /// All of these hold.
    pub when: Conditions,
}

/// What the producer says of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// It succeeded.
    Success,
    /// It failed.
    Failure,
}

/// Where token counts stand.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsagePaths {
    /// Tokens sent to the model.
    pub input_tokens: Option<Path>,
    /// Tokens it wrote.
    pub output_tokens: Option<Path>,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<Path>,
    /// Tokens written to the cache.
    pub cache_write_tokens: Option<Path>,
}

impl Profile {
    /// The names of the profiles built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _, _)| *name)
    }

    /// Loads a profile: one that is built in, by name, or a file; with it comes the schema of its
    /// events, if it has one.
    ///
    /// # Errors
    ///
    /// When there is no such profile or file, when it is not written in the profile language (with
    /// the JSON Pointer of the first bad place), or when its schema cannot be read.
    pub fn load(name_or_file: &str) -> Result<(Self, Option<Value>), Error> {
        let refused = |message: String| Error::Profile { origin: name_or_file.to_owned(), message };
        if let Some((_, profile, schema)) = BUILT_IN.iter().find(|row| row.0 == name_or_file) {
            let profile = serde_json::from_str(profile).map_err(|it| refused(it.to_string()))?;
            let schema = serde_json::from_str(schema).map_err(|it| refused(it.to_string()))?;
            return Ok((profile, Some(schema)));
        }
        let file = File::new(name_or_file);
        if !file.exists() && file.extension().is_none() {
            let known: Vec<&str> = Self::names().collect();
            return Err(refused(format!(
                "no such file, and no such profile; built in: {}",
                known.join(", ")
            )));
        }
        let value = read_json(file).map_err(refused)?;
        let profile = Self::from_value(&value).map_err(refused)?;
        let schema = match &profile.schema {
            None => None,
            Some(Value::String(beside)) => {
                let path: PathBuf = file.with_file_name(beside);
                let origin = path.display().to_string();
                let schema = read_json(&path);
                Some(schema.map_err(|message| Error::Schema { origin, message })?)
            }
            Some(schema) => Some(schema.clone()),
        };
        Ok((profile, schema))
    }

    /// Reads a profile from JSON, after holding it against [`LANGUAGE`].
    fn from_value(value: &Value) -> Result<Self, String> {
        let language: Value = serde_json::from_str(LANGUAGE).map_err(|it| it.to_string())?;
        let language = Schema::compile("the profile language", &language);
        let violations = language.and_then(|it| it.violations(value));
        if let Some(first) = violations.map_err(|it| it.to_string())?.first() {
            let place = if first.instance.is_empty() { "the profile" } else { &first.instance };
            return Err(format!("{place}: {}", first.message));
        }
        serde_json::from_value(value.clone()).map_err(|it| it.to_string())
    }
}

/// Reads a file that holds one JSON text.
///
/// # Errors
///
/// A text that says what is wrong with the file.
pub fn read_json(file: &File) -> Result<Value, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| format!("no JSON: {error}"))
}
