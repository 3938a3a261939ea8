//! Where calls write and delete.

use super::seen_call::SeenCall;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::counted;
use crate::check::globs::Globs;
use crate::profile::ActionKind;

/// Where calls may write, or may not.
#[derive(Debug)]
pub(super) struct WritePattern {
    globs: Globs,
    /// Whether the globs name the allowed files, and not the forbidden ones.
    is_within: bool,
}

impl WritePattern {
    pub(super) fn new(globs: &[String], is_within: bool) -> Result<Self, String> {
        Ok(Self { globs: Globs::new(globs)?, is_within })
    }

    /// Counts a call that writes where it may not.
    pub(super) fn observe(&self, call: &SeenCall<'_>, broken: &mut Tally) {
        let writes = call.is_of(ActionKind::Write).max(call.is_of(ActionKind::Delete));
        if call.was_refused() || writes == Truth::No {
            return;
        }
        let breaks = match call.files() {
            Some(files) => files.iter().map(|file| self.forbids(file, call.knows_directory)).max(),
            None => Some(Truth::Unknown),
        };
        broken.add(writes.min(breaks.unwrap_or(Truth::Unknown)), call.line);
    }

    fn forbids(&self, file: &str, knows_directory: bool) -> Truth {
        let file = normal(file);
        if self.globs.match_path(&file) {
            return (!self.is_within).into();
        }
        // A way back into a directory whose name is not known, or an absolute path in it.
        let is_elsewhere = file.starts_with("..") || is_absolute(&file) && !knows_directory;
        let mut tails = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
        if is_elsewhere && tails.any(|tail| self.globs.match_path(tail)) {
            return Truth::Unknown;
        }
        self.is_within.into()
    }

    pub(super) fn answer(&self, broken: &Tally, context: Context) -> Answered {
        let (fact, question) = if self.is_within {
            ("writes that match no glob of `within`", "all writes match a glob of `within`")
        } else {
            ("writes that match a glob of `never`", "no write matches a glob of `never`")
        };
        Answered {
            truth: broken.stays_within(0, context.hidden_calls()),
            fact: format!("{fact}: {}", counted(broken.sure, "call")),
            question: question.to_owned(),
            tally: broken.clone(),
        }
    }
}

fn is_absolute(file: &str) -> bool {
    file.starts_with('/') || file.as_bytes().get(1) == Some(&b':')
}

/// The path without `.` and `..` inside it, with `/` between its parts.
fn normal(file: &str) -> String {
    let file = file.replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/').filter(|part| !["", "."].contains(part)) {
        match part {
            ".." => match parts.last() {
                Some(&"..") | None => parts.push(".."),
                Some(_) => drop(parts.pop()),
            },
            part => parts.push(part),
        }
    }
    let root = if file.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
