//! What a stream is checked against: a profile, its schemas, and the options.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::prices::Prices;
use super::stage::expect::Expected;
use super::{AgentFormat, Limits, Note};
use crate::error::Error;
use crate::json::Schema;
use crate::limits::LINE_BYTES_MAX;
use crate::profile::detect::{Author, ProfileSource, are_versions};
use crate::profile::vocabulary::Vocabulary;
use crate::profile::{DEFAULT, FRAMING, Profile, TerminalPolicy, profile_names};
use crate::rules::Severities;

/// How streams are checked, whatever the profile.
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) severities: Severities,
    pub(crate) config_file: Option<String>,
    /// Whether the stream comes from a command, which may write text in place of events.
    pub(crate) is_of_command: bool,
    /// The profile that the command shows. A stream that does not show its agent has
    /// this profile.
    pub(crate) silent: Option<&'static str>,
    /// What the command was called with, if that is known.
    pub(crate) arguments: Vec<String>,
    /// The format that the agent was asked for; without one the first event shows it.
    pub(crate) format: Option<AgentFormat>,
    /// Whether the stream is one array; without it the first bytes show it.
    pub(crate) is_array: Option<bool>,
    /// The shortest series of equal calls that is reported, if it is not the usual one.
    pub(crate) repeated_calls: Option<u64>,
    pub(crate) splits_sessions: bool,
    pub(crate) hashes_bytes: bool,
    pub(crate) collects_stats: bool,
    /// Whether events are compared with the members that their schema describes.
    pub(crate) compares_members: bool,
    pub(crate) max_line_bytes: Option<u64>,
    pub(crate) limits: Limits,
    /// What tokens cost, where the agent does not say it.
    pub(crate) prices: Arc<Prices>,
    pub(crate) expected: Arc<[Expected]>,
    /// Whether every line is read by the plain parser, and the plain validator; for tests.
    pub(crate) is_plain: bool,
}

impl Options {
    pub(crate) fn line_bytes_max(&self) -> u64 {
        self.max_line_bytes.unwrap_or(LINE_BYTES_MAX)
    }

