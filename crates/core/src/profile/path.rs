//! Paths from a profile into an event.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use smallvec::SmallVec;

use crate::json::JsonRef;
use crate::json::pointer;

pub(crate) use super::condition::{Conditions, KnownValue};

/// A JSON Pointer (RFC 6901) with one extension: the token `*suffix` is the member whose key ends
/// in `suffix` and is longer, the smallest in byte order if there are several; `*` alone matches
/// any member. A path that begins with `^` starts at the event, even where others start at an
/// element of an array in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    from_event: bool,
    /// Most paths need no more room; a profile has hundreds, which are read at every start.
    tokens: SmallVec<[Token; 2]>,
}

/// Where paths start: at an object in an event, or at the event itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'e> {
    pub event: JsonRef<'e>,
    /// An object in it, or the event again.
    pub object: JsonRef<'e>,
}

impl<'e> From<JsonRef<'e>> for Scope<'e> {
    fn from(event: JsonRef<'e>) -> Self {
        Self { event, object: event }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    Key(String),
    Suffix(String),
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(PathVisitor)
    }
}

/// Reads a path without a copy of its text.
struct PathVisitor;

impl Visitor<'_> for PathVisitor {
    type Value = Path;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Path, E> {
        Path::try_from(text).map_err(E::custom)
    }
}

impl TryFrom<&str> for Path {
    type Error = String;

    fn try_from(text: &str) -> Result<Self, String> {
        let (from_event, pointer) = match text.strip_prefix('^') {
            Some(pointer) => (true, pointer),
            None => (false, text),
        };
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(format!("a path begins with a slash: {text}"));
        }
        let tokens = pointer::tokens(pointer).map(|token| match token.strip_prefix('*') {
            Some(suffix) => Token::Suffix(suffix.to_owned()),
            None => Token::Key(token),
        });
        Ok(Self { tokens: tokens.collect(), from_event })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.tokens.iter().fold(String::new(), |text, token| match token {
            Token::Key(key) => pointer::joined(&text, key),
            Token::Suffix(suffix) => pointer::joined(&text, &format!("*{suffix}")),
        });
        write!(out, "{}{text}", if self.from_event { "^" } else { "" })
    }
}

impl Path {
    /// The value at the path in an event, if there is one.
    pub fn value<'e>(&self, root: JsonRef<'e>) -> Option<JsonRef<'e>> {
        self.find(root)
    }

    pub(crate) fn is_of_event(&self) -> bool {
        self.from_event
    }

    /// The value at the path. A value that is `null` counts as absent.
    pub(crate) fn find<'e>(&self, scope: impl Into<Scope<'e>>) -> Option<JsonRef<'e>> {
        walk(&self.tokens, self.start(scope.into())).filter(|node| !node.is_null())
    }

    /// Whether the object is there that may have the member of the last token.
    pub(crate) fn has_parent<'e>(&self, scope: impl Into<Scope<'e>>) -> bool {
        let parents = self.tokens.split_last().map_or(&[][..], |(_, parents)| parents);
        walk(parents, self.start(scope.into())).is_some_and(JsonRef::is_object)
    }

    fn start<'e>(&self, scope: Scope<'e>) -> JsonRef<'e> {
        if self.from_event { scope.event } else { scope.object }
    }
}

/// Finds values of one object and remembers the way to the latest one, since successive paths
/// mostly begin alike.
#[derive(Debug)]
pub(crate) struct Finder<'p, 'e> {
    scope: Scope<'e>,
    way: SmallVec<[(&'p Token, Option<JsonRef<'e>>); 8]>,
}

impl<'p, 'e> Finder<'p, 'e> {
    pub(crate) fn new(scope: impl Into<Scope<'e>>) -> Self {
        Self { scope: scope.into(), way: SmallVec::new() }
    }

    /// Where the paths start.
    pub(crate) fn scope(&self) -> Scope<'e> {
        self.scope
    }

    /// As [`Path::find`].
    pub(crate) fn find(&mut self, path: &'p Path) -> Option<JsonRef<'e>> {
        if path.from_event {
            return path.find(self.scope);
        }
        self.walk(&path.tokens).filter(|node| !node.is_null())
    }

    /// What the `*` of the last token matches: the key of the member without the suffix.
    pub(crate) fn find_key(&mut self, path: &'p Path) -> Option<Cow<'e, str>> {
        let (last, parents) = path.tokens.split_last()?;
        let Token::Suffix(suffix) = last else { return None };
        let is_of_event = path.from_event;
        let parent =
            if is_of_event { walk(parents, self.scope.event) } else { self.walk(parents) }?;
        let (key, value) = parent.member_ending_in(suffix)?;
        if !is_of_event {
            self.way.push((last, Some(value)));
        }
        Some(match key {
            Cow::Borrowed(key) => Cow::Borrowed(key.strip_suffix(suffix.as_str())?),
            Cow::Owned(key) => Cow::Owned(key.strip_suffix(suffix.as_str())?.to_owned()),
        })
    }

    /// Goes from where the latest way parts from this one.
    fn walk(&mut self, tokens: &'p [Token]) -> Option<JsonRef<'e>> {
        let pairs = self.way.iter().zip(tokens);
        let alike = pairs.take_while(|((known, _), token)| known == token).count();
        self.way.truncate(alike);
        let mut node = match self.way.last() {
            Some((_, node)) => (*node)?,
            None => self.scope.object,
        };
        for token in &tokens[alike..] {
            let found = token.of(node);
            self.way.push((token, found));
            node = found?;
        }
        Some(node)
    }
}

fn walk<'e>(tokens: &[Token], root: JsonRef<'e>) -> Option<JsonRef<'e>> {
    tokens.iter().try_fold(root, |node, token| token.of(node))
}

impl Token {
    fn of<'e>(&self, node: JsonRef<'e>) -> Option<JsonRef<'e>> {
        match self {
            Self::Key(key) => node.get(key),
            Self::Suffix(suffix) => node.member_ending_in(suffix).map(|(_, value)| value),
        }
    }
}
