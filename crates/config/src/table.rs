//! The configuration file as it is written.

use std::collections::BTreeMap;
use std::path::Path;

use ndjson_check_core::{
    Limits, Price,
    internals::{AUTO, profile_names, similar},
};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::expect::{ExpectTable, Placed};
use crate::source::ConfigText;
use crate::values::{Cost, Count, Dollars, Level, Name, RuleName};

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct Table {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<Spanned<String>>,
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) strict: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) rules: BTreeMap<RuleName, Level>,
    #[serde(skip_serializing_if = "LimitTable::is_empty")]
    pub(crate) limits: LimitTable,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) prices: BTreeMap<Name, PriceTable>,
    #[serde(skip_serializing_if = "ExpectTable::is_empty")]
    pub(crate) expect: ExpectTable,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct LimitTable {
    cost: Option<Cost>,
    tokens: Option<Count<1>>,
    turns: Option<Count<1>>,
    calls: Option<Count<0>>,
    failed_calls: Option<Count<0>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimates: Option<Spanned<bool>>,
}

/// What a million tokens of a model cost.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table")]
pub(crate) struct PriceTable {
    input: Dollars,
    output: Dollars,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
}

impl PriceTable {
    pub(crate) fn of(self, model: &Name) -> Price {
        let mut price = Price::new(&model.0, self.input.0, self.output.0);
        price.cache_read = self.cache_read.map(|dollars| dollars.0);
        price.cache_write = self.cache_write.map(|dollars| dollars.0);
        price
    }
}

impl Table {
    /// Checks what the file names, and makes its paths absolute; returns the expectations.
    pub(crate) fn resolve(&mut self, source: &ConfigText) -> Result<Vec<Placed>, String> {
        if let Some(profile) = &mut self.profile {
            let span = profile.span();
            let known = known_profile(profile.get_ref(), source);
            *profile.get_mut() = known.map_err(|message| source.fault(&span, &message))?;
        }
        let estimates = self.limits.estimates.as_ref().filter(|it| *it.get_ref());
        if let Some(estimates) = estimates.filter(|_| self.prices.is_empty()) {
            return Err(source.fault(&estimates.span(), "`estimates` needs `[prices]`"));
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
    let similar = similar(profile, profile_names());
    Err(format!("no such profile, and no such file: `{profile}`{similar}"))
}

/// The path as text that means the same wherever it is read.
pub(crate) fn absolute(file: &Path) -> String {
    std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).display().to_string()
}

impl LimitTable {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What is wrong with the limits together.
    pub(crate) fn fault(&self, source: &ConfigText) -> Option<String> {
        let estimates =
            self.estimates.as_ref().filter(|it| *it.get_ref() && self.cost.is_none())?;
        Some(source.fault(&estimates.span(), "`estimates` needs `limits.cost` or `--max-cost`"))
    }

    /// Takes the limits that are set.
    pub(crate) fn set(&mut self, limits: &Limits) {
        *self = Self {
            cost: limits.cost.map(Cost).or(self.cost),
            tokens: limits.tokens.map(Count).or(self.tokens),
            turns: limits.turns.map(Count).or(self.turns),
            calls: limits.calls.map(Count).or(self.calls),
            failed_calls: limits.failed_calls.map(Count).or(self.failed_calls),
            estimates: self.estimates.take(),
        };
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.cost = self.cost.map(|cost| cost.0);
        limits.tokens = self.tokens.map(|count| count.0);
        limits.turns = self.turns.map(|count| count.0);
        limits.calls = self.calls.map(|count| count.0);
        limits.failed_calls = self.failed_calls.map(|count| count.0);
        limits.estimates = self.estimates.as_ref().is_some_and(|it| *it.get_ref());
        limits
    }
}
