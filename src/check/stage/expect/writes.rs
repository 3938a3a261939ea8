//! Where calls write and delete.

use super::seen_call::SeenCall;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::counted;
use crate::check::globs::Globs;
use crate::check::paths::{ResolvedPath, folded, resolved};
use crate::check::stage::actions::Action;
use crate::profile::ActionKind;

/// Where calls may write, or may not. The case of letters counts for what is allowed only: on some
/// systems a file that is forbidden can be written by another spelling.
#[derive(Debug)]
pub(super) struct WritePattern {
    globs: Globs,
    /// Whether the globs name the allowed files, and not the forbidden ones.
    is_within: bool,
}

impl WritePattern {
    pub(super) fn new(globs: &[String], is_within: bool) -> Result<Self, String> {
        let globs = if is_within { Globs::new(globs) } else { Globs::in_any_case(globs) }?;
        Ok(Self { globs, is_within })
    }

    /// Whether a half of a call names a file that it may not write, if it names any.
    pub(super) fn judge(&self, action: &Action, directory: Option<&str>) -> Option<Truth> {
        let files = action.files.iter().filter(|_| action.shows_files);
        files.map(|file| self.forbids(file, directory)).max()
    }

    /// Counts a call that writes where it may not; `shown` says whether it does, if it writes.
    pub(super) fn count(call: &SeenCall, shown: Truth, broken: &mut Tally) {
        let writes = call.is_of(ActionKind::Write).max(call.is_of(ActionKind::Delete));
        if !call.was_refused() {
            broken.add(writes.min(shown), call.line);
        }
    }

    /// Whether a glob matches a file, or all that is in a directory that is forbidden.
    fn matches(&self, file: &str) -> bool {
        let is_around = || !self.is_within && self.globs.match_path(&format!("{file}/-"));
        self.globs.match_path(file) || is_around()
    }

    fn forbids(&self, file: &str, directory: Option<&str>) -> Truth {
        let resolved = if self.is_within {
            resolved(file, directory)
        } else {
            resolved(&folded(file), directory.map(folded).as_deref())
        };
        match resolved {
            ResolvedPath::Known(file) => (self.matches(&file) != self.is_within).into(),
            ResolvedPath::Unclear(file) => {
                let mut tails = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
                match () {
                    () if self.matches(&file) => (!self.is_within).into(),
                    () if tails.any(|tail| self.matches(tail)) => Truth::Unknown,
                    () => self.is_within.into(),
                }
            }
        }
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
