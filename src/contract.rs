//! What streams are held against: a profile, schemas, severities and limits.

use serde_json::Value;

use crate::error::Error;
use crate::limits::LINE_BYTES_MAX;
use crate::profile::{Profile, TerminalPolicy};
use crate::rule::Severities;
use crate::schema::Schema;
use crate::verdict::Format;

/// What streams are held against; compiled once, used for any number of them.
#[derive(Debug)]
pub struct Contract {
    profile: Profile,
    schema: Option<Schema>,
    single: Option<Schema>,
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
    pub fn new(profile: Profile, schema: Option<&Value>) -> Result<Self, Error> {
        let single = match (schema, &profile.single) {
            (Some(schema), Some(single)) => {
                Some(Schema::compile_part(&profile.name, schema, &single.schema)?)
            }
            _ => None,
        };
        Ok(Self {
            schema: schema.map(|it| Schema::compile(&profile.name, it)).transpose()?,
            single,
            user_schema: None,
            profile,
            severities: Severities::default(),
            format: None,
            line_bytes_max: LINE_BYTES_MAX,
            exit_status: None,
            engine: Engine::default(),
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
        let own = match (self.format, &self.single) {
            // What follows the first object has no place there at all, and is reported for that.
            (Some(Format::Json), Some(_)) if !first => None,
            (Some(Format::Json), Some(single)) => Some(single),
            _ => self.schema.as_ref(),
        };
        own.into_iter().chain(&self.user_schema)
    }

    /// Whether the producer ends its stream with a terminal event.
    pub(crate) fn needs_terminal(&self) -> bool {
        self.profile.terminal.policy == TerminalPolicy::Required
    }
}
