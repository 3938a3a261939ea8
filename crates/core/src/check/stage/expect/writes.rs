//! Where calls write and delete.

use super::seen_call::SeenCall;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::globs::Globs;
use crate::check::paths::{ResolvedPath, folded, is_relative, resolved};
use crate::check::{EventCall, counted};
use crate::profile::CallKind;

/// Where calls may write, or may not. The case of letters counts for what is allowed only: on some
/// systems a file that is forbidden can be written by another spelling.
#[derive(Debug)]
pub(super) struct WritePattern {
    globs: Globs,
    /// Those of them that are absolute, for files outside of the agent's directory.
    absolute: Globs,
    /// Whether the globs name the allowed files, and not the forbidden ones.
    is_within: bool,
    /// Where the command was started.
    started_in: Option<String>,
}

impl WritePattern {
    pub(super) fn new(
        globs: &[String],
        is_within: bool,
        started_in: Option<&str>,
    ) -> Result<Self, String> {
        let is_absolute = |glob: &&String| !is_relative(glob);
        let absolute: Vec<String> = globs.iter().filter(is_absolute).cloned().collect();
        let absolute = Globs::new(&absolute)?;
        let globs = if is_within { Globs::new(globs) } else { Globs::in_any_reading(globs) }?;
        let started_in = started_in.map(|it| if is_within { it.to_owned() } else { folded(it) });
        Ok(Self { globs, absolute, is_within, started_in })
    }

    /// Whether a half of a call names a file that it may not write, if it names any.
    pub(super) fn judge(&self, call: &EventCall<'_>, directory: Option<&str>) -> Option<Truth> {
        let files = call.files.iter().filter(|_| call.shows_files);
        files.map(|file| self.forbids(file, directory)).max()
    }

    /// Counts a call that writes where it may not; `shown` says whether it does, if it writes.
    pub(super) fn count(call: &SeenCall, shown: Truth, broken: &mut Tally) {
        let writes = call.is_of(CallKind::Write).max(call.is_of(CallKind::Delete));
        if !call.was_refused() {
            broken.add_call(writes.min(shown), call);
        }
    }

    /// Whether a glob matches a file. What is forbidden may be the directory of all that matches,
    /// or be written with the agent's directory.
    fn matches(&self, file: &str, directory: Option<&str>) -> bool {
        let is_around = |file: &str| self.globs.match_path(&format!("{file}/-"));
        let is_below = |directory| {
            let whole = format!("{directory}/{file}");
            self.globs.match_path(&whole) || is_around(&whole)
        };
        self.globs.match_path(file)
            || !self.is_within
                && (is_around(file) || !file.starts_with('/') && directory.is_some_and(is_below))
    }

    fn forbids(&self, file: &str, directory: Option<&str>) -> Truth {
        let folded_directory = directory.filter(|_| !self.is_within).map(folded);
        let (place, directory) = if self.is_within {
            (resolved(file, directory), directory)
        } else {
            let directory = folded_directory.as_deref();
            (resolved(&folded(file), directory), directory)
        };
        match place {
            ResolvedPath::Known(file) if self.is_within && !is_relative(&file) => {
                (!self.absolute.match_path(&file)).into()
            }
            ResolvedPath::Known(file) => (self.matches(&file, directory) != self.is_within).into(),
            ResolvedPath::Unclear(file) => {
                let there = resolved(&file, self.started_in.as_deref());
                let matches_there = matches!(there, ResolvedPath::Known(there)
                    if is_relative(&there) && self.matches(&there, None));
                let mut tails = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
                match () {
                    () if matches_there => (!self.is_within).into(),
                    () if self.is_within && self.absolute.match_path(&file) => Truth::No,
                    () if !self.is_within && self.matches(&file, None) => Truth::Yes,
                    () if tails.any(|tail| self.matches(tail, None)) => Truth::Unknown,
                    () => self.is_within.into(),
                }
            }
        }
    }

    pub(super) fn answer(&self, broken: &Tally, context: Context) -> Answered {
        let one = broken.sure == 1;
        let (count, verb) = (counted(broken.sure, "call"), if one { "writes" } else { "write" });
        let fact = if self.is_within {
            format!("{count} {verb} a file that matches no glob of `within`")
        } else {
            format!("{count} {verb} a file that matches a glob of `never`")
        };
        Answered {
            truth: broken.stays_within(0, context.hidden_calls()),
            fact,
            tally: broken.clone(),
            ..Answered::default()
        }
    }
}
