//! Where the run of one session ends, and that of the next begins.

use super::Run;
use crate::check::findings::Findings;
use crate::facts::Plan;
use crate::rules::Rule;

impl Run<'_> {
    /// Whether the next event is of this run, whatever is in it, and is not its first.
    pub(in crate::check) fn goes_on(&self) -> bool {
        let may_be_over =
            self.contract.options().splits_sessions && self.terminal.terminal_line().is_some();
        self.events > 0 && !may_be_over
    }

    /// Whether an event is the first one of another session. Some agents write events before the
    /// one that starts it.
    pub(in crate::check) fn is_other_session(
        &self,
        plan: &Plan<'_>,
        findings: &Findings<'_>,
    ) -> bool {
        let marks = plan.template.marks;
        let has_ended = self.terminal.terminal_line().is_some();
        let is_other = self.session.is_other(plan.template.session.as_deref());
        let begins = if marks.starts_session {
            // Where no start may follow the end, it begins another session, whatever its id.
            let has_place = marks.starts_turn || marks.may_follow_end;
            is_other.unwrap_or(has_ended || self.session.starts_once()) || has_ended && !has_place
        } else {
            // An end that comes after other late events does not begin a session.
            let is_late_end = plan.ends_run() && findings.count(Rule::EventAfterTerminal) > 0;
            let has_constant_id = self.session.rules.id_is_constant.0;
            has_ended && has_constant_id && is_other == Some(true) && !is_late_end
        };
        self.events > 0 && begins
    }
}