    /// What a reader should know of the options: what the check does not look for.
    pub(super) fn notes(&self) -> Vec<Note> {
        let file = self.config_file.clone().map(|file| Note::Configured { file });
        let rules = self.severities.turned_off();
        let off = (!rules.is_empty()).then_some(Note::RulesOff { rules });
        let rules = self.severities.lowered();
        let lowered = (!rules.is_empty()).then_some(Note::RulesLowered { rules });
        file.into_iter().chain(off).chain(lowered).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Contract {
    profile: Arc<Profile>,
    shared: Arc<Shared>,
    schema: Option<Schema>,
    vocabulary: OnceLock<Arc<Vocabulary>>,
    /// The definitions that decide for the events of one tag. Tags may share one.
    by_tag: HashMap<String, Arc<Schema>>,
    /// The schema of the single object, if the agent has such a format.
    single: Option<Schema>,
}

impl Contract {
    fn load(
        (profile, schema): (Profile, Option<Schema>),
        shared: &Arc<Shared>,
    ) -> Result<Self, Error> {
        let part = |pointer: &str, reference: &str| match &schema {
            Some(schema) => schema.part(reference).map(Some).map_err(|message| Error::Profile {
                origin: profile.name.clone(),
                message: format!("{pointer}: {}", Error::schema(schema.origin(), message)),
            }),
            None => Ok(None),
        };
        let single = match &profile.single_object {
            Some(single) => part("/single_object/schema", &single.schema)?,
            None => None,
        };
        let (mut by_tag, mut parts) = (HashMap::new(), HashMap::new());
        for (tag, reference) in &profile.tags.schemas {
            if !parts.contains_key(reference) {
                let schema = part("/tags/schemas", reference)?;
                parts.extend(schema.map(|schema| (reference, Arc::new(schema))));
            }
            by_tag.extend(parts.get(reference).map(|schema| (tag.clone(), Arc::clone(schema))));
        }
        let shared = Arc::clone(shared);
        let (profile, vocabulary) = (Arc::new(profile), OnceLock::new());
        Ok(Self { profile, shared, schema, vocabulary, by_tag, single })
    }

    pub(crate) fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    pub(crate) fn options(&self) -> &Options {
        &self.shared.options
    }

    pub(crate) fn schemas(&self, tag: &str, is_first: bool) -> impl Iterator<Item = &Schema> {
        let is_json = self.shared.options.format == Some(AgentFormat::Json);
        let own = match self.single.as_ref().filter(|_| is_json) {
            // What follows the first object has no place there, and is reported for that.
            Some(_) if !is_first => None,
            Some(single) => Some(single),
            None => self.own_schema(tag),
        };
        own.into_iter().chain(self.shared.user_schema.as_ref())
    }

    pub(crate) fn own_schema(&self, tag: &str) -> Option<&Schema> {
        self.by_tag.get(tag).map(Arc::as_ref).or(self.schema.as_ref())
    }

    /// What the profile and the schemas compare texts with.
    pub(crate) fn vocabulary(&self) -> Arc<Vocabulary> {
        let schemas = self.schema.iter().chain(&self.shared.user_schema).map(Schema::document);
        let new = || Arc::new(Vocabulary::new(&self.profile.to_json(), schemas));
        Arc::clone(self.vocabulary.get_or_init(new))
    }

    pub(crate) fn needs_terminal(&self) -> bool {
        self.profile.end.policy == TerminalPolicy::Required
    }
}

#[derive(Debug, Clone)]
pub(crate) enum NamedProfile {
    /// A built-in name, or a file.
    Name(String),
    Text {
        /// Names it in messages.
        origin: String,
        text: String,
    },
}

impl NamedProfile {
    fn load(&self) -> Result<(Profile, Option<Schema>), Error> {
        match self {
            Self::Name(name) => Profile::load(name),
            Self::Text { origin, text } => Profile::load_text(origin, text),
        }
    }
}

#[derive(Debug)]
struct Shared {
    options: Options,
    user_schema: Option<Schema>,
}

#[derive(Debug)]
pub(crate) struct Contracts {
    shared: Arc<Shared>,
    named: Option<Contract>,
    /// Each is made when a stream first needs it.
    built_in: BTreeMap<&'static str, OnceLock<Contract>>,
}

impl Contracts {
    /// Without a profile the stream shows it.
    pub(crate) fn new(
        profile: Option<NamedProfile>,
        user_schema: Option<(&str, &Value)>,
        options: Options,
    ) -> Result<Self, Error> {
        let compiled = user_schema.map(|(origin, schema)| {
            Schema::compile(origin, schema).map_err(|message| Error::schema(origin, message))
        });
        let shared = Arc::new(Shared { options, user_schema: compiled.transpose()? });
        let named = profile.map(|profile| profile.load()).transpose()?;
        let named = named.map(|profile| Contract::load(profile, &shared)).transpose()?;
        let built_in = profile_names().map(|name| (name, OnceLock::new())).collect();
        Ok(Self { shared, named, built_in })
    }

    pub(crate) fn options(&self) -> &Options {
        &self.shared.options
    }

    pub(crate) fn named(&self) -> Option<&Contract> {
        self.named.as_ref()
    }

    /// The contract of a stream whose first events a detector has read to their end. The name of
    /// the command decides where they do not.
    ///
    /// # Errors
    ///
    /// When nothing shows the agent, when several agents write such events, or when no profile
    /// reads the format.
    pub(crate) fn detected(
        &self,
        stream: &str,
        has_events: bool,
        authors: &[Author<'_>],
    ) -> Result<(&Contract, ProfileSource), Error> {
        let (stream, by_command) = (|| stream.to_owned(), self.shared.options.silent);
        if authors.is_empty() && has_events && by_command.is_none() {
            return Err(Error::UnknownAgent { stream: stream(), first: None, inside: None });
        }
        if authors.is_empty() {
            // Nothing says that a command is the default agent.
            let other = if self.shared.options.is_of_command { FRAMING } else { DEFAULT };
            let profile = by_command.unwrap_or(other);
            return Ok((self.of_profile(profile)?, ProfileSource::Fallback));
        }
        let mut profiles: Vec<&str> = authors.iter().filter_map(|author| author.agent()).collect();
        if let Some(by_command) = by_command.filter(|name| profiles.contains(name)) {
            profiles = vec![by_command];
        }
        // What all versions of an agent write alike is judged as the latest one's.
        if are_versions(authors) {
            profiles.drain(..profiles.len() - 1);
        }
        if let [one, other] = profiles[..]
            && let Some(lenient) = self.lenient_relative(one, other)?
        {
            profiles = vec![lenient];
        }
        match (&profiles[..], authors) {
            // Of a format that no profile reads, there was nothing but what the agent writes too.
            ([profile], _) => Ok((self.of_profile(profile)?, ProfileSource::Detected)),
            ([], [Author::Unread(format), ..]) => {
                Err(Error::UnreadFormat { stream: stream(), format: (*format).to_owned() })
            }
            _ => Err(Error::AmbiguousStream {
                stream: stream(),
                profiles: profiles.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    /// Of two relatives, the one whose streams end without a terminal event: what both write alike
    /// may be a whole stream of that one only.
    fn lenient_relative<'n>(&self, one: &'n str, other: &'n str) -> Result<Option<&'n str>, Error> {
        let profiles = [self.of_profile(one)?.profile(), self.of_profile(other)?.profile()];
        let are_relatives = profiles[0].relatives.iter().any(|name| name == other)
            && profiles[1].relatives.iter().any(|name| name == one);
        let needs_end = profiles.map(|profile| profile.end.policy == TerminalPolicy::Required);
        Ok(match needs_end {
            [true, false] if are_relatives => Some(other),
            [false, true] if are_relatives => Some(one),
            _ => None,
        })
    }

    /// Whether each of these agents shows a call only when it has ended.
    pub(crate) fn hide_open_calls(&self, authors: &[Author<'_>]) -> bool {
        let hides = |author: &Author<'_>| {
            let contract = author.agent().map(|name| self.of_profile(name));
            contract.is_some_and(|it| it.is_ok_and(|it| it.profile().calls.only_ended))
        };
        !authors.is_empty() && authors.iter().all(hides)
    }

    pub(crate) fn of_profile(&self, name: &str) -> Result<&Contract, Error> {
        let cell = self.built_in.get(name).expect("only a built-in profile is detected");
        if let Some(contract) = cell.get() {
            return Ok(contract);
        }
        let contract = Contract::load(Profile::load(name)?, &self.shared)?;
        Ok(cell.get_or_init(|| contract))
    }
}
