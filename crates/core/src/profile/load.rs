//! Loads a profile and the schema of its events, from a name or a file.

use std::io::Read as _;
use std::path::{Path as File, PathBuf};

use serde_json::Value;

use super::Profile;
use super::builtin::BuiltInProfile;
use super::merge;
use super::validate::{Fault, faults};
use crate::error::Error;
use crate::json::{self, Schema};
use crate::limits::{EXTENDS_MAX, FILE_BYTES_MAX};
use crate::rules::suggest::similar;

const FAULTS_SHOWN_MAX: usize = 3;

/// A profile with everything that it inherits.
struct ResolvedProfile {
    profile: Value,
    schema: SchemaSource,
    /// The profiles that it extends, resolved and with their names, the farthest first.
    bases: Vec<(String, Value)>,
    /// The files of all of them, and of the schema.
    files: Vec<PathBuf>,
}

enum SchemaSource {
    Nowhere,
    BuiltIn(&'static BuiltInProfile),
    /// `of` is the profile that names the file.
    File {
        file: PathBuf,
        of: String,
    },
    /// `of` is the file of the profile that contains the schema.
    Given {
        schema: Value,
        of: String,
    },
}

impl Profile {
    /// The name of the built-in profile whose agent this program is, called like this.
    pub(crate) fn of_call(program: &str, arguments: &[String]) -> Option<&'static str> {
        BuiltInProfile::of_call(program, arguments).map(|profile| profile.name)
    }

    /// Loads a built-in profile by name, or a file, and the schema of its events.
    pub(crate) fn load(name_or_file: &str) -> Result<(Self, Option<Schema>), Error> {
        let built_in = BuiltInProfile::find(name_or_file);
        let Some(built_in) = built_in else {
            return Self::resolved(name_or_file, resolve(name_or_file, None, 0)?);
        };
        let profile = serde_json::from_str(built_in.resolved);
        let profile = profile.map_err(|error| refused(name_or_file, error.to_string()))?;
        Ok((profile, Some(built_in.compiled_schema())))
    }

    /// Loads a profile from its text; `origin` names it in messages. Files that it names are those
    /// of the working directory.
    pub(crate) fn load_text(origin: &str, text: &str) -> Result<(Self, Option<Schema>), Error> {
        Self::resolved(origin, resolve(origin, Some(text), 0)?)
    }

    fn resolved(origin: &str, resolved: ResolvedProfile) -> Result<(Self, Option<Schema>), Error> {
        let ResolvedProfile { profile: json, schema, bases, files } = resolved;
        validate(&json, &bases).map_err(|message| refused(origin, message))?;
        let profile = serde_json::from_str(&json.to_string());
        let mut profile: Self = profile.map_err(|error| refused(origin, error.to_string()))?;
        profile.json = Some(json);
        profile.files = files;
        let schema = schema.load(&profile.name)?;
        Ok((profile, schema))
    }

    /// The JSON that it was read from, with all that it inherits.
    pub(crate) fn to_json(&self) -> Value {
        let built_in = || resolve(&self.name, None, 0).map(|it| it.profile).unwrap_or_default();
        self.json.clone().unwrap_or_else(built_in)
    }
}

impl SchemaSource {
    fn file(&self) -> Option<PathBuf> {
        match self {
            Self::File { file, .. } => Some(file.clone()),
            Self::Nowhere | Self::BuiltIn(_) | Self::Given { .. } => None,
        }
    }

    fn load(self, name: &str) -> Result<Option<Schema>, Error> {
        let compiled = |place: String, of: &str, schema: Result<Value, String>| {
            let schema = schema.and_then(|schema| Schema::compile(name, &schema));
            schema.map(Some).map_err(|message| refused(of, format!("{place}: {message}")))
        };
        match self {
            Self::Nowhere => Ok(None),
            Self::BuiltIn(profile) => Ok(Some(profile.compiled_schema())),
            Self::Given { schema, of } => compiled("/schema".to_owned(), &of, Ok(schema)),
            Self::File { file, of } => {
                compiled(format!("/schema: {}", file.display()), &of, read_json(&file))
            }
        }
    }
}

/// The names of the built-in profiles, the default one first.
pub fn profile_names() -> impl Iterator<Item = &'static str> {
    BuiltInProfile::all().map(|profile| profile.name)
}

/// The text of a built-in profile.
///
/// # Errors
///
/// When there is none of this name.
pub fn profile_text(name: &str) -> Result<&'static str, Error> {
    Ok(built_in(name)?.text())
}

/// The text of a built-in profile with its schema: one complete file.
///
/// # Errors
///
/// When there is none of this name.
pub fn whole_profile_text(name: &str) -> Result<String, Error> {
    let built_in = built_in(name)?;
    let mut text = built_in.text().to_owned();
    if let Some(place) = json::member(&text, "schema") {
        let schema = built_in.schema;
        text.replace_range(place, &schema.trim_end().replace('\n', "\n  "));
    }
    Ok(text)
}

fn built_in(name: &str) -> Result<&'static BuiltInProfile, Error> {
    let found = BuiltInProfile::find(name);
    found.ok_or_else(|| refused(name, none_named(name)))
}

/// What is said of a name that no built-in profile has.
pub const NO_SUCH_PROFILE: &str = "no such profile";

/// That there is none of this name, and which one has a similar name.
fn none_named(name: &str) -> String {
    format!("{NO_SUCH_PROFILE}{}", similar(name, profile_names()))
}

