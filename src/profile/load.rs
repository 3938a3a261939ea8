//! Loading: from a name or a file to a profile and the schema of its events.

use std::path::{Path as File, PathBuf};

use serde_json::Value;

use super::builtin::{BUILT_IN, Row};
use super::{Profile, validate as language};
use crate::error::Error;
use crate::json::pointer;
use crate::json::{self, Schema};
use crate::limits::EXTENDS_MAX;
use crate::rules::suggest::nearest;

/// How many faults of a profile one message names.
const FAULTS_TOLD_MAX: usize = 3;

/// A profile as JSON, with nothing left to inherit.
struct Whole {
    profile: Value,
    events: Events,
    /// What it extends, each whole and with its name, the farthest first.
    bases: Vec<(String, Value)>,
}

/// Where the schema of a profile's events stands.
enum Events {
    /// There is none.
    Nowhere,
    /// In the program.
    BuiltIn(&'static str, &'static str),
    /// In this file.
    File {
        file: PathBuf,
        /// The profile that names it.
        of: String,
    },
    /// In the profile.
    Given {
        schema: Value,
        /// The profile's file.
        of: String,
    },
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
        Ok(row(name)?.profile)
    }

    /// The text of a profile that is built in, with its schema in it: a file that stands alone.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn whole_text(name: &str) -> Result<String, Error> {
        let row = row(name)?;
        let mut text = row.profile.to_owned();
        if let (Some(schema), Some(place)) = (row.schema, json::member(&text, "schema")) {
            text.replace_range(place, &schema.trim_end().replace('\n', "\n  "));
        }
        Ok(text)
    }

    /// Loads a profile: one that is built in, by name, or a file; with it comes the schema of its
    /// events, if it has one.
    ///
    /// # Errors
    ///
    /// When there is no such profile or file, when it is not written in the profile language (with
    /// the JSON Pointer of the first bad place), or when its schema cannot be read.
    pub fn load(name_or_file: &str) -> Result<(Self, Option<Schema>), Error> {
        // Most of ours extend no other: they are read at once.
        if let Some(row) = BUILT_IN.iter().find(|row| row.name == name_or_file)
            && let Ok(profile) = serde_json::from_str(row.profile)
        {
            return Ok((profile, row.schema.map(|it| Schema::built_in(row.name, it))));
        }
        let Whole { profile, events, bases } = whole(name_or_file, 0)?;
        if !Self::names().any(|name| name == name_or_file) {
            hold(&profile, &bases).map_err(|message| refused(name_or_file, message))?;
        }
        let profile: Self = serde_json::from_value(profile)
            .map_err(|error| refused(name_or_file, error.to_string()))?;
        let schema = events.schema(&profile.name)?;
        Ok((profile, schema))
    }
}

impl Events {
    /// The schema, of a profile of this name.
    fn schema(self, name: &str) -> Result<Option<Schema>, Error> {
        let compiled = |place: String, of: &str, schema: Result<Value, String>| {
            let schema = schema.and_then(|schema| match Schema::compile(name, &schema) {
                Err(Error::Schema { message, .. }) => Err(message),
                compiled => compiled.map_err(|error| error.to_string()),
            });
            schema.map(Some).map_err(|message| refused(of, format!("{place}: {message}")))
        };
        match self {
            Self::Nowhere => Ok(None),
            Self::BuiltIn(name, schema) => Ok(Some(Schema::built_in(name, schema))),
            Self::Given { schema, of } => compiled("/schema".to_owned(), &of, Ok(schema)),
            Self::File { file, of } => {
                compiled(format!("/schema: {}", file.display()), &of, read_json(&file))
            }
        }
    }
}

/// The row of a profile that is built in.
fn row(name: &str) -> Result<&'static Row, Error> {
    let row = BUILT_IN.iter().find(|row| row.name == name);
    row.ok_or_else(|| refused(name, format!("no such profile; {}", known_besides(name))))
}

/// The profiles that there are, the nearest to one that is not first.
fn known_besides(name: &str) -> String {
    let near = nearest(name, Profile::names());
    let near = near.map_or(String::new(), |near| format!("a similar one is {near}; "));
    format!("{near}built in: {}", Profile::names().collect::<Vec<_>>().join(", "))
}

