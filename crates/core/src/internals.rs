//! What the program, the other packages, the tests and the benches need beyond the interface.

use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::json::{ParsedJson, Schema};
use crate::limits::LINE_BYTES_MAX;
use crate::profile::Profile;
use crate::stream::{LineBuffer, LineDefect, parse_line};

pub use crate::check::{Globs, NameGlob, REPEATED_CALLS};
pub use crate::error::without_error_numbers;
pub use crate::json::{JsonRef, pointer};
pub use crate::limits::TIMER_MAX;
pub use crate::profile::detect::AUTO;
pub use crate::profile::load::read_bounded;
pub use crate::profile::path::Path as JsonPath;
pub use crate::profile::pattern::syntax_error;
pub use crate::profile::{
    DEFAULT, LANGUAGE, NO_SUCH_PROFILE, profile_names, profile_text, whole_profile_text,
};
pub use crate::rules::suggest::{nearest, similar};

/// What the fuzz targets call.
#[cfg(fuzzing)]
#[path = "../../../fuzz/in_core.rs"]
pub mod in_core;

/// What the program needs to run a command, or to watch a stream.
#[cfg(feature = "run")]
pub mod run {
    #[cfg(unix)]
    pub use crate::run::platform::{guard_group, survive_file_limit};
    pub use crate::run::{
        blocking_file::BlockingFile,
        pause::pause,
        producer::{Interrupt, Producer, StderrCopy, Timers, WholeProcess},
        stream::ProducerStream,
    };
}

/// What a list of the profiles shows of one.
#[derive(Debug)]
pub struct ProfileEntry {
    pub title: String,
    /// How the agent is called so that it writes events.
    pub command: Option<String>,
    /// The first word of it.
    pub program: Option<String>,
    /// The versions that were seen.
    pub versions: Vec<String>,
}

/// The agent of a profile.
///
/// # Errors
///
/// When there is none of this name.
pub fn profile_entry(name: &str) -> Result<ProfileEntry, Error> {
    let (Profile { title, command, versions, .. }, _) = Profile::load(name)?;
    let program = command.as_deref().and_then(|command| command.split(' ').next());
    let program = program.map(str::to_owned);
    Ok(ProfileEntry { title, command, program, versions: versions.seen })
}

/// The schema of the events of a built-in profile, or of a profile file.
///
/// # Errors
///
/// When there is no such profile, or when it has no schema.
pub fn events_schema(profile: &str) -> Result<Value, Error> {
    let (_, schema) = Profile::load(profile)?;
    let schema = schema.ok_or_else(|| Error::Profile {
        origin: profile.to_owned(),
        message: "it has no schema".to_owned(),
    })?;
    Ok(schema.document().clone())
}

/// Reads a file with a JSON Schema, and checks that it is one.
///
/// # Errors
///
/// When it cannot be read, or is not a schema; says what is wrong.
pub fn read_schema(file: &Path) -> Result<Value, String> {
    let json = crate::profile::read_json(file)?;
    Schema::compile(&file.display().to_string(), &json).map(|_| json)
}

/// Calls `each` with the number of each line and its event; with none if the line is not an event.
/// Returns whether the source ends inside an event.
///
/// # Errors
///
/// When the source cannot be read.
pub fn each_event(
    mut source: impl Read,
    each: &mut dyn FnMut(u64, Option<JsonRef<'_>>),
) -> io::Result<bool> {
    let mut lines = LineBuffer::new(Vec::new(), LINE_BYTES_MAX, None);
    let mut is_cut = false;
    loop {
        let count = match source.read(lines.room()) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        lines.filled(count);
        if count == 0 {
            lines.end();
        }
        while lines.is_ready() {
            for line in lines.take() {
                let event = parse_line(&line);
                is_cut = matches!(event, Err(LineDefect::Truncated));
                each(line.number, event.ok().as_ref().map(|event| event.root()));
            }
        }
        if count == 0 {
            return Ok(is_cut);
        }
    }
}

/// Whether a value satisfies a JSON Schema; both are JSON texts.
///
/// # Errors
///
/// When the schema cannot be used.
pub fn satisfies(schema: &str, value: &str) -> Result<bool, Error> {
    let parse = |text| serde_json::from_str(text).unwrap_or_default();
    let schema = Schema::compile("test", &parse(schema));
    let schema = schema.map_err(|message| Error::schema("test", message))?;
    let value = ParsedJson::Tree(parse(value));
    schema.violations(&value).map(|found| found.is_empty())
}
