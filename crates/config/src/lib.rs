//! The configuration file `ndjson-check.toml`: what is demanded of a run.
//!
//! ```
//! use ndjson_check_config::Config;
//! use ndjson_check_core::Checker;
//!
//! let config = Config::parse("ndjson-check.toml", "limits.calls = 200".to_owned())?;
//! let checker = config.apply_to(Checker::builder()).build();
//! assert!(checker.is_ok());
//!
//! let error = Config::parse("ndjson-check.toml", "limits.trns = 40".to_owned()).unwrap_err();
//! assert_eq!(error, "ndjson-check.toml:1:8: unknown key `trns`; a similar one is `turns`");
//! # Ok::<(), String>(())
//! ```

mod expect;
mod find;
mod presets;
mod print;
mod source;
mod table;
mod values;

use std::path::{Path, PathBuf};

use ndjson_check_core::{CheckerBuilder, Limits, Rule, Severity, internals::AUTO};
use toml::Spanned;

use expect::Placed;
use source::ConfigText;
use table::Table;

pub use values::{Cost, Count, rule};

/// The JSON Schema of the configuration file.
pub const SCHEMA: &str = include_str!("config.schema.json");

/// The settings of a check.
#[derive(Debug, Default)]
pub struct Config {
    source: Option<ConfigText>,
    table: Table,
    /// What is expected, and where the file says so.
    expectations: Vec<Placed>,
}

impl Config {
    /// The configuration file nearest to the working directory: there, or above it up to the root
    /// of the repository.
    ///
    /// # Errors
    ///
    /// When the working directory is unknown.
    pub fn nearest_file() -> Result<Option<PathBuf>, String> {
        find::nearest_file()
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is wrong; says where.
    pub fn read(file: &Path) -> Result<Self, String> {
        Self::of(ConfigText::read(file)?)
    }

    /// Reads the text of a configuration file; `name` is its name in messages.
    ///
    /// # Errors
    ///
    /// When it is wrong; says where.
    pub fn parse(name: &str, text: String) -> Result<Self, String> {
        Self::of(ConfigText::new(name, text))
    }

    fn of(source: ConfigText) -> Result<Self, String> {
        let mut table: Table =
            toml::from_str(source.text()).map_err(|error| source.syntax_fault(&error))?;
        let expectations = table.resolve(&source)?;
        Ok(Self { source: Some(source), table, expectations })
    }

    /// The file, as messages name it.
    pub fn file(&self) -> Option<&Path> {
        self.source.as_ref().map(ConfigText::file)
    }

    /// The files that the settings were read from: the configuration, and the schema of the answer.
    pub fn files(&self) -> Vec<PathBuf> {
        let schema = self.table.expect.answer_schema().map(PathBuf::from);
        self.file().map(PathBuf::from).into_iter().chain(schema).collect()
    }

    /// The name of a built-in profile, the path of a profile file, or `auto`.
    pub fn profile(&self) -> &str {
        self.table.profile.as_ref().map_or(AUTO, |profile| profile.get_ref())
    }

    /// Names the profile, whatever the file says.
    pub fn set_profile(&mut self, profile: &str) {
        self.table.profile = Some(Spanned::new(0..0, profile.to_owned()));
    }

    /// Gives every rule its strict severity.
    pub fn make_strict(&mut self) {
        self.table.strict = true;
    }

    /// Sets the severity of a rule, whatever the file says; `None` turns it off.
    pub fn set_severity(&mut self, rule: Rule, severity: Option<Severity>) {
        self.table.rules.insert(rule.into(), severity.into());
    }

    /// Sets these limits, whatever the file says. The file has the others.
    pub fn set_limits(&mut self, limits: &Limits) {
        self.table.limits.set(limits);
    }

    /// What is wrong with the settings together, when all are set.
    ///
    /// # Errors
    ///
    /// When one of them has no effect; says where.
    pub fn consistent(&self) -> Result<(), String> {
        let fault = self.source.as_ref().and_then(|source| self.table.limits.fault(source));
        fault.map_or(Ok(()), Err)
    }

    /// The limits of each run.
    pub fn limits(&self) -> Limits {
        self.table.limits.limits()
    }

    /// All demands: the name of each, as findings have it, and what it demands in words.
    pub fn demands(&self) -> Vec<(String, String)> {
        let limits = self.table.limits.limits();
        let limits = [
            ("limits.cost", limits.cost.is_some()),
            ("limits.tokens", limits.tokens.is_some()),
            ("limits.turns", limits.turns.is_some()),
            ("limits.calls", limits.calls.is_some()),
            ("limits.failed-calls", limits.failed_calls.is_some()),
        ];
        let limits = limits.iter().filter(|(_, is_set)| *is_set);
        let limits = limits.map(|(name, _)| ((*name).to_owned(), (*name).to_owned()));
        // The entries of a preset have one place.
        let expectations = self.expectations.chunk_by(|(one, _), (other, _)| one == other);
        let expectations = expectations.map(|of_place| {
            let texts: Vec<String> = of_place.iter().map(|(_, it)| it.to_string()).collect();
            let place = &of_place[0].0;
            (place.clone(), format!("{} ({place})", texts.join("; ")))
        });
        limits.chain(expectations).collect()
    }

    /// The checker's builder with these settings.
    #[must_use]
    pub fn apply_to(&self, builder: CheckerBuilder) -> CheckerBuilder {
        let mut builder = builder
            .profile(self.profile())
            .strict(self.table.strict)
            .configured_by(self.file().map(|file| file.display().to_string()))
            .limits(self.table.limits.limits())
            .prices(self.table.prices.iter().map(|(model, price)| price.of(model)).collect());
        for (name, level) in &self.table.rules {
            builder = builder.severity((*name).into(), (*level).into());
        }
        for (place, expectation) in &self.expectations {
            builder = builder.expect(place, expectation.clone());
        }
        builder
    }

    /// The settings as a configuration file.
    ///
    /// # Errors
    ///
    /// When TOML cannot express them.
    pub fn printed(&self) -> Result<String, String> {
        print::printed(self.file(), &self.table)
    }
}
