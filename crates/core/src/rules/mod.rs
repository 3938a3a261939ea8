//! The rule catalogue: every kind of defect, its two severities and its page.

pub(crate) mod diagnostic;
pub mod escape;
pub(crate) mod names;
pub(crate) mod suggest;

use serde::{Deserialize, Serialize};

use names::names;

names! {
    /// How much a diagnostic weighs. An `Error` decides the verdict.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    pub enum Severity {
        /// Worth knowing; the stream still conforms.
        Warning = "warning",
        /// The stream does not conform.
        Error = "error",
    }
}

/// Declares the rules: one row is the variant, its kebab-case name and its severity by default
/// and under `--strict` (`None` is off). `every_line` marks a rule that needs every line: what
/// seems to be missing may be in a line that could not be parsed.
macro_rules! rules {
    (@needs) => { false };
    (@needs every_line) => { true };
    ($($variant:ident $name:literal $default:expr, $strict:expr $(, $needs:ident)?;)+) => {
        names! {
            all
            /// A kind of defect. Each has a page, which `ndjson-check rules NAME` prints.
            #[derive(
                Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
            )]
            #[non_exhaustive]
            pub enum Rule {
                $(
                    #[doc = concat!("`", $name, "`; `ndjson-check rules` prints its page.")]
                    $variant = $name,
                )+
            }
        }

        impl Rule {
            /// The rule's page in Markdown.
            pub fn page(self) -> &'static str {
                match self { $(Self::$variant => include_str!(concat!($name, ".md"))),+ }
            }

            /// The severity when no flag says otherwise; `None` is off.
            pub fn severity(self) -> Option<Severity> {
                match self { $(Self::$variant => $default),+ }
            }

            /// The severity under `--strict`; `None` is off.
            pub fn strict_severity(self) -> Option<Severity> {
                match self { $(Self::$variant => $strict),+ }
            }

            pub(crate) fn needs_every_line(self) -> bool {
                match self { $(Self::$variant => rules!(@needs $($needs)?)),+ }
            }
        }
    };
}

const OFF: Option<Severity> = None;
const WARNING: Option<Severity> = Some(Severity::Warning);
const ERROR: Option<Severity> = Some(Severity::Error);

