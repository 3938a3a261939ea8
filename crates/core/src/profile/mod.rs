//! What the events of a producer mean, as data: the profile language and the built-in profiles.
//!
//! A profile is a JSON file with a closed vocabulary, described by its own JSON Schema
//! ([`LANGUAGE`]). The stages contain nothing about any producer.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

mod actions;
pub(crate) mod builtin;
mod calls;
mod changes;
pub(crate) mod condition;
mod defects;
mod details;
pub(crate) mod detect;
mod end;
mod exit;
pub(crate) mod load;
mod media;
mod merge;
mod noise;
pub(crate) mod path;
pub(crate) mod pattern;
mod providers;
mod reason;
mod run_facts;
mod session;
mod tags;
mod template;
mod text;
mod validate;
mod values;
mod versions;
pub(crate) mod vocabulary;

pub use actions::CallKind;
pub use calls::CallOutcome;
pub use changes::{ChangeKind, FileChange};
pub use exit::ExitStatus;
pub use media::{Media, MediaKind};
pub(crate) use reason::ReasonText;
pub use reason::{EndReason, Retryable};

pub(crate) use actions::ActionRules;
pub use builtin::DEFAULT;
pub(crate) use builtin::FRAMING;
pub(crate) use calls::{
    BackgroundRule, CallCorrection, CallRule, CallRules, HalfRules, OpenAtEnd, ToolName,
    WithoutStart,
};
pub(crate) use defects::{DefectRule, DuplicateKeyRule};
pub(crate) use details::{
    CallDuration, FragmentRule, NoticePaths, NoticeRule, PlanRule, ResultRule, ThinkingMode,
    ThinkingRule,
};
pub use details::{NoticeKind, PlanState};
pub(crate) use end::{
    EndRules, ProgressRule, RunOutcome, RunProgress, TerminalOutcome, TerminalPolicy, TerminalRule,
    WithoutStatus,
};
pub use exit::ErrorSeverity;
pub(crate) use exit::{ErrorRule, ExitCodes, StatusMeaning};
pub use load::{NO_SUCH_PROFILE, profile_names, profile_text, whole_profile_text};
pub(crate) use load::{parse_json, read_json};
pub(crate) use noise::{Noise, NoiseKind, NoiseMeaning, NoisePlace};
pub(crate) use providers::{reason_of_provider, time_of_provider};
pub(crate) use run_facts::{FactValue, MessageUsageRule, RunFact, RunFactRule, UsageMode};
pub(crate) use session::{
    EventOrder, Repeats, RestartRule, ServersAt, SessionRules, ToolSource, UnavailableRule,
};
pub(crate) use tags::{AfterRule, EventRule, Objects, SingleObjectRules, Tags};
pub(crate) use template::Template;
pub(crate) use text::{FinalText, SegmentEndRule, TextDeltas, TextMode, TextRule, TextRules};
pub(crate) use values::ValueRule;
pub(crate) use versions::Versions;

/// The JSON Schema of the profile language.
pub const LANGUAGE: &str = include_str!("profile.schema.json");

/// A key that a profile sets to turn something off.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct TrueByDefault(pub bool);

impl Default for TrueByDefault {
    fn default() -> Self {
        Self(true)
    }
}

/// What the events of one kind of producer mean.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Profile {
    /// For editors and for links to the profile.
    #[serde(rename = "$schema")]
    _language: Option<String>,
    #[serde(rename = "$id")]
    _id: Option<String>,
    pub name: String,
    /// The producer's name.
    pub title: String,
    /// How it is called so that it writes events.
    pub command: Option<String>,
    /// The event schema, which is loaded separately.
    #[serde(rename = "schema")]
    _schema: Option<Value>,
    pub versions: Versions,
    /// An early event that matches one of these comes from this producer and no other.
    pub detect: Vec<EventRule>,
    /// The profiles of agents whose events this one writes, too.
    pub relatives: Vec<String>,
    pub tags: Tags,
    pub session: SessionRules,
    pub calls: CallRules,
    pub text: TextRules,
    pub end: EndRules,
    /// All that match apply.
    pub facts: Vec<RunFactRule>,
    /// All that match apply.
    pub message_usage: Vec<MessageUsageRule>,
    /// All that match apply.
    pub thinking: Vec<ThinkingRule>,
    /// The first that matches and finds a list applies.
    pub plans: Vec<PlanRule>,
    /// Strings that come in pieces and are not text of the assistant. All that match apply.
    pub fragments: Vec<FragmentRule>,
    /// All that match apply.
    pub notices: Vec<NoticeRule>,
    /// The first that matches applies.
    pub noise: Vec<Noise>,
    /// All that match apply.
    pub values: Vec<ValueRule>,
    /// All that match apply.
    pub defects: Vec<DefectRule>,
    /// All that match apply.
    pub duplicate_keys: Vec<DuplicateKeyRule>,
    pub single_object: Option<SingleObjectRules>,
    /// What a profile that is not built in was read from.
    #[serde(skip)]
    json: Option<Value>,
    /// The files that it and its schema were read from.
    #[serde(skip)]
    pub files: Vec<PathBuf>,
}
