//! What a producer's events mean, as data: the profile language and the profiles built in.
//!
//! A profile is a JSON file with a closed vocabulary, described by its own JSON Schema
//! ([`LANGUAGE`]). The stages know nothing of any producer; this is all there is to know.

use std::path::{Path as File, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::path::Path;
use crate::schema::{self, BuiltIn, Schema};

mod action;
mod rules;

pub use action::{Action, Actions, Figure};
pub use rules::{
    CallCompletion, CallOutcome, CallOutcomeRule, CallStart, Calls, EventRule, RunOutcome, Session,
    Single, Tags, Terminal, TerminalPolicy, TerminalRule, TextMode, TextRule, ToolName, UsagePaths,
};

/// The JSON Schema of the profile language.
pub const LANGUAGE: &str = include_str!("profiles/profile.schema.json");

/// The profile used when none is named.
pub const DEFAULT: &str = "cursor";

/// Name, profile and event schema of each profile that is built in.
const BUILT_IN: [(&str, &str, BuiltIn); 1] =
    [("cursor", include_str!("profiles/cursor/profile.json"), schema::CURSOR)];

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
    /// Events that end a text segment, besides tool calls and the terminal event.
    #[serde(default)]
    pub boundaries: Vec<EventRule>,
    /// How the stream ends.
    #[serde(default)]
    pub terminal: Terminal,
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
    pub fn load(name_or_file: &str) -> Result<(Self, Option<Schema>), Error> {
        let refused = |message: String| Error::Profile { origin: name_or_file.to_owned(), message };
        if let Some((name, profile, schema)) = BUILT_IN.iter().find(|row| row.0 == name_or_file) {
            let profile = serde_json::from_str(profile).map_err(|it| refused(it.to_string()))?;
            return Ok((profile, Some(Schema::built_in(name, *schema))));
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
        let schema = schema.map(|it| Schema::compile(&profile.name, &it)).transpose()?;
        Ok((profile, schema))
    }

    /// Reads a profile from JSON, after holding it against [`LANGUAGE`].
    fn from_value(value: &Value) -> Result<Self, String> {
        let language: Value = serde_json::from_str(LANGUAGE).map_err(|it| it.to_string())?;
        let language = Schema::compile("the profile language", &language);
        let violations = language.and_then(|it| it.violations(value));
        let violations = violations.map_err(|it| it.to_string())?;
        let told = violations.iter().take(3).map(|it| {
            let place = if it.instance.is_empty() { "the profile" } else { &it.instance };
            format!("{place}: {}", it.message)
        });
        if !violations.is_empty() {
            return Err(told.collect::<Vec<_>>().join("; "));
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
