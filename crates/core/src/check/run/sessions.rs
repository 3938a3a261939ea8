//! Where the run of one session ends, and that of the next begins.

use super::Run;
use crate::facts::Marks;

impl Run<'_> {
    /// Whether the next event is of this run, whatever is in it, and is not its first.
    pub(in crate::check) fn goes_on(&self) -> bool {
        let may_be_over =
            self.contract.options().splits_sessions && self.terminal.terminal_line().is_some();
        self.events > 0 && !may_be_over
    }

    /// Whether an event with this id is the first one of another session. Some agents write events
    /// before the one that starts it.
    pub(in crate::check) fn is_other_session(&self, marks: Marks, id: Option<&str>) -> bool {
        let has_ended = self.terminal.terminal_line().is_some();
        let is_other = self.session.is_other(id);
        let begins = if marks.starts_session {
            // Where no start may follow the end, it begins another session, whatever its id.
            let has_place = marks.starts_turn || marks.may_follow_end;
            is_other.unwrap_or(has_ended) || has_ended && !has_place
        } else {
            has_ended && self.session.rules.id_is_constant.0 && is_other == Some(true)
        };
        self.events > 0 && begins
    }
}
