//! How text conversions show a tool call: verb, detail and suffix, as data.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ActionRules {
    /// The object at which the paths of the rules begin, from the half of a call: the event, or an
    /// element of an array in it. By default the half.
    of: Option<Path>,
    /// For each call, the first rule of its tool that matches one of its halves.
    rules: Vec<ActionRule>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActionRule {
    /// `*` is any tool, also one without a name.
    tool: String,
    #[serde(default)]
    when: Conditions,
    /// Shown for a call that succeeded: `Read file`.
    pub done: Option<String>,
    /// Shown for a call that was carried out but failed: `Ran terminal command`.
    pub failed: Option<String>,
    /// Shown for a call that was not carried out: `read file`.
    pub attempt: Option<String>,
    /// Whether the detail is a path, shown relative to the working directory of the agent.
    #[serde(default)]
    pub path: bool,
    #[serde(default)]
    detail: Vec<Template>,
    #[serde(default)]
    suffix: Vec<Template>,
}

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
    /// `None` if a value is absent or empty.
    fn filled(&self, call: Scope<'_>) -> Option<String> {
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
            Some((path, inner)) => (path, Some(Path::try_from(format!("/{inner}"))?)),
            None => (text, None),
        };
        Ok(Self { path: Path::try_from(path.to_owned())?, inner })
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

impl ActionRules {
    /// The object at which the paths of the rules begin.
    pub(crate) fn object<'e>(&self, half: Scope<'e>) -> Option<Scope<'e>> {
        let Some(of) = &self.of else { return Some(half) };
        of.find(half).map(|object| Scope { object, ..half })
    }

    /// The numbers of the rules for a tool that match this object.
    pub(crate) fn holding(&self, tool: &str, object: Scope<'_>) -> impl Iterator<Item = usize> {
        let rules = self.rules.iter().enumerate();
        let fits = move |rule: &ActionRule| rule.is_for(tool) && rule.when.hold(object);
        rules.filter(move |(_, rule)| fits(rule)).map(|(number, _)| number)
    }

    pub(crate) fn rule(&self, number: usize) -> &ActionRule {
        &self.rules[number]
    }
}

impl ActionRule {
    pub(crate) fn is_for(&self, tool: &str) -> bool {
        self.tool == tool || self.tool == "*"
    }

    /// What the call is about.
    pub(crate) fn detail(&self, call: Scope<'_>) -> Option<String> {
        self.detail.iter().find_map(|detail| detail.filled(call))
    }

    /// From the result, shown after the detail.
    pub(crate) fn suffixes(&self, call: Scope<'_>) -> Vec<String> {
        self.suffix.iter().filter_map(|suffix| suffix.filled(call)).collect()
    }
}
