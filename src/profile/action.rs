//! What a person is told of a tool call: verb, detail and figures, as data.

use serde::Deserialize;

use crate::event::Node;
use crate::path::{Conditions, Path};

/// What a person is told of tool calls.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actions {
    /// Where a call's own object stands; the paths of the rules begin there.
    of: Option<Path>,
    /// For each call the first rule of its tool whose conditions hold.
    #[serde(default)]
    rules: Vec<Action>,
}

/// What a person is told of one kind of call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    tool: String,
    #[serde(default)]
    when: Conditions,
    /// Said of a call that succeeded: `Read file`.
    pub done: Option<String>,
    /// Said of one that failed but did what was asked: `Ran terminal command`.
    pub failed: Option<String>,
    /// What was asked for, said of a call that was not carried out: `read file`.
    pub asked: Option<String>,
    /// Whether the detail is a path, to be shown relative to the agent's directory.
    #[serde(default)]
    pub path: bool,
    #[serde(default)]
    detail: Vec<Figure>,
    #[serde(default)]
    figures: Vec<Figure>,
}

/// A text with values of the event in it: `exit {/result/success/exitCode}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Figure {
    /// Text, and the value that follows it.
    parts: Vec<(String, Path)>,
    rest: String,
}

impl TryFrom<String> for Figure {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text.as_str());
        while let Some((before, after)) = rest.split_once('{') {
            let (path, after) =
                after.split_once('}').ok_or_else(|| format!("a brace is not closed: {text}"))?;
            parts.push((before.to_owned(), Path::try_from(path.to_owned())?));
            rest = after;
        }
        Ok(Self { rest: rest.to_owned(), parts })
    }
}

impl Figure {
    /// The text with its values; nothing if one of them is absent or empty.
    fn filled(&self, root: Node<'_>) -> Option<String> {
        let mut text = String::new();
        for (before, path) in &self.parts {
            let value = path.find(root)?.scalar_text()?;
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

impl Actions {
    /// The rule for a call, and the object that its paths begin at.
    pub fn find<'e>(&self, tool: &str, root: Node<'e>) -> Option<(&Action, Node<'e>)> {
        let call = match &self.of {
            Some(path) => path.find(root)?,
            None => root,
        };
        let rule = self.rules.iter().find(|rule| rule.tool == tool && rule.when.hold(call))?;
        Some((rule, call))
    }
}

impl Action {
    /// The one thing a person wants to know of the call, if it is there.
    pub fn detail(&self, call: Node<'_>) -> Option<String> {
        self.detail.iter().find_map(|detail| detail.filled(call))
    }

    /// What the result says in numbers.
    pub fn figures(&self, call: Node<'_>) -> Vec<String> {
        self.figures.iter().filter_map(|figure| figure.filled(call)).collect()
    }
}
