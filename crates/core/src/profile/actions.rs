//! What a tool call does, and how text conversions show it: kind, verb, detail and suffix, as data.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Objects, Template};
use crate::profile::path::{Conditions, Path, Scope};
use crate::rules::names::names;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ActionRules {
    /// The object at which the paths of the rules begin, from the half of a call: the event, or an
    /// element of an array in it. By default the half.
    of: Option<Path>,
    /// For each call, the first rule of its tool that matches one of its halves.
    rules: Vec<ActionRule>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ActionRule {
    /// `*` is any tool, also one without a name.
    tool: String,
    when: Conditions,
    pub kind: CallKind,
    /// Shown for a call that succeeded: `Read file`.
    pub done: Option<String>,
    /// Shown for a call that was carried out but failed: `Ran terminal command`.
    pub failed: Option<String>,
    /// Shown for a call that was not carried out: `read file`.
    pub attempt: Option<String>,
    /// Whether the detail is a path, shown relative to the working directory of the agent.
    pub path: bool,
    detail: Vec<Template>,
    /// From the result, shown after the detail.
    pub suffix: Vec<Template>,
    /// The files of a call that writes or deletes several.
    files: Vec<FilesAt>,
    /// Whether agents repeat the call to wait for something.
    pub polls: bool,
}

#[derive(Debug, Clone, Deserialize)]
struct FilesAt {
    #[serde(flatten)]
    of: Objects,
    value: Path,
    /// Whether the value is a patch that names its files, as `apply_patch` takes it.
    #[serde(default)]
    patch: bool,
}

impl FilesAt {
    fn texts<'e>(&self, call: Scope<'e>) -> impl Iterator<Item = Cow<'e, str>> {
        self.of.objects(call.object).filter_map(|scope| self.value.find(scope)?.scalar_text())
    }
}

/// What comes before the path of a file in a patch.
const PATCH_HEADS: [&str; 4] =
    ["*** Add File:", "*** Update File:", PATCH_DELETION, "*** Move to:"];
const PATCH_DELETION: &str = "*** Delete File:";

names! {
    all
    /// What a tool call does.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    #[non_exhaustive]
    pub enum CallKind {
        /// It reads a file, or lists a directory.
        Read = "read",
        /// It creates or changes files.
        Write = "write",
        /// It deletes files.
        Delete = "delete",
        /// It runs a command, or controls one that runs.
        Command = "command",
        /// It searches files.
        Search = "search",
        /// It reads from the network, or searches it.
        Fetch = "fetch",
        /// It calls a tool of an MCP server.
        Mcp = "mcp",
        /// It starts another agent, or asks it.
        Task = "task",
        /// It updates a list of things to do, or a plan.
        Todo = "todo",
        /// It asks the user.
        Question = "question",
        /// None of these.
        #[default]
        Other = "other",
    }
}

impl CallKind {
    /// Whether such a call changes nothing outside of the agent.
    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Fetch | Self::Todo | Self::Question)
    }

    pub(crate) fn changes_files(self) -> bool {
        matches!(self, Self::Write | Self::Delete)
    }
}

impl ActionRules {
    pub(crate) fn object<'e>(&self, half: Scope<'e>) -> Option<Scope<'e>> {
        let Some(of) = &self.of else { return Some(half) };
        of.find(half).map(|object| Scope { object, ..half })
    }

    /// The number of the first rule for a tool that matches this object, and is before `known`.
    pub(crate) fn first(
        &self,
        tool: &str,
        object: Scope<'_>,
        known: Option<usize>,
    ) -> Option<usize> {
        let mut rules = self.rules[..known.unwrap_or(self.rules.len())].iter();
        rules.position(|rule| rule.is_for(tool) && rule.when.hold(object))
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = CallKind> {
        self.rules.iter().map(|rule| rule.kind)
    }

    pub(crate) fn rule(&self, number: usize) -> &ActionRule {
        &self.rules[number]
    }
}

fn patched_file(line: &str) -> Option<String> {
    let path = PATCH_HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head))?.trim();
    (!path.is_empty()).then(|| path.to_owned())
}

impl ActionRule {
    pub(crate) fn is_for(&self, tool: &str) -> bool {
        self.tool == tool || self.tool == "*"
    }

    /// None if it is a rule for all other tools, which says nothing about one of them.
    pub(crate) fn known_kind(&self) -> Option<CallKind> {
        Some(self.kind).filter(|kind| *kind != CallKind::Other || self.tool != "*")
    }

    pub(crate) fn detail<'e>(&self, call: Scope<'e>) -> Option<Cow<'e, str>> {
        self.detail.iter().find_map(|detail| detail.text(call))
    }

    /// The files that the call writes or deletes, if it may be several.
    pub(crate) fn files(&self, call: Scope<'_>) -> Vec<String> {
        let mut files = Vec::new();
        for at in &self.files {
            for text in at.texts(call) {
                if at.patch {
                    files.extend(text.lines().filter_map(patched_file));
                } else {
                    files.push(text.into_owned());
                }
            }
        }
        files
    }

    /// Whether the call has a patch that deletes a file.
    pub(crate) fn deletes(&self, call: Scope<'_>) -> bool {
        let is_deletion = |line: &str| line.trim_start().starts_with(PATCH_DELETION);
        let mut patches = self.files.iter().filter(|at| at.patch).flat_map(|at| at.texts(call));
        patches.any(|patch| patch.lines().any(is_deletion))
    }
}
