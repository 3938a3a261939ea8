//! What an event means, in words that no producer invented: [`Profile`] × [`Event`] → [`Facts`].

use std::borrow::Cow;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher, RandomState};

use crate::event::{Event, Node};
use crate::limits::CALL_ID_BYTES_MAX;
use crate::path::Path;
use crate::profile::{CallOutcome, Calls, Profile, RunOutcome, TerminalPolicy, TextMode};
use crate::visible::clipped;

/// What one event means.
#[derive(Debug)]
pub struct Facts<'e> {
    /// The number of its line, from 1.
    pub line: u64,
    /// The offset of its first byte in the stream, from 0.
    pub offset: u64,
    /// Its tag, the parts joined by `/`; empty if it has none.
    pub tag: Cow<'e, str>,
    /// What the profile knows of the tag.
    pub standing: Standing,
    /// Whether a rule of the profile holds and what it points to is not there.
    pub incomplete: bool,
    /// The facts, in the order in which the stages want them.
    pub list: Vec<Fact<'e>>,
}

/// What a profile knows of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The producer's documentation promises it, or it tells the run's outcome.
    Documented,
    /// It is known from real streams only.
    Observed,
    /// The profile does not know it.
    Unknown,
}

/// One thing that an event says.
#[derive(Debug)]
pub enum Fact<'e> {
    /// A session begins.
    SessionStart,
    /// The event belongs to this session.
    Session(&'e str),
    /// The directory the agent works in.
    Directory(&'e str),
    /// The event's time in milliseconds.
    Time(f64),
    /// A tool call starts.
    CallStarted(Call<'e>),
    /// A tool call completes.
    CallCompleted(Call<'e>, CallOutcome),
    /// Text to append to the open segment.
    TextDelta(Cow<'e, str>),
    /// The text of a whole segment.
    TextWhole(Cow<'e, str>),
    /// The text of the whole answer.
    FinalText(Cow<'e, str>),
    /// The open text segment ends here.
    Boundary,
    /// The run ends here, with this outcome.
    Terminal(Last),
    /// The run's outcome, from a producer without a terminal event.
    Outcome(Last),
}

/// One half of a tool call.
#[derive(Debug)]
pub struct Call<'e> {
    /// What correlates the halves.
    pub id: CallId,
    /// The tool's name, if the event names one.
    pub tool: Option<&'e str>,
    /// Whether the profile knows the tool.
    pub tool_known: bool,
    /// Whether the profile knows the kind of result; a start has none.
    pub result_known: bool,
    /// Fingerprints of what both halves must have in common, in the order of the profile's `same`.
    pub same: Vec<Option<u64>>,
}

/// What the producer says at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Last {
    /// The outcome.
    pub outcome: RunOutcome,
    /// The run's duration in milliseconds.
    pub duration_ms: Option<u64>,
    /// The tokens it used.
    pub usage: Usage,
}

/// Token counts, where the producer gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens sent to the model.
    pub input_tokens: Option<u64>,
    /// Tokens it wrote.
    pub output_tokens: Option<u64>,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_write_tokens: Option<u64>,
}

/// What correlates the two halves of a tool call. Opaque: any strings, line breaks included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallId {
    /// The parts with a space between them, or the start of that.
    text: Box<str>,
    /// What `text` does not tell of a long id, or of one with several parts.
    rest: u64,
}

impl CallId {
    /// The id that these parts make together.
    pub fn new(parts: &[Cow<'_, str>]) -> Self {
        let text = parts.join(" ");
        let whole = text.len() <= CALL_ID_BYTES_MAX;
        let rest = if whole && parts.len() == 1 {
            0
        } else {
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        };
        Self { text: clipped(&text, CALL_ID_BYTES_MAX).into(), rest }
    }

    /// The id as reports show it; the start of a very long one.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Reads facts out of events, as one profile says.
#[derive(Debug)]
pub struct Reader<'p> {
    profile: &'p Profile,
    state: RandomState,
}

impl<'p> Reader<'p> {
    /// Reads by this profile.
    pub fn new(profile: &'p Profile) -> Self {
        Self { profile, state: RandomState::new() }
    }

    /// What the event means.
    pub fn facts<'e>(&self, event: &'e Event<'_>) -> Facts<'e> {
        let root = event.root();
        let mut list = Vec::new();
        self.session(root, &mut list);
        let complete = self.calls(root, &mut list) & self.text(root, &mut list);
        if self.profile.boundaries.iter().any(|rule| rule.when.hold(root)) {
            list.push(Fact::Boundary);
        }
        let end = self.end(root);
        let tag = self.tag(root);
        let standing = if end.is_some() { Standing::Documented } else { self.standing(&tag) };
        if let Some(end) = end {
            list.push(match self.profile.terminal.policy {
                TerminalPolicy::Required => Fact::Terminal(end),
                TerminalPolicy::None => Fact::Outcome(end),
            });
        }
        let incomplete = !complete;
        Facts { line: event.line, offset: event.offset, tag, standing, incomplete, list }
    }

    fn tag<'e>(&self, root: Node<'e>) -> Cow<'e, str> {
        let mut parts = self.profile.tag.iter().map_while(|path| path.find(root)?.as_str());
        let mut tag = part(parts.next().unwrap_or_default());
        for next in parts {
            let _ = write!(tag.to_mut(), "/{}", part(next));
        }
        tag
    }

    fn standing(&self, tag: &str) -> Standing {
        let known = |tags: &[String]| tags.iter().any(|known| known == tag);
        if known(&self.profile.events.documented) {
            Standing::Documented
        } else if known(&self.profile.events.observed) {
            Standing::Observed
        } else {
            Standing::Unknown
        }
    }

    fn session<'e>(&self, root: Node<'e>, list: &mut Vec<Fact<'e>>) {
        let session = &self.profile.session;
        if session.start.iter().any(|rule| rule.when.hold(root)) {
            list.push(Fact::SessionStart);
            let directory = session.directory.as_ref().and_then(|path| path.find(root)?.as_str());
            list.extend(directory.map(Fact::Directory));
        }
        let id = session.id.as_ref().and_then(|path| path.find(root)?.as_str());
        list.extend(id.map(Fact::Session));
        let time = self.profile.time.as_ref().and_then(|path| path.find(root)?.as_f64());
        list.extend(time.map(Fact::Time));
    }

    /// False if the event is half of a call and has no id.
    fn calls<'e>(&self, root: Node<'e>, list: &mut Vec<Fact<'e>>) -> bool {
        let calls = &self.profile.calls;
        let mut complete = true;
        for rule in calls.start.iter().filter(|rule| rule.when.hold(root)) {
            for object in rule.of.objects(root) {
                let call = self.call(object, &rule.id);
                complete &= call.is_some();
                list.extend(call.map(Fact::CallStarted));
            }
        }
        for rule in calls.completion.iter().filter(|rule| rule.when.hold(root)) {
            for object in rule.of.objects(root) {
                let outcome = rule.outcomes.iter().find(|rule| rule.when.hold(object));
                let call = self.call(object, &rule.id);
                complete &= call.is_some();
                if let Some(mut call) = call {
                    call.result_known = outcome.is_some();
                    let outcome = outcome.map_or(CallOutcome::Unknown, |rule| rule.outcome);
                    list.push(Fact::CallCompleted(call, outcome));
                }
            }
        }
        complete
    }

    fn call<'e>(&self, root: Node<'e>, id: &[Path]) -> Option<Call<'e>> {
        let calls = &self.profile.calls;
        let (tool, known) = tool(calls, root).unzip();
        let fingerprint = |path: &Path| Some(path.find(root)?.fingerprint(&self.state));
        Some(Call {
            id: call_id(root, id)?,
            tool,
            tool_known: known.unwrap_or(calls.tool.is_empty()),
            result_known: true,
            same: calls.same.iter().map(fingerprint).collect(),
        })
    }

    /// False if the event is to carry text and part of it is not there.
    fn text<'e>(&self, root: Node<'e>, list: &mut Vec<Fact<'e>>) -> bool {
        let Some(rule) = self.profile.text.iter().find(|rule| rule.when.hold(root)) else {
            return true;
        };
        let mut complete = rule.of.is_there(root);
        let mut text = Cow::Borrowed("");
        for object in rule.of.objects(root) {
            match rule.value.find(object).and_then(Node::as_str) {
                Some(piece) if text.is_empty() => text = Cow::Borrowed(piece),
                Some(piece) => text.to_mut().push_str(piece),
                None => complete = false,
            }
        }
        // An array without any text is an empty text; without the array there is none.
        if complete || !text.is_empty() {
            list.push(match rule.mode {
                TextMode::Delta => Fact::TextDelta(text),
                TextMode::Whole => Fact::TextWhole(text),
                TextMode::Final => Fact::FinalText(text),
            });
        }
        complete
    }

    fn end(&self, root: Node<'_>) -> Option<Last> {
        let terminal = &self.profile.terminal;
        let rule = terminal.rules.iter().find(|rule| rule.when.hold(root))?;
        let number = |path: &Option<Path>| path.as_ref()?.find(root)?.as_u64();
        Some(Last {
            outcome: rule.outcome,
            duration_ms: number(&terminal.duration_ms),
            usage: Usage {
                input_tokens: number(&terminal.usage.input_tokens),
                output_tokens: number(&terminal.usage.output_tokens),
                cache_read_tokens: number(&terminal.usage.cache_read_tokens),
                cache_write_tokens: number(&terminal.usage.cache_write_tokens),
            },
        })
    }
}

/// A part of a tag, with its slashes told from those between parts.
fn part(part: &str) -> Cow<'_, str> {
    if part.contains(['/', '~']) {
        Cow::Owned(part.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(part)
    }
}

/// The tool's name, and whether the profile knows it.
fn tool<'e>(calls: &Calls, root: Node<'e>) -> Option<(&'e str, bool)> {
    calls.tool.iter().find_map(|rule| {
        let key = rule.key.as_ref().and_then(|path| path.find_key(root));
        let name = key.or_else(|| rule.value.as_ref()?.find(root)?.as_str())?;
        let known = rule.known.as_ref();
        Some((name, known.is_none_or(|known| known.iter().any(|known| known == name))))
    })
}

/// The id of a call: its parts, which all must be there.
fn call_id(root: Node<'_>, paths: &[Path]) -> Option<CallId> {
    let parts = paths.iter().map(|path| path.find(root)?.scalar_text());
    parts.collect::<Option<Vec<_>>>().map(|parts| CallId::new(&parts))
}
