//! What the first events show: whether the profile that somebody named is theirs.

use crate::contract::Contract;
use crate::diagnostic::Diagnostic;
use crate::event::Event;
use crate::fingerprint::{Choice, Fingerprints, bears};
use crate::limits::OPENING_EVENTS_MAX;
use crate::profile::EventRule;
use crate::rule::Rule;

/// Looks at the first events of a stream.
pub(super) struct Opening<'c> {
    profile: &'c str,
    /// What its events bear; none once that is settled.
    fingerprint: Option<&'c [EventRule]>,
    events: usize,
}

impl<'c> Opening<'c> {
    pub(super) fn new(contract: &'c Contract, choice: Choice) -> Self {
        let profile = &contract.profile().name;
        let fingerprint = Fingerprints::built_in().of(profile);
        let fingerprint = fingerprint.filter(|_| choice == Choice::Named);
        Self { profile, fingerprint, events: 0 }
    }

    /// Whether there is nothing more to look at. Until then every event has to be seen.
    pub(super) fn is_over(&self) -> bool {
        self.fingerprint.is_none()
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, found: &mut Vec<Diagnostic>) {
        let Some(fingerprint) = self.fingerprint else { return };
        self.events += 1;
        let own = bears(event.root(), fingerprint);
        let others: Vec<&str> = Fingerprints::built_in().borne_by(event.root()).collect();
        if !own && !others.is_empty() {
            let (message, others) = ("this looks like", others.join(" or "));
            let message = format!("{message} {others}, and the profile is {}", self.profile);
            let note = format!("--profile {others}, or auto, which finds out");
            let diagnostic = Diagnostic::new(Rule::WrongProfile, message).note(note);
            found.push(diagnostic.at(event.line, event.offset));
        }
        if own || !others.is_empty() || self.events == OPENING_EVENTS_MAX {
            self.fingerprint = None;
        }
    }
}
