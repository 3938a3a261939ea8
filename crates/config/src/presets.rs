//! Short names for expectations that many runs have.

use serde::Deserialize;
use toml::Spanned;

use crate::expect::ExpectTable;
use crate::source::ConfigText;

const TABLES: &str = include_str!("presets.toml");

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    Tested,
    ReadOnly,
    NoPush,
    Answered,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Tables {
    tested: ExpectTable,
    read_only: ExpectTable,
    no_push: ExpectTable,
    answered: ExpectTable,
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
        let tables: Tables = toml::from_str(TABLES)
            .map_err(|error| source.fault(&preset.span(), &error.to_string()))?;
        Ok(match preset.get_ref() {
            Self::Tested => tables.tested,
            Self::ReadOnly => tables.read_only,
            Self::NoPush => tables.no_push,
            Self::Answered => tables.answered,
        })
    }
}
