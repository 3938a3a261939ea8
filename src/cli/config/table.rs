//! The configuration file as it is written.

use std::collections::BTreeMap;
use std::path::Path;

use ndjson_check_core::{
    Limits,
    internals::{AUTO, nearest, profile_names},
};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::expect::{ExpectTable, Placed};
use super::source::ConfigText;
use super::values::{Cost, Count, Level, RuleName};
use crate::cli::args::Cli;
use crate::cli::error::CliError;

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct Table {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) profile: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) strict: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) rules: BTreeMap<RuleName, Level>,
    #[serde(skip_serializing_if = "LimitTable::is_empty")]
    pub(super) limits: LimitTable,
    #[serde(skip_serializing_if = "ExpectTable::is_empty")]
    pub(super) expect: ExpectTable,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(super) struct LimitTable {
    cost: Option<Cost>,
    tokens: Option<Count<1>>,
    turns: Option<Count<1>>,
    calls: Option<Count<0>>,
    failed_calls: Option<Count<0>>,
}

impl Table {
    /// Checks what the file names, and makes its paths absolute; returns the expectations.
    pub(super) fn resolve(&mut self, source: &ConfigText) -> Result<Vec<Placed>, CliError> {
        if let Some(profile) = &mut self.profile {
            let span = profile.span();
            let known = known_profile(profile.get_ref(), source);
            *profile.get_mut() = known.map_err(|message| source.fault(&span, &message))?;
        }
        self.expect.resolve(source)
    }
}

/// The name of a built-in profile, or the path of a profile file.
fn known_profile(profile: &str, source: &ConfigText) -> Result<String, String> {
    if profile == AUTO || profile_names().any(|name| name == profile) {
        return Ok(profile.to_owned());
    }
    let file = source.path(profile);
    if file.exists() {
        return Ok(absolute(&file));
    }
    let near = nearest(profile, profile_names());
    let near = near.map_or(String::new(), |near| format!("; a similar one is `{near}`"));
    Err(format!("no such profile, and no such file: `{profile}`{near}"))
}

/// The path as text that means the same wherever it is read.
pub(super) fn absolute(file: &Path) -> String {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).display().to_string()
}

impl LimitTable {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn apply(&mut self, cli: &Cli) {
        *self = Self {
            cost: cli.max_cost.or(self.cost),
            tokens: cli.max_tokens.or(self.tokens),
            turns: cli.max_turns.or(self.turns),
            calls: cli.max_calls.or(self.calls),
            failed_calls: cli.max_failed_calls.or(self.failed_calls),
        };
    }

    pub(super) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.cost = self.cost.map(|cost| cost.0);
        limits.tokens = self.tokens.map(|count| count.0);
        limits.turns = self.turns.map(|count| count.0);
        limits.calls = self.calls.map(|count| count.0);
        limits.failed_calls = self.failed_calls.map(|count| count.0);
        limits
    }
}
