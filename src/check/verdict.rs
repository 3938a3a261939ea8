//! The words of a judgement: does the stream conform, how did the run end, in which format.

/// Whether a stream keeps its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No diagnostic of severity error. A timeout is none: it says how the run ended, not what is
    /// wrong with the stream.
    Conforming,
    /// At least one.
    NonConforming,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conforming => "conforming",
            Self::NonConforming => "non-conforming",
        }
    }
}

/// How the run ended that wrote the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It says it succeeded, and nothing contradicts it.
    Succeeded,
    /// It says it failed, or its exit status does.
    Failed,
    /// The stream ended before the run did.
    Truncated,
    /// A timeout fired before the run was over.
    TimedOut,
}

impl Outcome {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Truncated => "truncated",
            Self::TimedOut => "timed-out",
        }
    }
}

/// What the producer was asked to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One event a line.
    StreamJson,
    /// The single object at the end.
    Json,
}

impl Format {
    /// The name in reports and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::StreamJson => "stream-json",
            Self::Json => "json",
        }
    }
}
