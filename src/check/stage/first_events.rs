//! Stage: what the first events show: whether a profile that was named is right, and which version
//! of the agent wrote the stream.

use crate::check::Note;
use crate::json::JsonRef;
use crate::limits::{DETECTION_EVENTS_MAX, MESSAGE_BYTES_MAX};
use crate::profile::Profile;
use crate::profile::detect::{self, DetectRules, ProfileSource};
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;
use crate::stream::Event;

/// Reads the first events of a stream.
#[derive(Debug)]
pub(crate) struct FirstEvents<'c> {
    profile: &'c Profile,
    /// Whether the stream may still turn out to be another agent's.
    may_be_foreign: bool,
    version: Option<String>,
    events: usize,
}

impl<'c> FirstEvents<'c> {
    pub(crate) fn new(profile: &'c Profile, source: ProfileSource) -> Self {
        // A profile without detection rules can match any agent.
        let may_be_foreign = source == ProfileSource::Named && !profile.detect.is_empty();
        Self { profile, may_be_foreign, version: None, events: 0 }
    }

    /// Whether nothing is left to read. Until then every event must be parsed.
    pub(crate) fn are_over(&self) -> bool {
        let wants_version = self.profile.versions.at.is_some() && self.version.is_none();
        self.events >= DETECTION_EVENTS_MAX || !(self.may_be_foreign || wants_version)
    }

    pub(crate) fn observe(&mut self, event: &Event<'_>, found: &mut Vec<Diagnostic>) {
        if self.are_over() {
            return;
        }
        self.events += 1;
        if self.may_be_foreign {
            let diagnostic = self.foreign_profile(event.root());
            found.extend(diagnostic.map(|diagnostic| diagnostic.at(event.line, event.offset)));
        }
        if let (None, Some(path)) = (&self.version, &self.profile.versions.at) {
            let version = path.find(event.root()).and_then(JsonRef::scalar_text);
            self.version = version.map(|text| clipped(&text, MESSAGE_BYTES_MAX).into_owned());
        }
    }

    /// Whether an event is another agent's.
    fn foreign_profile(&mut self, event: JsonRef<'_>) -> Option<Diagnostic> {
        let name = self.profile.name.as_str();
        let matching = DetectRules::built_in().matching_profiles(event);
        let others: Vec<&str> = matching.filter(|other| *other != name).collect();
        if detect::matches(event, &self.profile.detect) {
            // What two agents write alike decides nothing.
            self.may_be_foreign = !others.is_empty();
            return None;
        }
        if others.is_empty() {
            return None;
        }
        self.may_be_foreign = false;
        let others = others.join(" or ");
        let message = format!("this looks like a stream of {others}, but the profile is {name}");
        let note = format!("use --profile {others}, or leave --profile out");
        Some(Diagnostic::new(Rule::WrongProfile, message).note(note))
    }

    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Whether the profile is for other versions.
    pub(crate) fn note(&self) -> Option<Note> {
        let version = self.version.as_deref()?;
        let range = self.profile.versions.range_excluding(version)?;
        let (version, profile) = (version.to_owned(), self.profile.name.clone());
        Some(Note::VersionOutOfRange { version, profile, range })
    }
}
