//! Texts with values of an event in them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::json::JsonRef;
use crate::profile::path::{Path, Scope};

/// A text with values of the event: `exit {/result/success/exitCode}`. After `#` follows a path in
/// a string that is JSON itself: `{/function/arguments#/path}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template {
    /// Text, and the value after it.
    parts: Vec<(String, ValuePath)>,
    rest: String,
}

#[derive(Debug, Clone)]
struct ValuePath {
    path: Path,
    inner: Option<Path>,
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text.as_str());
        let alone = |text: &str| {
            let closes = text.contains('}');
            if closes { Err("`}` without `{`") } else { Ok(text.to_owned()) }
        };
        while let Some((before, after)) = rest.split_once('{') {
            let (path, after) = after.split_once('}').ok_or("`{` without `}`")?;
            parts.push((alone(before)?, ValuePath::try_from(path)?));
            rest = after;
        }
        Ok(Self { rest: alone(rest)?, parts })
    }
}

impl Template {
    /// As [`Self::filled`], without a copy of a value that is alone.
    pub(super) fn text<'e>(&self, scope: Scope<'e>) -> Option<Cow<'e, str>> {
        match &self.parts[..] {
            [(before, place)] if before.is_empty() && self.rest.is_empty() => {
                place.text(scope).filter(|text| !text.is_empty())
            }
            _ => self.filled(scope).map(Cow::Owned),
        }
    }

    /// Whether a value is there, and is an empty text.
    pub(super) fn is_blank(&self, scope: Scope<'_>) -> bool {
        let mut values = self.parts.iter().filter_map(|(_, place)| place.text(scope));
        values.any(|text| text.is_empty())
    }

    /// `None` if a value is absent or empty.
    pub(crate) fn filled(&self, call: Scope<'_>) -> Option<String> {
        let mut text = String::new();
        for (before, place) in &self.parts {
            let value = place.text(call)?;
            if value.is_empty() {
                return None;
            }
            text.push_str(before);
            text.push_str(&value);
        }
        text.push_str(&self.rest);
        Some(text)
    }
}

impl TryFrom<&str> for ValuePath {
    type Error = String;

    fn try_from(text: &str) -> Result<Self, String> {
        if text.split('~').skip(1).any(|after| !after.starts_with(['0', '1'])) {
            return Err(format!("in a path, write ~ as ~0, and / in a key as ~1: {text}"));
        }
        let (path, inner) = match text.split_once("#/") {
            Some((path, inner)) => (path, Some(Path::try_from(format!("/{inner}").as_str())?)),
            None => (text, None),
        };
        Ok(Self { path: Path::try_from(path)?, inner })
    }
}

impl ValuePath {
    /// The value as text, if it is a scalar.
    fn text<'e>(&self, call: Scope<'e>) -> Option<Cow<'e, str>> {
        let text = self.path.find(call)?.scalar_text()?;
        let Some(inner) = &self.inner else { return Some(text) };
        let value: Value = serde_json::from_str(&text).ok()?;
        let found = inner.find(JsonRef::tree(&value))?.scalar_text()?;
        Some(Cow::Owned(found.into_owned()))
    }
}
