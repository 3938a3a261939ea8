//! The options of a [`Checker`], and the check that they can be used.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::contract::{Contracts, NamedProfile, Options};
use super::prices::Prices;
use super::stage::expect::Expected;
use super::{AgentFormat, Checker, Expectation, Limits, Price};
use crate::error::Error;
use crate::profile::detect::AUTO;
use crate::profile::{Profile, parse_json, read_json};
use crate::rules::{Rule, Severities, Severity};

/// Builds a [`Checker`].
#[derive(Debug, Clone, Default)]
pub struct CheckerBuilder {
    profile: Option<NamedProfile>,
    schema: Option<(String, Value)>,
    expectations: Vec<(String, Expectation)>,
    program: Option<String>,
    directory: Option<String>,
    prices: Vec<Price>,
    options: Options,
}

impl CheckerBuilder {
    /// The agent: the name of a built-in profile, or a profile file. Without it, or with `auto`,
    /// the first events of each stream show it.
    #[must_use]
    pub fn profile(mut self, name_or_file: &str) -> Self {
        let name = Some(name_or_file).filter(|name| *name != AUTO);
        self.profile = name.map(|name| NamedProfile::Name(name.to_owned()));
        self
    }

    /// The profile of the agent as JSON text; `origin` names it in messages. Files that it names
    /// are those of the working directory.
    #[must_use]
    pub fn profile_text(mut self, origin: &str, text: &str) -> Self {
        let (origin, text) = (origin.to_owned(), text.to_owned());
        self.profile = Some(NamedProfile::Text { origin, text });
        self
    }

    /// A file with a JSON Schema that every event must satisfy, too.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not JSON.
    pub fn schema_file(self, file: &Path) -> Result<Self, Error> {
        self.schema(file.display().to_string(), read_json(file))
    }