fn refused(origin: &str, message: String) -> Error {
    Error::Profile { origin: origin.to_owned(), message }
}

/// Holds a profile against the language; of a fault that comes from a base, names the base.
fn hold(profile: &Value, bases: &[(String, Value)]) -> Result<(), String> {
    let faults = language::faults(profile);
    let told = faults.iter().take(FAULTS_TOLD_MAX).map(|fault| {
        let base = bases.iter().find(|(_, base)| language::faults(base).contains(fault));
        base.map_or(fault.clone(), |(name, _)| format!("{fault}, inherited from {name}"))
    });
    if faults.is_empty() { Ok(()) } else { Err(told.collect::<Vec<_>>().join("; ")) }
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
        let events = events.unwrap_or(Events::Nowhere);
        return Ok(Whole { profile, events, bases: Vec::new() });
    };
    let Value::String(base) = base else {
        return Err(refused("/extends: a name or a file is a string".to_owned()));
    };
    let is_ours = Profile::names().any(|name| name == base);
    let beside = File::new(name_or_file).with_file_name(&base);
    if !is_ours && !beside.exists() {
        let known = known_besides(&base);
        let message = format!("no file {}, and no such profile; {known}", beside.display());
        return Err(refused(format!("/extends: {message}")));
    }
    let base = if is_ours { base.into() } else { beside.to_string_lossy() };
    let Whole { profile: inherited, events: of_base, mut bases } = whole(&base, depth + 1)?;
    let mut merged = inherited.clone();
    merge(&mut merged, profile, "").map_err(|place| {
        refused(format!("{place}: null takes away what {base} has, and it has no such key"))
    })?;
    bases.push((base.into_owned(), inherited));
    Ok(Whole { profile: merged, events: events.unwrap_or(of_base), bases })
}

/// What a profile says itself: its JSON, and its schema if it has one of its own.
fn own(name_or_file: &str) -> Result<(Value, Option<Events>), String> {
    if let Some(row) = BUILT_IN.iter().find(|row| row.name == name_or_file) {
        let profile = serde_json::from_str(row.profile).map_err(|it| it.to_string())?;
        return Ok((profile, row.schema.map(|schema| Events::BuiltIn(row.name, schema))));
    }
    let file = File::new(name_or_file);
    if !file.exists() && file.extension().is_none() {
        let known = known_besides(name_or_file);
        return Err(format!("no such file, and no such profile; {known}"));
    }
    let profile = read_json(file)?;
    let of = name_or_file.to_owned();
    let events = profile.get("schema").map(|schema| match schema {
        Value::Null => Events::Nowhere,
        Value::String(beside) => Events::File { file: file.with_file_name(beside), of },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Events::Given { schema: schema.clone(), of }
        }
    });
    Ok((profile, events))
}

/// Applies a patch, as RFC 7396 says: objects are merged, everything else is replaced, and `null`
/// removes. A schema is replaced as a whole.
///
/// # Errors
///
/// The place of a `null` that removes nothing: a slip, or the base is not what it was.
fn merge(target: &mut Value, patch: Value, place: &str) -> Result<(), String> {
    let Value::Object(patch) = patch else {
        *target = patch;
        return Ok(());
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(members) = target else { return Ok(()) };
    for (key, value) in patch {
        let place = pointer::joined(place, &key);
        if value.is_null() {
            members.remove(&key).ok_or(place)?;
        } else if place == "/schema" {
            members.insert(key, value);
        } else {
            merge(members.entry(key).or_insert(Value::Null), value, &place)?;
        }
    }
    Ok(())
}

/// Reads a file that holds one JSON text. Of a key that occurs twice one value would be lost
/// without a word.
///
/// # Errors
///
/// A text that says what is wrong with the file.
pub fn read_json(file: &File) -> Result<Value, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let text = std::str::from_utf8(&bytes).map_err(|error| format!("no JSON: {error}"))?;
    let (value, duplicates) =
        json::parse_tree(text, FAULTS_TOLD_MAX).map_err(|error| format!("no JSON: {error}"))?;
    if duplicates.is_empty() {
        return Ok(value);
    }
    let told = duplicates.iter().map(|place| format!("{place}: the key occurs more than once"));
    Err(told.collect::<Vec<_>>().join("; "))
}
