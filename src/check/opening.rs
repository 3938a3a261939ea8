//! What the first events show: whether the profile that somebody named is theirs, and which version
//! of the producer wrote them.

use crate::check::contract::Contract;
use crate::limits::{MESSAGE_BYTES_MAX, OPENING_EVENTS_MAX};
use crate::profile::Profile;
use crate::profile::detect::{DetectRules, ProfileSource, matches};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::{clipped, shown};
use crate::stream::event::{Event, Node};

/// Looks at the first events of a stream.
pub(super) struct Opening<'c> {
    profile: &'c Profile,
    /// Whether it is open whose events these are.
    is_doubtful: bool,
    version: Option<String>,
    events: usize,
}

impl<'c> Opening<'c> {
    pub(super) fn new(contract: &'c Contract, choice: ProfileSource) -> Self {
        let profile = contract.profile();
        // A profile without rules for detection may be for any producer.
        let is_doubtful = choice == ProfileSource::Named && !profile.detect.is_empty();
        Self { profile, is_doubtful, version: None, events: 0 }
    }

    /// Whether there is nothing more to look at. Until then every event has to be seen.
    pub(super) fn is_over(&self) -> bool {
        let wants_version = self.profile.versions.at.is_some() && self.version.is_none();
        self.events >= OPENING_EVENTS_MAX || !(self.is_doubtful || wants_version)
    }

    pub(super) fn observe(&mut self, event: &Event<'_>, found: &mut Vec<Diagnostic>) {
        if self.is_over() {
            return;
        }
        self.events += 1;
        if self.is_doubtful {
            found.extend(self.doubt(event.root()).map(|it| it.at(event.line, event.offset)));
        }
        if let (None, Some(at)) = (&self.version, &self.profile.versions.at) {
            let version = at.find(event.root()).and_then(Node::scalar_text);
            self.version = version.map(|it| clipped(&it, MESSAGE_BYTES_MAX).into_owned());
        }
    }

    /// Whether an event is another profile's.
    fn doubt(&mut self, event: Node<'_>) -> Option<Diagnostic> {
        let name = self.profile.name.as_str();
        let matching = DetectRules::built_in().matching_profiles(event);
        let others: Vec<&str> = matching.filter(|other| *other != name).collect();
        if matches(event, &self.profile.detect) {
            // What two producers write alike leaves it open.
            self.is_doubtful = !others.is_empty();
            return None;
        }
        if others.is_empty() {
            return None;
        }
        self.is_doubtful = false;
        let others = others.join(" or ");
        let message = format!("this looks like {others}, and the profile is {name}");
        let note = format!("--profile {others}, or auto, which finds out");
        Some(Diagnostic::new(Rule::WrongProfile, message).note(note))
    }

    /// What the version is worth telling.
    pub(super) fn note(&self) -> Option<String> {
        let version = self.version.as_deref()?;
        let range = self.profile.versions.range_excluding(version)?;
        let (version, name) = (shown(version), &self.profile.name);
        Some(format!(
            "the version is {version}, and the profile {name} is written for those {range}"
        ))
    }
}