rules! {
    LineTooLong "line-too-long" ERROR, ERROR;
    TruncatedLine "truncated-line" ERROR, ERROR;
    MissingFinalNewline "missing-final-newline" WARNING, ERROR;
    BlankLine "blank-line" WARNING, ERROR;
    ByteOrderMark "byte-order-mark" WARNING, ERROR;
    NotNdjson "not-ndjson" ERROR, ERROR;
    InvalidUtf8 "invalid-utf-8" ERROR, ERROR;
    InvalidJson "invalid-json" ERROR, ERROR;
    LoneSurrogate "lone-surrogate" WARNING, WARNING;
    StderrInStream "stderr-in-stream" WARNING, ERROR;
    NestingTooDeep "nesting-too-deep" ERROR, ERROR;
    NotAnObject "not-an-object" ERROR, ERROR;
    DuplicateKey "duplicate-key" ERROR, ERROR;
    WrongProfile "wrong-profile" ERROR, ERROR;
    SchemaViolation "schema-violation" ERROR, ERROR;
    UnknownEvent "unknown-event" WARNING, ERROR;
    UndocumentedEvent "undocumented-event" OFF, ERROR;
    UnknownTool "unknown-tool" OFF, WARNING;
    UnknownValue "unknown-value" WARNING, ERROR;
    MissingSessionStart "missing-session-start" ERROR, ERROR, every_line;
    LateSessionStart "late-session-start" ERROR, ERROR;
    DuplicateSessionStart "duplicate-session-start" ERROR, ERROR;
    SessionIdChanged "session-id-changed" ERROR, ERROR;
    TimestampWentBackwards "timestamp-went-backwards" WARNING, ERROR;
    BrokenSequence "broken-sequence" WARNING, ERROR, every_line;
    DuplicateCallStart "duplicate-call-start" ERROR, ERROR;
    ReusedCallId "reused-call-id" WARNING, ERROR;
    CompletionWithoutStart "completion-without-start" ERROR, ERROR, every_line;
    RejectedWithoutStart "rejected-without-start" WARNING, ERROR, every_line;
    DuplicateCompletion "duplicate-completion" ERROR, ERROR;
    CallMismatch "call-mismatch" ERROR, ERROR;
    ContradictoryCompletion "contradictory-completion" WARNING, ERROR;
    UnfinishedCall "unfinished-call" ERROR, ERROR, every_line;
    DeltaMismatch "delta-mismatch" ERROR, ERROR, every_line;
    UnfinishedText "unfinished-text" WARNING, ERROR, every_line;
    FinalTextMismatch "final-text-mismatch" ERROR, ERROR, every_line;
    EmptyAnswer "empty-answer" WARNING, ERROR, every_line;
    AllCallsRefused "all-calls-refused" ERROR, ERROR, every_line;
    AllCallsFailed "all-calls-failed" WARNING, ERROR, every_line;
    DeniedCall "denied-call" WARNING, ERROR;
    RepeatedCall "repeated-call" WARNING, ERROR;
    ToolServerUnavailable "tool-server-unavailable" WARNING, ERROR;
    BackgroundWorkLost "background-work-lost" WARNING, ERROR, every_line;
    MissingTerminalEvent "missing-terminal-event" ERROR, ERROR;
    EventAfterTerminal "event-after-terminal" ERROR, ERROR;
    RunFailed "run-failed" OFF, ERROR;
    SuccessAfterFatalError "success-after-fatal-error" ERROR, ERROR;
    EmptyStream "empty-stream" ERROR, ERROR;
    ExitStatusContradictsResult "exit-status-contradicts-result" ERROR, ERROR;
    SilentFailure "silent-failure" WARNING, ERROR;
    PipeHeldOpen "pipe-held-open" WARNING, WARNING;
    LimitExceeded "limit-exceeded" ERROR, ERROR;
    LimitUnknown "limit-unknown" WARNING, ERROR;
    ExpectationFailed "expectation-failed" ERROR, ERROR;
    ExpectationUnobservable "expectation-unobservable" WARNING, ERROR;
}

impl Rule {
    /// The meaning on one line: the second paragraph of the page.
    pub fn summary(self) -> &'static str {
        self.page().split("\n\n").nth(1).unwrap_or_default().trim()
    }
}

/// The severity of every rule in one run; `None` is off.
#[derive(Debug, Clone)]
pub(crate) struct Severities {
    of: Vec<Option<Severity>>,
    is_strict: bool,
}

impl Severities {
    pub(crate) fn new(strict: bool) -> Self {
        let severity = if strict { Rule::strict_severity } else { Rule::severity };
        Self { of: Rule::ALL.iter().map(|&rule| severity(rule)).collect(), is_strict: strict }
    }

    pub(crate) fn set(&mut self, rule: Rule, severity: Option<Severity>) {
        self.of[rule as usize] = severity;
    }

    pub(crate) fn of(&self, rule: Rule) -> Option<Severity> {
        self.of[rule as usize]
    }

    /// The rules that were turned off, and would not be off by themselves.
    pub(crate) fn turned_off(&self) -> Vec<Rule> {
        let own = Self::new(self.is_strict);
        let is_turned_off = |rule: &&Rule| self.of(**rule).is_none() && own.of(**rule).is_some();
        Rule::ALL.iter().filter(is_turned_off).copied().collect()
    }

    /// The rules that were made warnings, and would be errors by themselves.
    pub(crate) fn lowered(&self) -> Vec<Rule> {
        let own = Self::new(self.is_strict);
        let is_lowered = |rule: &&Rule| {
            let severities = (self.of(**rule), own.of(**rule));
            severities == (Some(Severity::Warning), Some(Severity::Error))
        };
        Rule::ALL.iter().filter(is_lowered).copied().collect()
    }
}

impl Default for Severities {
    fn default() -> Self {
        Self::new(false)
    }
}
