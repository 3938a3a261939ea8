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
        let table = tables.map(|mut tables| tables.remove(preset.get_ref()).unwrap_or_default());
        table.map_err(|error| source.fault(&preset.span(), &error.to_string()))
    }
}
