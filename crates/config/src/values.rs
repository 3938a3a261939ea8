//! The values of settings, each checked when it is read.

use std::fmt;
use std::str::FromStr;

use ndjson_check_core::{
    Rule, Severity,
    internals::{Globs, NameGlob, similar, syntax_error},
};
use serde::de::{Error as _, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// What a whole number is that does not fit.
const TOO_LARGE: &str = "a number that is too large";

/// A whole number that is at least `MIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Count<const MIN: u64>(pub u64);

impl<const MIN: u64> Count<MIN> {
    fn new(count: u64) -> Option<Self> {
        (count >= MIN).then_some(Self(count))
    }
}

impl<const MIN: u64> fmt::Display for Count<MIN> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl<const MIN: u64> FromStr for Count<MIN> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.parse().ok().and_then(Self::new);
        count.ok_or_else(|| format!("must be a whole number, {MIN} or more"))
    }
}

impl<'de, const MIN: u64> Deserialize<'de> for Count<MIN> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_i64(CountVisitor::<MIN>)
    }
}

struct CountVisitor<const MIN: u64>;

impl<const MIN: u64> Visitor<'_> for CountVisitor<MIN> {
    type Value = Count<MIN>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a whole number, {MIN} or more")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Count<MIN>, E> {
        let count = u64::try_from(number).ok().and_then(Count::new);
        count.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Count<MIN>, E> {
        Err(E::invalid_value(Unexpected::Other(TOO_LARGE), &self))
    }
}

/// An amount in US dollars, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Cost(pub f64);

impl Cost {
    fn new(amount: f64) -> Option<Self> {
        (amount.is_finite() && amount > 0.0).then_some(Self(amount))
    }
}

impl FromStr for Cost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cost = text.parse().ok().and_then(Self::new);
        cost.ok_or_else(|| "must be an amount in US dollars above 0, such as 2.50".to_owned())
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_f64(CostVisitor)
    }
}

struct CostVisitor;

impl Visitor<'_> for CostVisitor {
    type Value = Cost;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an amount in US dollars above 0")
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Cost, E> {
        Cost::new(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }

    #[expect(clippy::cast_precision_loss, reason = "no price has 17 digits")]
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Cost, E> {
        Cost::new(number as f64).ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Cost, E> {
        Err(E::invalid_value(Unexpected::Other(TOO_LARGE), &self))
    }
}

/// The rule of this name.
///
/// # Errors
///
/// When there is none; names a similar one.
pub fn rule(name: &str) -> Result<Rule, String> {
    Rule::named(name.trim()).ok_or_else(|| {
        let similar = similar(name, Rule::ALL.iter().map(|rule| rule.name()));
        format!("no such rule; `ndjson-check rules` lists them all{similar}")
    })
}

/// An amount in US dollars, which may be 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct Dollars(pub(crate) f64);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let amount = f64::deserialize(from)?;
        if amount.is_finite() && amount >= 0.0 {
            return Ok(Self(amount));
        }
        let expected = "an amount in US dollars, 0 or more";
        Err(D::Error::invalid_value(Unexpected::Float(amount), &expected))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "&'static str")]
pub(crate) struct RuleName(Rule);

impl TryFrom<String> for RuleName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        rule(&name).map(Self)
    }
}

impl From<RuleName> for &'static str {
    fn from(name: RuleName) -> Self {
        name.0.name()
    }
}

impl From<Rule> for RuleName {
    fn from(rule: Rule) -> Self {
        Self(rule)
    }
}

impl From<RuleName> for Rule {
    fn from(name: RuleName) -> Self {
        name.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Error,
    Warning,
    Off,
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(LevelVisitor)
    }
}

struct LevelVisitor;

impl Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(r#""error", "warning" or "off""#)
    }

    fn visit_str<E: serde::de::Error>(self, level: &str) -> Result<Level, E> {
        match level {
            "error" => Ok(Level::Error),
            "warning" => Ok(Level::Warning),
            "off" => Ok(Level::Off),
            _ => Err(E::unknown_variant(level, &["error", "warning", "off"])),
        }
    }
}

impl From<Option<Severity>> for Level {
    fn from(severity: Option<Severity>) -> Self {
        match severity {
            Some(Severity::Error) => Self::Error,
            Some(Severity::Warning) => Self::Warning,
            None => Self::Off,
        }
    }
}

impl From<Level> for Option<Severity> {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Off => None,
        }
    }
}

/// A regular expression whose syntax is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Pattern(pub(crate) String);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match syntax_error(&text) {
            Some(error) => Err(D::Error::custom(format!("not a regular expression: {error}"))),
            None => Ok(Self(text)),
        }
    }
}

/// A glob for names that compiles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Name(pub(crate) String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match NameGlob::new(&text) {
            Err(message) => Err(D::Error::custom(message)),
            Ok(_) => Ok(Self(text)),
        }
    }
}

/// A glob that compiles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Glob(pub(crate) String);

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        match Globs::new(std::slice::from_ref(&text)) {
            Err(message) => Err(D::Error::custom(message)),
            Ok(_) => Ok(Self(text)),
        }
    }
}
