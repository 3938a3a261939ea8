//! Which call happens inside which: the calls of sub-agents.

use super::{CallTable, OpenAction};
use crate::check::CallUpdate;
use crate::check::updates::CallStart;
use crate::facts::BoundedId;
use crate::limits::TASKS_MAX;
use crate::profile::CallKind;

impl CallTable<'_> {
    /// Adds to an update what is known of the call, which is open.
    pub(super) fn begun<'f>(&mut self, key: u64, mut update: CallUpdate<'f>) -> CallUpdate<'f> {
        let parent = self.parent(&update);
        let Some(open) = self.open.get_mut(&key) else { return update };
        open.parent = open.parent.or(parent);
        update.parent = open.parent;
        self.actions.add(update, &mut open.action)
    }

    /// Adds to an update what was known of the call while it was open.
    pub(super) fn ended<'f>(
        &mut self,
        mut update: CallUpdate<'f>,
        known: Option<(OpenAction, Option<CallStart>, Option<u64>)>,
    ) -> CallUpdate<'f> {
        let (mut action, start, parent) = known.unwrap_or_default();
        (update.start, update.parent) = (start, parent.or_else(|| self.parent(&update)));
        let update = self.described(update, &mut action);
        if update.action.kind == Some(CallKind::Task) {
            if self.ended_tasks.len() == TASKS_MAX {
                self.ended_tasks.pop_front();
            }
            self.ended_tasks.push_back((update.id().to_owned(), update.number));
        }
        update
    }

    /// Adds to an update what is known of the call, which has ended.
    pub(super) fn corrected<'f>(&mut self, mut update: CallUpdate<'f>) -> CallUpdate<'f> {
        let ended = self.ended.get(&self.hash(&BoundedId::from(update.id())));
        let parent = ended.and_then(|ended| ended.parent);
        update.parent = parent.or_else(|| self.parent(&update));
        self.described(update, &mut OpenAction::default())
    }

    /// The number of the call inside which this one happens. A call is made inside an earlier one:
    /// calls that name one another have no order.
    pub(super) fn parent(&self, update: &CallUpdate<'_>) -> Option<u64> {
        self.number(&update.parent_id()?).filter(|parent| *parent < update.number)
    }

    /// The number of the call with this id that is open, or may go on after its end.
    pub(crate) fn number(&self, id: &str) -> Option<u64> {
        let id = BoundedId::from(id);
        let ended = || self.ended_tasks.iter().rev().find(|(task, _)| task == id.as_str());
        let open = self.open.get(&self.hash(&id)).map(|open| open.number);
        open.or_else(|| ended().map(|(_, number)| *number))
    }
}
