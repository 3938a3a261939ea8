//! Paths from a profile into an event.

use std::borrow::Cow;
use std::cmp::Ordering;
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    from_event: bool,
    /// The tokens, unescaped and joined: a profile has hundreds of paths, which are read at every
    /// start.
    text: String,
    tokens: SmallVec<[TokenEnd; 4]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TokenEnd {
    end: u16,
    is_suffix: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Token<'p> {
    Key(&'p str),
    Suffix(&'p str),
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
        let mut path = Self { from_event, ..Self::default() };
        path.text.reserve_exact(pointer.len());
        for token in pointer::tokens(pointer) {
            let suffix = token.strip_prefix('*');
            path.text.push_str(suffix.unwrap_or(&token));
            let end = u16::try_from(path.text.len()).map_err(|_| format!("a long path: {text}"))?;
            path.tokens.push(TokenEnd { end, is_suffix: suffix.is_some() });
        }
        Ok(path)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.tokens().fold(String::new(), |text, token| match token {
            Token::Key(key) => pointer::joined(&text, key),
            Token::Suffix(suffix) => pointer::joined(&text, &format!("*{suffix}")),
        });
        write!(out, "{}{text}", if self.from_event { "^" } else { "" })
    }
}

impl Ord for Path {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.from_event.cmp(&other.from_event);
        order.then_with(|| self.tokens().cmp(other.tokens()))
    }
}

impl PartialOrd for Path {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Path {
    fn tokens(&self) -> impl DoubleEndedIterator<Item = Token<'_>> + ExactSizeIterator {
        (0..self.tokens.len()).map(|at| {
            let from = at.checked_sub(1).map_or(0, |before| self.tokens[before].end);
            let TokenEnd { end, is_suffix } = self.tokens[at];
            let text = &self.text[usize::from(from)..usize::from(end)];
            if is_suffix { Token::Suffix(text) } else { Token::Key(text) }
        })
    }

    /// The value at the path in an event, if there is one.
    pub fn value<'e>(&self, root: JsonRef<'e>) -> Option<JsonRef<'e>> {
        self.find(root)
    }

    pub(crate) fn is_of_event(&self) -> bool {
        self.from_event
    }

    /// A value that is `null` counts as absent.
    pub(crate) fn find<'e>(&self, scope: impl Into<Scope<'e>>) -> Option<JsonRef<'e>> {
        walk(self.tokens(), self.start(scope.into())).filter(|node| !node.is_null())
    }

    /// Whether the object is there that may have the member of the last token.
    pub(crate) fn has_parent<'e>(&self, scope: impl Into<Scope<'e>>) -> bool {
        let parents = self.tokens.len().saturating_sub(1);
        walk(self.tokens().take(parents), self.start(scope.into())).is_some_and(JsonRef::is_object)
    }

    fn start<'e>(&self, scope: Scope<'e>) -> JsonRef<'e> {
        if self.from_event { scope.event } else { scope.object }
    }
}

/// Where a value is: at the first of the paths that has one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum FirstOf {
    One(Path),
    Several(Vec<Path>),
}

impl FirstOf {
    pub(crate) fn find<'e>(&self, at: Scope<'e>) -> Option<JsonRef<'e>> {
        match self {
            Self::One(path) => path.find(at),
            Self::Several(paths) => paths.iter().find_map(|path| path.find(at)),
        }
    }

    pub(crate) fn text(&self, at: Scope<'_>) -> Option<String> {
        self.find(at)?.as_str().map(Cow::into_owned)
    }
}

/// Finds values of one object and remembers the way to the latest one, since successive paths
/// mostly begin alike.
#[derive(Debug)]
pub(crate) struct Finder<'p, 'e> {
    scope: Scope<'e>,
    way: SmallVec<[(Token<'p>, Option<JsonRef<'e>>); 8]>,
}

impl<'p, 'e> Finder<'p, 'e> {
    pub(crate) fn new(scope: impl Into<Scope<'e>>) -> Self {
        Self { scope: scope.into(), way: SmallVec::new() }
    }

    pub(crate) fn scope(&self) -> Scope<'e> {
        self.scope
    }

    /// As [`Path::find`].
    pub(crate) fn find(&mut self, path: &'p Path) -> Option<JsonRef<'e>> {
        if path.from_event {
            return path.find(self.scope);
        }
        self.walk(path.tokens()).filter(|node| !node.is_null())
    }

    /// What the `*` of the last token matches: the key of the member without the suffix.
    pub(crate) fn find_key(&mut self, path: &'p Path) -> Option<Cow<'e, str>> {
        let mut parents = path.tokens();
        let Some(last @ Token::Suffix(suffix)) = parents.next_back() else { return None };
        let is_of_event = path.from_event;
        let parent =
            if is_of_event { walk(parents, self.scope.event) } else { self.walk(parents) }?;
        let (key, value) = parent.member_ending_in(suffix)?;
        if !is_of_event {
            self.way.push((last, Some(value)));
        }
        Some(match key {
            Cow::Borrowed(key) => Cow::Borrowed(key.strip_suffix(suffix)?),
            Cow::Owned(key) => Cow::Owned(key.strip_suffix(suffix)?.to_owned()),
        })
    }

    /// Goes from where the latest way parts from this one.
    fn walk(&mut self, tokens: impl Iterator<Item = Token<'p>>) -> Option<JsonRef<'e>> {
        let mut tokens = tokens.peekable();
        let mut alike = 0;
        while let Some((known, _)) = self.way.get(alike)
            && tokens.next_if_eq(known).is_some()
        {
            alike += 1;
        }
        self.way.truncate(alike);
        let mut node = match self.way.last() {
            Some((_, node)) => (*node)?,
            None => self.scope.object,
        };
        for token in tokens {
            let found = token.of(node);
            self.way.push((token, found));
            node = found?;
        }
        Some(node)
    }
}

fn walk<'e, 'p>(
    mut tokens: impl Iterator<Item = Token<'p>>,
    root: JsonRef<'e>,
) -> Option<JsonRef<'e>> {
    tokens.try_fold(root, |node, token| token.of(node))
}

impl Token<'_> {
    fn of(self, node: JsonRef<'_>) -> Option<JsonRef<'_>> {
        match self {
            Self::Key(key) => node.get(key),
            Self::Suffix(suffix) => node.member_ending_in(suffix).map(|(_, value)| value),
        }
    }
}
