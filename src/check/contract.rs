//! What streams are held against: a profile, schemas, severities and limits.

use std::sync::OnceLock;

use serde_json::Value;

use crate::error::Error;
use crate::limits::{LINE_BYTES_MAX, WARM_UP_BYTES};
use crate::profile::{Profile, TerminalPolicy};
use crate::rules::Severities;
use crate::json::schema::Schema;
use crate::check::verdict::Format;

/// What streams are held against; compiled once, used for any number of them.
#[derive(Debug)]
pub struct Contract {
    profile: Profile,
    schema: Option<Schema>,
    /// Made when it is first needed, if it is ours.
    single: OnceLock<Option<Schema>>,
    user_schema: Option<Schema>,
    /// The severity of each rule.
    pub severities: Severities,
    /// Which format the producer was asked for; `None` tells it from the first event.
    pub format: Option<Format>,
    /// Longest line that is checked, in bytes.
    pub line_bytes_max: u64,
    /// The producer's exit status, where it is known.
    pub exit_status: Option<u8>,
    /// How events are read; no verdict depends on it.
    pub engine: Engine,
    /// Up to here the fast engine goes the plain way, in bytes: what it needs takes longer to make
    /// than a short stream takes to check.
    pub warm_up_bytes: u64,
}

/// How events are read and held against schemas. All engines find the same, to the byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engine {
    /// As fast as can be: a tape for each line, and a memory of the shapes of lines.
    #[default]
    Fast,
    /// A tape for each line, and no memory.
    Uncached,
    /// A tree for each line: the plain way, which the others are held against.
    Reference,
}

impl Contract {
    /// The contract of a profile and, if it has one, the schema of its events.
    ///
    /// # Errors
    ///
    /// When the schema is none, or refers to something outside itself.
    pub fn new(profile: Profile, schema: Option<Schema>) -> Result<Self, Error> {
        Ok(Self {
            single: if schema.as_ref().is_some_and(Schema::is_built_in) {
                OnceLock::new()
            } else {
                OnceLock::from(single(schema.as_ref(), &profile)?)
            },
            schema,
            user_schema: None,
            profile,
            severities: Severities::default(),
            format: None,
            line_bytes_max: LINE_BYTES_MAX,
            exit_status: None,
            engine: Engine::default(),
            warm_up_bytes: WARM_UP_BYTES,
        })
    }

    /// The profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Adds a schema that every event must satisfy as well; `origin` is its file.
    ///
    /// # Errors
    ///
    /// As [`Contract::new`].
    pub fn add_schema(&mut self, origin: &str, schema: &Value) -> Result<(), Error> {
        self.user_schema = Some(Schema::compile(origin, schema)?);
        Ok(())
    }

    /// The schemas that an event must satisfy; `first` says whether it is the stream's first.
    pub(crate) fn schemas(&self, first: bool) -> impl Iterator<Item = &Schema> {
        let single = if self.format == Some(Format::Json) { self.single() } else { None };
        let own = match single {
            // What follows the first object has no place there at all, and is reported for that.
            Some(_) if !first => None,
            Some(single) => Some(single),
            None => self.schema.as_ref(),
        };
        own.into_iter().chain(&self.user_schema)
    }

    fn single(&self) -> Option<&Schema> {
        let single = self.single.get_or_init(|| {
            let part = single(self.schema.as_ref(), &self.profile);
            part.expect("a schema of ours has the part that its profile names, a test holds")
        });
        single.as_ref()
    }

    /// Whether the producer ends its stream with a terminal event.
    pub(crate) fn needs_terminal(&self) -> bool {
        self.profile.end.policy == TerminalPolicy::Required
    }
}

/// The schema of the single object, if the producer has a format that is one.
fn single(schema: Option<&Schema>, profile: &Profile) -> Result<Option<Schema>, Error> {
    match (schema, &profile.single_object) {
        (Some(schema), Some(single)) => schema.part(&single.schema).map(Some).map_err(|error| {
            let message = format!("/single/schema: {error}");
            Error::Profile { origin: profile.name.clone(), message }
        }),
        _ => Ok(None),
    }
}
