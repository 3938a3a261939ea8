//! The agent's reasoning: blocks that come as a whole or in chunks.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};

use smallvec::SmallVec;

use super::details::conditions_except_thinking;
use super::{OpenHalf, Thought};
use crate::json::{JsonRef, LoneHalves};
use crate::profile::{Profile, ThinkingMode};

/// What an event adds to the agent's reasoning. A block that the agent sends twice comes once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ThinkingUpdate<'e> {
    /// More text of the open block.
    Chunk(Cow<'e, str>),
    BlockEnd,
}

pub(crate) type ThinkingUpdates<'e> = SmallVec<[ThinkingUpdate<'e>; 1]>;

#[derive(Debug, Default)]
pub(super) struct ThinkingBlock {
    state: RandomState,
    /// The hash of the chunks so far; none if no block is open.
    open: Option<DefaultHasher>,
    /// Half of a character at the end of the latest chunk.
    half: OpenHalf,
    /// The hash of chunks that something else ended, before their whole came.
    unclosed: Option<u64>,
    /// The hash of the latest whole, which some agents send twice.
    whole: Option<u64>,
}

/// The chunk of reasoning that an event adds, if it has no other details. All that decides it is
/// read; the chunk is not.
pub(super) fn thought<'e>(profile: &Profile, root: JsonRef<'e>) -> Thought<JsonRef<'e>> {
    if conditions_except_thinking(profile).any(|when| when.hold(root)) {
        return Thought::Unread;
    }
    let mut chunk = Thought::Nothing;
    for rule in profile.thinking.iter().filter(|rule| rule.when.hold(root)) {
        for scope in rule.of.objects(root) {
            let text = rule.value.find(scope).filter(|text| text.is_string());
            chunk = match (chunk, text) {
                (Thought::Nothing, Some(text)) if rule.mode == ThinkingMode::Delta => {
                    Thought::Chunk(text)
                }
                _ => return Thought::Unread,
            };
        }
    }
    chunk
}

pub(super) fn thinking<'t>(
    profile: &Profile,
    root: JsonRef<'_>,
    halves: Option<LoneHalves>,
    block: &mut ThinkingBlock,
) -> ThinkingUpdates<'t> {
    let mut updates = ThinkingUpdates::new();
    for rule in profile.thinking.iter().filter(|rule| rule.when.hold(root)) {
        for scope in rule.of.objects(root) {
            let text = rule.value.find(scope).and_then(JsonRef::as_str).unwrap_or_default();
            match rule.mode {
                ThinkingMode::Delta => {
                    block.delta(Cow::Owned(text.into_owned()), halves, &mut updates);
                }
                ThinkingMode::Whole => block.whole(&text, &mut updates),
            }
        }
    }
    updates
}

impl ThinkingBlock {
    /// A chunk of an event with these halves of characters.
    pub(super) fn delta<'t>(
        &mut self,
        text: Cow<'t, str>,
        halves: Option<LoneHalves>,
        updates: &mut ThinkingUpdates<'t>,
    ) {
        let text = self.half.join(text, halves);
        self.chunk(text, updates);
    }

    fn chunk<'t>(&mut self, text: Cow<'t, str>, updates: &mut ThinkingUpdates<'t>) {
        if text.is_empty() {
            return;
        }
        self.open.get_or_insert_with(|| self.state.build_hasher()).write(text.as_bytes());
        (self.unclosed, self.whole) = (None, None);
        updates.push(ThinkingUpdate::Chunk(text));
    }

    /// A whole block; after its chunks, or after itself, it adds nothing.
    fn whole(&mut self, text: &str, updates: &mut ThinkingUpdates<'_>) {
        let mut hasher = self.state.build_hasher();
        hasher.write(text.as_bytes());
        let hash = Some(hasher.finish());
        self.end_half(updates);
        let is_known = self.unclosed == hash || self.whole == hash;
        if self.open.take().is_some() {
            updates.push(ThinkingUpdate::BlockEnd);
        } else if !(text.is_empty() || is_known) {
            updates.push(ThinkingUpdate::Chunk(Cow::Owned(text.to_owned())));
            updates.push(ThinkingUpdate::BlockEnd);
        }
        (self.unclosed, self.whole) = (None, hash);
    }

    fn end_half(&mut self, updates: &mut ThinkingUpdates<'_>) {
        if let Some(text) = self.half.end() {
            self.chunk(Cow::Borrowed(text), updates);
        }
    }

    /// Something else comes: text, a call.
    pub(super) fn end(&mut self, updates: &mut ThinkingUpdates<'_>) {
        self.whole = None;
        self.end_half(updates);
        if let Some(open) = self.open.take() {
            self.unclosed = Some(open.finish());
            updates.push(ThinkingUpdate::BlockEnd);
        }
    }
}