    /// A JSON Schema that every event must satisfy, too, as text; `origin` names it in messages.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    pub fn schema_text(self, origin: &str, text: &str) -> Result<Self, Error> {
        self.schema(origin.to_owned(), parse_json(text))
    }

    fn schema(mut self, origin: String, schema: Result<Value, String>) -> Result<Self, Error> {
        match schema {
            Ok(schema) => self.schema = Some((origin, schema)),
            Err(message) => return Err(Error::schema(&origin, message)),
        }
        Ok(self)
    }

    /// Gives every rule its strict severity.
    #[must_use]
    pub fn strict(mut self, is_strict: bool) -> Self {
        self.options.severities = Severities::new(is_strict);
        self
    }

    /// Sets the severity of a rule; `None` turns it off. Comes after [`CheckerBuilder::strict`].
    #[must_use]
    pub fn severity(mut self, rule: Rule, severity: Option<Severity>) -> Self {
        self.options.severities.set(rule, severity);
        self
    }

    /// The program that writes the streams: its name, or its path. If it is the program of a
    /// built-in profile, it decides the agent of a stream whose events do not show it.
    #[must_use]
    pub fn command(mut self, program: &str) -> Self {
        let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let program = match program.rsplit_once('.') {
            Some((name, extension)) if is_of_program(extension) => name,
            _ => program,
        };
        self.options.is_of_command = true;
        self.program = Some(program.to_owned());
        self
    }

    /// What the program was called with, without its name. If the agent writes text in place of
    /// events, a note says how to call it, unless these arguments ask for events.
    #[must_use]
    pub fn arguments(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.options.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// The directory in which the command was started. Expectations of where a run writes also know
    /// the files below it if the stream does not name the agent's directory.
    #[must_use]
    pub fn directory(mut self, directory: &str) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Names the file that the options come from in a note of the summary. It is not read.
    #[must_use]
    pub fn configured_by(mut self, file: Option<String>) -> Self {
        self.options.config_file = file;
        self
    }

    /// The format that the agent was asked for. Without it, the first event shows it.
    #[must_use]
    pub fn format(mut self, format: AgentFormat) -> Self {
        self.options.format = Some(format);
        self
    }

    /// How many equal calls in a row are reported as `repeated-call`. The default is 5.
    #[must_use]
    pub fn repeated_calls(mut self, count: u64) -> Self {
        self.options.repeated_calls = Some(count);
        self
    }

    /// Whether each session in a stream is judged on its own, as if it were a stream. The sessions
    /// are named after the stream, with `#1`, `#2` and so on. An event that starts a session with
    /// another id begins the next one; without ids, one that comes after the terminal event. The
    /// observer gets the start and the summary of each;
    /// [`StreamCheck::finish`](super::StreamCheck::finish) returns the last summary. The
    /// default is no.
    #[must_use]
    pub fn many_sessions(mut self, are_many: bool) -> Self {
        self.options.splits_sessions = are_many;
        self
    }

    /// Whether the summary has the SHA-256 hash of the bytes. Computing it takes longer than the
    /// check. With [`CheckerBuilder::many_sessions`] there is none. The default is no.
    #[must_use]
    pub fn sha256(mut self, is_wanted: bool) -> Self {
        self.options.hashes_bytes = is_wanted;
        self
    }

    /// Whether the summary has [`RunStats`](super::RunStats). The default is no.
    #[must_use]
    pub fn stats(mut self, are_wanted: bool) -> Self {
        self.options.collects_stats = are_wanted;
        self.options.compares_members = are_wanted;
        self
    }

    /// Whether the members of events are compared with their schemas. Comes after
    /// [`CheckerBuilder::stats`], which turns this on and off, too.
    #[must_use]
    pub fn members(mut self, are_compared: bool) -> Self {
        self.options.compares_members = are_compared;
        self
    }

    /// Whether the stream is one JSON array of events. Without it, the first bytes show it.
    #[must_use]
    pub fn array(mut self, is_array: bool) -> Self {
        self.options.is_array = Some(is_array);
        self
    }

    /// The longest line that is checked, in bytes; longer ones are reported and skipped. Of an
    /// array, the longest element.
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: u64) -> Self {
        self.options.max_line_bytes = Some(bytes);
        self
    }

    /// Sets limits for the run; see the rule `limit-exceeded`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Prices by which the cost of a run is estimated, if its agent reports none.
    #[must_use]
    pub fn prices(mut self, prices: Vec<Price>) -> Self {
        self.prices = prices;
        self
    }

    /// Adds something that is expected of the run; see the rule `expectation-failed`. `place` says
    /// in messages where it is stated.
    #[must_use]
    pub fn expect(mut self, place: &str, expectation: Expectation) -> Self {
        self.expectations.push((place.to_owned(), expectation));
        self
    }

    /// Reads every line by the plain parser. Slow; the results are the same.
    #[doc(hidden)]
    #[must_use]
    pub fn plain(mut self, is_plain: bool) -> Self {
        self.options.is_plain = is_plain;
        self
    }

    /// The checker.
    ///
    /// # Errors
    ///
    /// When the profile, a schema, a price, a limit or an expectation cannot be used.
    pub fn build(self) -> Result<Checker, Error> {
        let Self { profile, schema, expectations, program, directory, prices, mut options } = self;
        let wrong = |message| Error::Expectation { place: "the prices".to_owned(), message };
        options.prices = Arc::new(Prices::new(prices).map_err(wrong)?);
        if options.limits.cost.is_some_and(|cost| !cost.is_finite() || cost < 0.0) {
            let message = "the cost must be a number of US dollars, 0 or more".to_owned();
            return Err(Error::Expectation { place: "the limits".to_owned(), message });
        }
        options.silent = program.and_then(|it| Profile::of_call(&it, &options.arguments));
        let directory = directory.as_deref();
        let expected =
            expectations.into_iter().map(|(place, it)| Expected::new(&place, it, directory));
        options.expected = expected.collect::<Result<_, _>>()?;
        let schema = schema.as_ref().map(|(origin, schema)| (origin.as_str(), schema));
        let contracts = Contracts::new(profile, schema, options)?;
        Ok(Checker::new(Arc::new(contracts)))
    }
}

/// Whether a file with this extension is a program on Windows: npm installs `claude.cmd`.
fn is_of_program(extension: &str) -> bool {
    ["exe", "cmd", "bat", "com"].iter().any(|it| it.eq_ignore_ascii_case(extension))
}
