//! What a call changed in files, as the agent says it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Objects;
use crate::json::JsonRef;
use crate::profile::path::{Conditions, Path, Scope};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
}

/// A file that a call changed. What the agent does not say is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path, as the agent writes it.
    pub path: String,
    /// What happened to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ChangeKind>,
    /// Its path before, if it has another name now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The text that was replaced: all of the file, or a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The text that replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Lines that were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines that were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

/// Where the completion of a call says what it changed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChangeRule {
    #[serde(default)]
    when: Conditions,
    #[serde(flatten)]
    of: Objects,
    path: Path,
    kind: Option<ChangeKindRule>,
    from: Option<Path>,
    diff: Option<Path>,
    old: Option<Path>,
    new: Option<Path>,
    added: Option<Path>,
    removed: Option<Path>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum ChangeKindRule {
    /// Always this one.
    This(ChangeKind),
    /// What the agent's values mean.
    At { at: Path, values: BTreeMap<String, ChangeKind> },
}

impl ChangeRule {
    /// The changes that a half of a call shows.
    pub(crate) fn changes(&self, half: Scope<'_>) -> Vec<FileChange> {
        if !self.when.hold(half) {
            return Vec::new();
        }
        let objects = self.of.objects(half.object);
        objects.filter_map(|object| self.change(object)).collect()
    }

    fn change(&self, at: Scope<'_>) -> Option<FileChange> {
        let find = |path: &Option<Path>| path.as_ref()?.find(at);
        let text = |path: &Option<Path>| find(path)?.as_str().map(Cow::into_owned);
        let number = |path: &Option<Path>| find(path).map(JsonRef::to_value)?.as_u64();
        Some(FileChange {
            path: self.path.find(at)?.as_str()?.into_owned(),
            kind: self.kind.as_ref().and_then(|rule| rule.read(at)),
            from: text(&self.from),
            diff: text(&self.diff),
            old: text(&self.old),
            new: text(&self.new),
            added: number(&self.added),
            removed: number(&self.removed),
        })
    }
}

impl ChangeKindRule {
    fn read(&self, at: Scope<'_>) -> Option<ChangeKind> {
        match self {
            Self::This(kind) => Some(*kind),
            Self::At { at: path, values } => values.get(&*path.find(at)?.as_str()?).copied(),
        }
    }
}
