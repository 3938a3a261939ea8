//! The settings of a check: the configuration file, and what the command line changes in it.

mod expect;
mod find;
mod print;
mod source;
mod table;
mod values;

use std::path::Path;

use ndjson_check_core::{Limits, Rule, Severity};
use toml::Spanned;

use super::args::Cli;
use super::error::CliError;
use super::setup;

use expect::Placed;
use source::ConfigText;
use table::Table;

pub(crate) use values::{Cost, Count};

/// The JSON Schema of the configuration file.
pub(super) const SCHEMA: &str = include_str!("config.schema.json");

/// The settings of a check.
#[derive(Debug)]
pub(super) struct Config {
    source: Option<ConfigText>,
    table: Table,
    /// What is expected, and where the file says so.
    expectations: Vec<Placed>,
}

impl Config {
    /// Reads the configuration file, if there is one, and applies the command line to it.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is wrong, or the command line contradicts itself.
    pub(super) fn new(cli: &Cli) -> Result<Self, CliError> {
        let file = match &cli.config {
            Some(file) => Some(file.clone()),
            None if cli.no_config => None,
            None => find::nearest_file().map_err(CliError::usage)?,
        };
        let mut config = match file {
            Some(file) => Self::read(&file)?,
            None => Self { source: None, table: Table::default(), expectations: Vec::new() },
        };
        config.apply(cli)?;
        Ok(config)
    }

    fn read(file: &Path) -> Result<Self, CliError> {
        let source = ConfigText::read(file)?;
        let mut table: Table =
            toml::from_str(source.text()).map_err(|error| source.syntax_fault(&error))?;
        let expectations = table.resolve(&source)?;
        Ok(Self { source: Some(source), table, expectations })
    }

    /// The command line wins.
    fn apply(&mut self, cli: &Cli) -> Result<(), CliError> {
        let Table { profile, strict, rules, limits, .. } = &mut self.table;
        if let Some(named) = &cli.profile {
            *profile = Some(Spanned::new(0..0, named.clone()));
        }
        *strict |= cli.strict;
        for (rule, severity) in setup::severities(cli)? {
            rules.insert(rule.into(), severity.into());
        }
        limits.apply(cli);
        Ok(())
    }

    /// The file, as messages name it.
    pub(super) fn file(&self) -> Option<&Path> {
        self.source.as_ref().map(ConfigText::file)
    }

    pub(super) fn profile(&self) -> Option<&str> {
        self.table.profile.as_ref().map(|profile| profile.get_ref().as_str())
    }

    pub(super) fn is_strict(&self) -> bool {
        self.table.strict
    }

    pub(super) fn severities(&self) -> impl Iterator<Item = (Rule, Option<Severity>)> {
        self.table.rules.iter().map(|(name, level)| ((*name).into(), (*level).into()))
    }

    pub(super) fn limits(&self) -> Limits {
        self.table.limits.limits()
    }

    /// The names of all demands, as findings have them.
    pub(super) fn demands(&self) -> Vec<String> {
        let limits = self.limits();
        let limits = [
            ("limits.cost", limits.cost.is_some()),
            ("limits.tokens", limits.tokens.is_some()),
            ("limits.turns", limits.turns.is_some()),
            ("limits.calls", limits.calls.is_some()),
            ("limits.failed-calls", limits.failed_calls.is_some()),
        ];
        let limits = limits.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name);
        let places = self.expectations.iter().map(|(place, _)| &**place);
        limits.chain(places).map(str::to_owned).collect()
    }

    pub(super) fn expectations(&self) -> &[Placed] {
        &self.expectations
    }

    /// The settings as a configuration file.
    ///
    /// # Errors
    ///
    /// When TOML cannot express them.
    pub(super) fn printed(&self) -> Result<String, CliError> {
        print::printed(self.file(), &self.table)
    }
}
