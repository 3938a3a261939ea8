//! Stage: what the first events show: whether they are the agent's, and which version of it wrote
//! the stream. Later, an event that the profile does not know may be of another agent.

use crate::check::Note;
use crate::json::JsonRef;
use crate::limits::{DETECTION_EVENTS_MAX, MESSAGE_BYTES_MAX, UNKNOWN_EVENTS_MAX};
use crate::profile::Profile;
use crate::profile::detect::{self, Author, DetectRules, ProfileSource};
use crate::profile::path::Path;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::clipped;
use crate::stream::ParsedEvent;

#[derive(Debug)]
pub(crate) struct FirstEvents<'c> {
    profile: &'c Profile,
    source: ProfileSource,
    /// Whether an event may still be another agent's.
    may_be_foreign: bool,
    /// Whether an event was one that only this agent writes.
    is_shown: bool,
    /// The version that the profile is for: the agent's, or that of its protocol.
    version: Option<String>,
    /// The agent's, where its session says it.
    agent_version: Option<String>,
    events: usize,
    /// How many later events were unknown.
    unknown_events: usize,
}

impl<'c> FirstEvents<'c> {
    pub(crate) fn new(profile: &'c Profile, source: ProfileSource) -> Self {
        Self {
            profile,
            source,
            // A profile without detection rules can match any agent.
            may_be_foreign: !profile.detect.is_empty(),
            is_shown: source == ProfileSource::Detected,
            version: None,
            agent_version: None,
            events: 0,
            unknown_events: 0,
        }
    }

    /// Whether nothing is left to read. Until then every event must be parsed.
    pub(crate) fn are_over(&self) -> bool {
        let wants_version = self.profile.versions.at.is_some() && self.version.is_none();
        self.events >= DETECTION_EVENTS_MAX || !(self.may_be_foreign || wants_version)
    }

    /// `is_known` says whether the profile has events of this kind.
    pub(crate) fn observe(
        &mut self,
        event: &ParsedEvent<'_>,
        is_known: bool,
        found: &mut Vec<Diagnostic>,
    ) {
        if self.are_over() {
            if is_known || self.unknown_events == UNKNOWN_EVENTS_MAX {
                return;
            }
            self.unknown_events += 1;
        } else {
            self.events += 1;
            self.versions(event);
        }
        if self.may_be_foreign {
            let diagnostic = self.foreign_profile(event.root(), is_known);
            self.may_be_foreign = diagnostic.is_none();
            found.extend(diagnostic.map(|diagnostic| diagnostic.at(event.line, event.offset)));
        }
    }

    fn versions(&mut self, event: &ParsedEvent<'_>) {
        let at = |path: &Path| {
            let version = path.find(event.root()).and_then(JsonRef::scalar_text);
            version.map(|text| clipped(&text, MESSAGE_BYTES_MAX).into_owned())
        };
        if self.version.is_none() {
            self.version = self.profile.versions.at.as_ref().and_then(at);
        }
        if self.agent_version.is_none() {
            let details = self.profile.session.details.iter();
            let mut versions = details.filter_map(|rule| Some((rule, rule.version.as_ref()?)));
            self.agent_version =
                versions.find_map(|(rule, path)| at(path).filter(|_| rule.when.hold(event.root())));
        }
    }

    fn foreign_profile(&mut self, event: JsonRef<'_>, is_known: bool) -> Option<Diagnostic> {
        let Profile { name, relatives, .. } = self.profile;
        let is_own = detect::matches(event, &self.profile.detect);
        if is_own && self.is_shown {
            return None;
        }
        let others: Vec<Author<'_>> = DetectRules::built_in()
            .matching(event)
            .filter(|author| author.agent() != Some(name))
            .collect();
        if is_own {
            self.is_shown = others.is_empty();
            return None;
        }
        let is_relative =
            |it: &Author<'_>| it.agent().is_some_and(|it| relatives.iter().any(|name| name == it));
        // Once the agent is known, what may be of several others decides nothing.
        let is_shared = is_known && others.iter().any(is_relative);
        if self.is_shown && (others.len() > 1 || is_shared) {
            return None;
        }
        let profiles: Vec<&str> = others.iter().filter_map(|author| author.agent()).collect();
        let profiles = profiles.join(" or ");
        let looks = match others.first()? {
            Author::Agent(_) => Author::Agent(&profiles),
            unread @ Author::Unread(_) => *unread,
        };
        let is_behind_own =
            !profiles.is_empty() && (self.is_shown || self.source == ProfileSource::Detected);
        let other = if is_behind_own { "an earlier event is of" } else { "the profile is" };
        let message = format!("this looks like {looks}, but {other} {name}");
        let note = match profiles.is_empty() {
            true => "the profile jsonl checks any JSON Lines".to_owned(),
            false if is_behind_own => "if two agents wrote this, check each part alone; if a \
                wrapper or plugin wrote one of these events, choose the profile of the others, \
                and allow wrong-profile"
                .to_owned(),
            false => format!("use the profile {profiles}, or let it be detected"),
        };
        Some(Diagnostic::new(Rule::WrongProfile, message).note(note))
    }

    pub(crate) fn agent_version(&self) -> Option<&str> {
        self.agent_version.as_deref().or(self.version.as_deref())
    }

    /// Whether the profile is for other versions.
    pub(crate) fn note(&self) -> Option<Note> {
        let version = self.version.as_deref()?;
        let range = self.profile.versions.range_excluding(version)?;
        let (version, profile) = (version.to_owned(), self.profile.name.clone());
        Some(Note::VersionOutOfRange { version, profile, range })
    }
}