fn refused(origin: &str, message: String) -> Error {
    Error::Profile { origin: origin.to_owned(), message }
}

/// Checks a profile against the language. An inherited fault names the base.
fn validate(profile: &Value, bases: &[(String, Value)]) -> Result<(), String> {
    let faults_of_bases: Vec<(&str, Vec<Fault>)> =
        bases.iter().map(|(name, base)| (name.as_str(), faults(base))).collect();
    let messages = faults(profile).into_iter().take(FAULTS_SHOWN_MAX).map(|fault| {
        let base = faults_of_bases.iter().find(|(_, faults)| faults.contains(&fault));
        base.map_or(fault.to_string(), |(name, _)| format!("{fault}, inherited from {name}"))
    });
    let messages: Vec<String> = messages.collect();
    if messages.is_empty() { Ok(()) } else { Err(messages.join("; ")) }
}

/// `text` is that of the profile, if it is given; `depth` is the number of profiles that extend
/// this one.
fn resolve(name_or_file: &str, text: Option<&str>, depth: usize) -> Result<ResolvedProfile, Error> {
    let refused = |message: String| refused(name_or_file, message);
    if depth > EXTENDS_MAX {
        return Err(refused(format!("more than {EXTENDS_MAX} profiles extend one another")));
    }
    let (mut profile, schema) = read_own(name_or_file, text).map_err(refused)?;
    let own_file = text.is_none().then(|| PathBuf::from(name_or_file));
    let schema_file = schema.as_ref().and_then(SchemaSource::file);
    let mut files: Vec<PathBuf> = own_file.into_iter().chain(schema_file).collect();
    let base = profile.as_object_mut().and_then(|members| members.remove("extends"));
    let Some(base) = base else {
        let schema = schema.unwrap_or(SchemaSource::Nowhere);
        return Ok(ResolvedProfile { profile, schema, bases: Vec::new(), files });
    };
    let Value::String(base) = base else {
        return Err(refused("/extends: must be a string: a profile's name or a file".to_owned()));
    };
    let is_built_in = BuiltInProfile::find(&base).is_some();
    let file = File::new(name_or_file).with_file_name(&base);
    if !is_built_in && !file.exists() {
        let message = format!("no file {}, and {}", file.display(), none_named(&base));
        return Err(refused(format!("/extends: {message}")));
    }
    let base = if is_built_in { base.into() } else { file.to_string_lossy() };
    let base_profile = resolve(&base, None, depth + 1)?;
    let ResolvedProfile { profile: inherited, schema: base_schema, mut bases, .. } = base_profile;
    files.extend(base_profile.files);
    let merged = merge::extended(inherited.clone(), profile).map_err(|place| {
        refused(format!("{place}: null removes a key that {base} does not have"))
    })?;
    bases.push((base.into_owned(), inherited));
    Ok(ResolvedProfile { profile: merged, schema: schema.unwrap_or(base_schema), bases, files })
}

/// The JSON of a profile without what it inherits, and its own schema.
fn read_own(
    name_or_file: &str,
    text: Option<&str>,
) -> Result<(Value, Option<SchemaSource>), String> {
    let built_in = BuiltInProfile::find(name_or_file).filter(|_| text.is_none());
    if let Some(built_in) = built_in {
        let profile = serde_json::from_str(built_in.resolved).map_err(|error| error.to_string())?;
        return Ok((profile, Some(SchemaSource::BuiltIn(built_in))));
    }
    let file = File::new(name_or_file);
    if text.is_none() && !file.exists() && file.extension().is_none() {
        return Err(format!("no such file, and {}", none_named(name_or_file)));
    }
    let profile = match text {
        Some(text) => parse_json(text)?,
        None => read_json(file)?,
    };
    let of = name_or_file.to_owned();
    let schema = profile.get("schema").map(|schema| match schema {
        Value::Null => SchemaSource::Nowhere,
        Value::String(name) => SchemaSource::File { file: file.with_file_name(name), of },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            SchemaSource::Given { schema: schema.clone(), of }
        }
    });
    Ok((profile, schema))
}

/// Reads a file of at most `max` bytes; the message says that in MiB. An endless file is an error,
/// too.
///
/// # Errors
///
/// Why it cannot be read.
pub fn read_bounded(file: &File, max: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|it| it.take(max + 1).read_to_end(&mut bytes));
    let length = read.map_err(|error| error.to_string())?;
    if length as u64 > max {
        return Err(format!("the file is larger than {} MiB", max >> 20));
    }
    Ok(bytes)
}

/// Reads a JSON file. Rejects a key that occurs twice: one of its values would be lost.
pub(crate) fn read_json(file: &File) -> Result<Value, String> {
    let bytes = read_bounded(file, FILE_BYTES_MAX)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| format!("not valid JSON: {error}"))?;
    parse_json(text)
}

/// The same for JSON in memory.
pub(crate) fn parse_json(text: &str) -> Result<Value, String> {
    let (value, duplicates) = json::parse_tree(text, FAULTS_SHOWN_MAX)
        .map_err(|error| format!("not valid JSON: {error}"))?;
    if duplicates.is_empty() {
        return Ok(value);
    }
    let messages = duplicates.iter().map(|place| format!("{place}: the key occurs more than once"));
    Err(messages.collect::<Vec<_>>().join("; "))
}
