//! How a profile points into an event: paths, and conditions on what stands there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::event::Node;
use crate::pointer;

/// A JSON Pointer (RFC 6901) of which a token may be `*suffix`: the member whose key ends in
/// `suffix` and is longer, the smallest in byte order if there are several. `*` alone matches any
/// member. An array is entered by index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Path {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    Key(String),
    Suffix(String),
}

impl TryFrom<String> for Path {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if !text.is_empty() && !text.starts_with('/') {
            return Err(format!("a path begins with a slash: {text}"));
        }
        let tokens = pointer::tokens(&text).map(|token| match token.strip_prefix('*') {
            Some(suffix) => Token::Suffix(suffix.to_owned()),
            None => Token::Key(token),
        });
        Ok(Self { tokens: tokens.collect(), text })
    }
}

impl Path {
    /// The path as the profile writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The value at the path. A value that is `null` counts as absent.
    pub fn find<'e>(&self, root: Node<'e>) -> Option<Node<'e>> {
        walk(&self.tokens, root).filter(|node| !node.is_null())
    }

    /// What the `*` of the last token stands for: the key of the member, suffix removed.
    pub fn find_key<'e>(&self, root: Node<'e>) -> Option<Cow<'e, str>> {
        let (last, parents) = self.tokens.split_last()?;
        let Token::Suffix(suffix) = last else { return None };
        let (key, _) = walk(parents, root)?.member_ending_in(suffix)?;
        Some(match key {
            Cow::Borrowed(key) => Cow::Borrowed(key.strip_suffix(suffix.as_str())?),
            Cow::Owned(key) => Cow::Owned(key.strip_suffix(suffix.as_str())?.to_owned()),
        })
    }
}

fn walk<'e>(tokens: &[Token], root: Node<'e>) -> Option<Node<'e>> {
    tokens.iter().try_fold(root, |node, token| match token {
        Token::Key(key) => node.get(key),
        Token::Suffix(suffix) => node.member_ending_in(suffix).map(|(_, value)| value),
    })
}

/// A conjunction of conditions on values of an event; an empty one always holds.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Conditions(BTreeMap<Path, Test>);

impl Conditions {
    /// Whether all of them hold.
    pub fn hold(&self, root: Node<'_>) -> bool {
        self.0.iter().all(|(path, test)| test.holds(path.find(root)))
    }

    /// What is left to ask where some values are known beforehand; `None` where one of them fails.
    pub fn given(&self, known: impl Fn(&Path) -> Known) -> Option<Self> {
        let mut left = BTreeMap::new();
        for (path, test) in &self.0 {
            let value = match known(path) {
                Known::Unknown => {
                    left.insert(path.clone(), test.clone());
                    continue;
                }
                Known::Absent => None,
                Known::Text(text) => Some(Value::String(text)),
            };
            if !test.holds(value.as_ref().map(Node::Tree)) {
                return None;
            }
        }
        Some(Self(left))
    }
}

/// What is known of a value before it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Unknown,
    /// It is not there.
    Absent,
    /// It is this string.
    Text(String),
}

/// What is asked of one value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Test {
    /// `{"exists": true}`, `{"not": 0}`, or both.
    Check(Check),
    /// `["a", "b"]`: equal to one of them.
    In(Vec<Value>),
    /// `"a"`: equal to it.
    Equals(Value),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    exists: Option<bool>,
    not: Option<Value>,
}

impl Test {
    fn holds(&self, found: Option<Node<'_>>) -> bool {
        let equals = |scalar: &Value| found.is_some_and(|node| node.equals(scalar));
        match self {
            Self::Equals(scalar) => equals(scalar),
            Self::In(scalars) => scalars.iter().any(equals),
            Self::Check(Check { exists, not }) => {
                exists.is_none_or(|exists| exists == found.is_some())
                    && not.as_ref().is_none_or(|scalar| !equals(scalar))
            }
        }
    }
}
