//! How a profile points into an event: paths, and conditions on what stands there.

mod condition;

use std::borrow::Cow;

use serde::Deserialize;
use smallvec::SmallVec;

use crate::event::Node;
use crate::pointer;

pub use condition::{Conditions, Known};

/// A JSON Pointer (RFC 6901) of which a token may be `*suffix`: the member whose key ends in
/// `suffix` and is longer, the smallest in byte order if there are several. `*` alone matches any
/// member. An array is entered by index. One that begins with `^` starts at the event, also where
/// others start at an element of an array in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Path {
    text: String,
    from_event: bool,
    keys: SmallVec<[Key; 2]>,
}

/// Where a token stands in the path's text. Profiles have hundreds of paths, which are read at
/// every start: one piece of memory each, if no key is escaped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Plain { start: usize, end: usize },
    Escaped(String),
}

/// Where paths start: at an object in an event, or at the event itself.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'e> {
    /// The event.
    pub event: Node<'e>,
    /// An object in it, or the event again.
    pub object: Node<'e>,
}

impl<'e> From<Node<'e>> for Scope<'e> {
    fn from(event: Node<'e>) -> Self {
        Self { event, object: event }
    }
}

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Key(&'p str),
    Suffix(&'p str),
}

impl TryFrom<String> for Path {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (from_event, pointer) = match text.strip_prefix('^') {
            Some(pointer) => (true, pointer),
            None => (false, text.as_str()),
        };
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return Err(format!("a path begins with a slash: {text}"));
        }
        let mut start = text.len() - pointer.len();
        let keys = pointer.split('/').skip(1).map(|key| {
            start += 1;
            let end = start + key.len();
            let plain = Key::Plain { start, end };
            start = end;
            if key.contains('~') { Key::Escaped(pointer::unescaped(key)) } else { plain }
        });
        Ok(Self { keys: keys.collect(), from_event, text })
    }
}

impl Path {
    /// The path as the profile writes it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it starts at the event wherever others start.
    pub fn is_of_event(&self) -> bool {
        self.from_event
    }

    /// The value at the path. A value that is `null` counts as absent.
    pub fn find<'e>(&self, scope: impl Into<Scope<'e>>) -> Option<Node<'e>> {
        walk(self.tokens(), self.start(scope.into())).filter(|node| !node.is_null())
    }

    /// What the `*` of the last token stands for: the key of the member, suffix removed.
    pub fn find_key<'e>(&self, scope: impl Into<Scope<'e>>) -> Option<Cow<'e, str>> {
        let mut parents = self.tokens();
        let Token::Suffix(suffix) = parents.next_back()? else { return None };
        let parent = walk(parents, self.start(scope.into()))?;
        let (key, _) = parent.member_ending_in(suffix)?;
        Some(match key {
            Cow::Borrowed(key) => Cow::Borrowed(key.strip_suffix(suffix)?),
            Cow::Owned(key) => Cow::Owned(key.strip_suffix(suffix)?.to_owned()),
        })
    }

    fn tokens(&self) -> impl DoubleEndedIterator<Item = Token<'_>> {
        self.keys.iter().map(|key| {
            let key = match key {
                Key::Plain { start, end } => &self.text[*start..*end],
                Key::Escaped(key) => key,
            };
            key.strip_prefix('*').map_or(Token::Key(key), Token::Suffix)
        })
    }

    fn start<'e>(&self, scope: Scope<'e>) -> Node<'e> {
        if self.from_event { scope.event } else { scope.object }
    }
}

/// Finds values of one object, remembering the way to the latest one: paths that are asked one
/// after the other mostly begin alike.
#[derive(Debug)]
pub struct Finder<'p, 'e> {
    scope: Scope<'e>,
    way: SmallVec<[(Token<'p>, Option<Node<'e>>); 8]>,
}

impl<'p, 'e> Finder<'p, 'e> {
    /// Finds values of `scope`.
    pub fn new(scope: impl Into<Scope<'e>>) -> Self {
        Self { scope: scope.into(), way: SmallVec::new() }
    }

    /// As [`Path::find`].
    pub fn find(&mut self, path: &'p Path) -> Option<Node<'e>> {
        if path.from_event {
            return path.find(self.scope);
        }
        let alike = self.way.iter().zip(path.tokens()).take_while(|(it, token)| it.0 == *token);
        let alike = alike.count();
        self.way.truncate(alike);
        let mut node = self.way.last().map_or(Some(self.scope.object), |it| it.1);
        for token in path.tokens().skip(alike) {
            node = node.and_then(|node| token.of(node));
            self.way.push((token, node));
        }
        node.filter(|node| !node.is_null())
    }
}

fn walk<'p, 'e>(mut tokens: impl Iterator<Item = Token<'p>>, root: Node<'e>) -> Option<Node<'e>> {
    tokens.try_fold(root, |node, token| token.of(node))
}

impl Token<'_> {
    fn of(self, node: Node<'_>) -> Option<Node<'_>> {
        match self {
            Self::Key(key) => node.get(key),
            Self::Suffix(suffix) => node.member_ending_in(suffix).map(|(_, value)| value),
        }
    }
}
