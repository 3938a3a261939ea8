//! What a call changed in files, as the agent says it.

use serde::{Deserialize, Serialize};

use super::{Objects, Template};
use crate::json::JsonRef;
use crate::profile::path::{Conditions, FirstOf, Path, Scope};

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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path; relative to the directory of the session if the file is in it.
    pub path: String,
    /// What happened to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ChangeKind>,
    /// Its path before, if it has another name now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A unified diff, if the agent gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The text that was replaced: all of the file, or a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The text that replaces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Lines that were added, if the agent says it, or a diff or the text of a new or deleted file
    /// shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines that were removed, in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
}

impl FileChange {
    /// A unified diff of one file without the lines that name the file. A diff may have neither
    /// these lines nor the head of a hunk.
    pub fn hunks(diff: &str) -> &str {
        let mut lines = diff.lines();
        let is_named = match lines.next() {
            // Without a name after it, it is a line that was removed.
            Some(line) if line.starts_with("--- ") => {
                lines.next().is_some_and(|line| line.starts_with("+++ "))
            }
            Some(line) if line.starts_with(['@', '+', '-', ' ']) => false,
            Some(line) => {
                ["diff ", "Index:"].iter().any(|head| line.starts_with(head))
                    || diff.contains("\n+++ ")
            }
            None => false,
        };
        if !is_named {
            return diff;
        }
        let behind_names = || {
            let new = diff.find("\n+++ ")? + 1;
            Some(new + diff[new..].find('\n')? + 1)
        };
        let start = diff.find("\n@@").map(|end| end + 1).or_else(behind_names);
        &diff[start.unwrap_or(diff.len())..]
    }
}

/// Where the completion of a call says what it changed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ChangeRule {
    #[serde(default)]
    when: Conditions,
    #[serde(flatten)]
    of: Objects,
    path: FirstOf,
    /// The first that holds.
    #[serde(default)]
    kind: Vec<ChangeKindRule>,
    /// The path before; the same one says nothing.
    from: Option<FirstOf>,
    diff: Option<DiffAt>,
    old: Option<FirstOf>,
    new: Option<FirstOf>,
    added: Option<FirstOf>,
    removed: Option<FirstOf>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeKindRule {
    kind: ChangeKind,
    #[serde(default)]
    when: Conditions,
    /// The path to the whole text of a new or deleted file; there is no diff then.
    whole: Option<FirstOf>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum DiffAt {
    Text(FirstOf),
    Hunks(HunksAt),
}

/// Hunks that are objects, with the list of their lines.
#[derive(Debug, Clone, Deserialize)]
struct HunksAt {
    #[serde(flatten)]
    of: Objects,
    head: Template,
    lines: Path,
}

impl ChangeRule {
    pub(crate) fn changes(&self, half: Scope<'_>) -> Vec<FileChange> {
        if !self.when.hold(half) {
            return Vec::new();
        }
        self.of.objects(half).filter_map(|object| self.change(object)).collect()
    }

    fn change(&self, at: Scope<'_>) -> Option<FileChange> {
        let text = |paths: &Option<FirstOf>| paths.as_ref()?.text(at);
        let number = |paths: &Option<FirstOf>| paths.as_ref()?.find(at)?.to_value().as_u64();
        let path = self.path.text(at)?;
        let kind_rule = self.kind.iter().find(|rule| rule.when.hold(at));
        let kind = kind_rule.map(|rule| rule.kind);
        let whole = kind_rule.and_then(|rule| text(&rule.whole));
        let (diff, old, new) = match (whole, kind) {
            (Some(text), Some(ChangeKind::Deleted)) => (None, Some(text), None),
            (Some(text), _) => (None, None, Some(text)),
            (None, _) => (
                self.diff.as_ref().and_then(|diff| diff.text(at)),
                text(&self.old),
                text(&self.new),
            ),
        };
        let lines = |text: &String| text.lines().count() as u64;
        let whole_lines = match kind {
            Some(ChangeKind::Added) => new.as_ref().map(|text| (lines(text), 0)),
            Some(ChangeKind::Deleted) => old.as_ref().map(|text| (0, lines(text))),
            _ => None,
        };
        let counted = diff.as_deref().and_then(counts).or(whole_lines);
        Some(FileChange {
            kind,
            from: text(&self.from).filter(|from| *from != path),
            old,
            new,
            added: number(&self.added).or(counted.map(|(added, _)| added)),
            removed: number(&self.removed).or(counted.map(|(_, removed)| removed)),
            path,
            diff,
        })
    }
}

impl DiffAt {
    fn text(&self, at: Scope<'_>) -> Option<String> {
        let text = match self {
            Self::Text(paths) => paths.text(at)?,
            Self::Hunks(HunksAt { of, head, lines }) => of
                .objects(at)
                .filter_map(|hunk| {
                    let lines = lines.find(hunk)?.items().filter_map(JsonRef::as_str);
                    Some(lines.fold(head.filled(hunk)?, |hunk, line| hunk + "\n" + &line))
                })
                .fold(String::new(), |diff, hunk| diff + &hunk + "\n"),
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// The lines that a diff adds and removes; none if the text is not a diff.
fn counts(diff: &str) -> Option<(u64, u64)> {
    let hunks = FileChange::hunks(diff);
    let begins = |sign: &'static str| hunks.lines().filter(move |line| line.starts_with(sign));
    let [added, removed, heads] = ["+", "-", "@@"].map(|sign| begins(sign).count() as u64);
    (added + removed + heads > 0).then_some((added, removed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_counted() {
        for (diff, hunks, expected) in [
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "@@ -1 +1 @@\n-a\n", Some((0, 1))),
            ("@@ -1 +1 @@\n-a\n+b", "@@ -1 +1 @@\n-a\n+b", Some((1, 1))),
            ("Index: x\n===\n--- x\n+++ x\n", "", None),
            ("diff --git a/x b/x\nrename from x\n", "", None),
            ("x: 2 lines\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "@@ -1 +1 @@\n-a\n", Some((0, 1))),
            ("@@ -1 +1 @@\n--- a\n+++ b\n", "@@ -1 +1 @@\n--- a\n+++ b\n", Some((1, 1))),
            ("--- a/x\n+++ b/x\n-a\n", "-a\n", Some((0, 1))),
            ("- \n+ a\n@@ b", "- \n+ a\n@@ b", Some((1, 1))),
            ("open\n", "open\n", None),
            ("--- a comment\n+-- another\n", "--- a comment\n+-- another\n", Some((1, 1))),
        ] {
            assert_eq!((FileChange::hunks(diff), counts(diff)), (hunks, expected), "{diff}");
        }
    }
}
