//! Loading: from a name or a file to a profile and the schema of its events.

use std::path::{Path as File, PathBuf};

use serde_json::Value;

use super::built_in::BUILT_IN;
use super::{LANGUAGE, Profile};
use crate::error::Error;
use crate::limits::EXTENDS_MAX;
use crate::pattern::Pattern;
use crate::schema::{BuiltIn, Schema};

/// A profile as JSON, with nothing left to inherit.
struct Whole {
    profile: Value,
    events: Events,
}

/// Where the schema of a profile's events stands.
enum Events {
    /// There is none.
    Nowhere,
    /// In the program.
    BuiltIn(&'static str, BuiltIn),
    /// In this file.
    File(PathBuf),
    /// In the profile.
    Given(Value),
}

impl Profile {
    /// The names of the profiles built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|row| row.name)
    }

    /// The text of a profile that is built in.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn text(name: &str) -> Result<&'static str, Error> {
        let row = BUILT_IN.iter().find(|row| row.name == name);
        row.map(|row| row.profile).ok_or_else(|| {
            let known = Self::names().collect::<Vec<_>>().join(", ");
            refused(name, format!("no such profile; built in: {known}"))
        })
    }

    /// Loads a profile: one that is built in, by name, or a file; with it comes the schema of its
    /// events, if it has one.
    ///
    /// # Errors
    ///
    /// When there is no such profile or file, when it is not written in the profile language (with
    /// the JSON Pointer of the first bad place), or when its schema cannot be read.
    pub fn load(name_or_file: &str) -> Result<(Self, Option<Schema>), Error> {
        let refused = |message: String| refused(name_or_file, message);
        // Most of ours extend no other: they are read at once.
        if let Some(row) = BUILT_IN.iter().find(|row| row.name == name_or_file)
            && let Ok(profile) = serde_json::from_str(row.profile)
        {
            return Ok((profile, row.schema.map(|it| Schema::built_in(row.name, it))));
        }
        let Whole { profile, events } = whole(name_or_file, 0)?;
        let is_ours = Self::names().any(|name| name == name_or_file);
        let profile = if is_ours { read(profile) } else { checked(profile) };
        let profile = profile.map_err(refused)?;
        let schema = match events {
            Events::Nowhere => None,
            Events::BuiltIn(name, schema) => Some(Schema::built_in(name, schema)),
            Events::Given(schema) => Some(Schema::compile(&profile.name, &schema)?),
            Events::File(file) => {
                let origin = file.display().to_string();
                let schema = read_json(&file);
                let schema = schema.map_err(|message| Error::Schema { origin, message })?;
                Some(Schema::compile(&profile.name, &schema)?)
            }
        };
        Ok((profile, schema))
    }
}

fn refused(origin: &str, message: String) -> Error {
    Error::Profile { origin: origin.to_owned(), message }
}

/// A profile with what it inherits from others. `depth` is how many extend it.
fn whole(name_or_file: &str, depth: usize) -> Result<Whole, Error> {
    let refused = |message: String| refused(name_or_file, message);
    if depth > EXTENDS_MAX {
        return Err(refused(format!("more than {EXTENDS_MAX} profiles extend one another")));
    }
    let (mut profile, events) = own(name_or_file).map_err(refused)?;
    let base = profile.as_object_mut().and_then(|it| it.remove("extends"));
    let Some(base) = base else {
        return Ok(Whole { profile, events: events.unwrap_or(Events::Nowhere) });
    };
    let Value::String(base) = base else {
        return Err(refused("/extends: a name or a file is a string".to_owned()));
    };
    let is_ours = Profile::names().any(|name| name == base);
    let beside = File::new(name_or_file).with_file_name(&base);
    let base = if is_ours { base.into() } else { beside.to_string_lossy() };
    let mut whole = whole(&base, depth + 1)?;
    merge(&mut whole.profile, profile);
    whole.events = events.unwrap_or(whole.events);
    Ok(whole)
}

/// What a profile says itself: its JSON, and its schema if it has one of its own.
fn own(name_or_file: &str) -> Result<(Value, Option<Events>), String> {
    if let Some(row) = BUILT_IN.iter().find(|row| row.name == name_or_file) {
        let profile = serde_json::from_str(row.profile).map_err(|it| it.to_string())?;
        return Ok((profile, row.schema.map(|schema| Events::BuiltIn(row.name, schema))));
    }
    let file = File::new(name_or_file);
    if !file.exists() && file.extension().is_none() {
        let known = Profile::names().collect::<Vec<_>>().join(", ");
        return Err(format!("no such file, and no such profile; built in: {known}"));
    }
    let profile = read_json(file)?;
    let events = profile.get("schema").map(|schema| match schema {
        Value::Null => Events::Nowhere,
        Value::String(beside) => Events::File(file.with_file_name(beside)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Events::Given(schema.clone())
        }
    });
    Ok((profile, events))
}

/// Applies a patch, as RFC 7396 says: objects are merged, everything else is replaced, and `null`
/// removes.
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(members) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            members.remove(&key);
        } else {
            merge(members.entry(key).or_insert(Value::Null), value);
        }
    }
}

/// Reads a profile from JSON, after holding it against [`LANGUAGE`].
fn checked(value: Value) -> Result<Profile, String> {
    let language: Value = serde_json::from_str(LANGUAGE).map_err(|it| it.to_string())?;
    let language = Schema::compile("the profile language", &language);
    let violations = language.and_then(|it| it.violations(&value));
    let violations = violations.map_err(|it| it.to_string())?;
    let told = violations.iter().take(3).map(|it| {
        let place = if it.instance.is_empty() { "the profile" } else { &it.instance };
        format!("{place}: {}", it.message)
    });
    if !violations.is_empty() {
        return Err(told.collect::<Vec<_>>().join("; "));
    }
    let members = value.as_object().into_iter().flatten();
    let fault = members.filter(|(key, _)| *key != "schema").find_map(|(key, it)| fault(key, it));
    fault.map_or_else(|| read(value), Err)
}

fn read(value: Value) -> Result<Profile, String> {
    serde_json::from_value(value).map_err(|it| it.to_string())
}

/// What is wrong with the first bad regular expression in `value`, and where that stands: the
/// language's schema does not know.
fn fault(place: &str, value: &Value) -> Option<String> {
    match value {
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
            match value.as_str() {
                Some(text) if key == "matches" => {
                    Pattern::fault(text).map(|it| format!("/{place}: {it}"))
                }
                _ => fault(&place, value),
            }
        }),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| fault(&format!("{place}/{index}"), item))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
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
