//! Short names for expectations that many runs have.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::expect::ExpectTable;
use crate::source::ConfigText;

const TABLES: &str = include_str!("presets.toml");

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    Tested,
    ReadOnly,
    NoPush,
    Answered,
}

impl Preset {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tested => "tested",
            Self::ReadOnly => "read-only",
            Self::NoPush => "no-push",
            Self::Answered => "answered",
        }
    }

    pub(crate) fn table(
        preset: &Spanned<Self>,
        source: &ConfigText,
    ) -> Result<ExpectTable, String> {
        let tables: Result<BTreeMap<Self, ExpectTable>, _> = toml::from_str(TABLES);
        let fault = |error: &str| source.fault(&preset.span(), error);
        let mut tables = tables.map_err(|error| fault(&error.to_string()))?;
        tables.remove(preset.get_ref()).ok_or_else(|| fault("the preset has no table"))
    }
}
