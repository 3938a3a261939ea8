//! What is known of the producer when its stream ends, beyond what the stream says.

use std::time::Duration;

/// How the producer ended, and what happened around it. The default knows nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct End {
    /// Its exit status, where it is known.
    pub status: Option<Status>,
    /// It was ended by us, for this reason; its status is then no word of its own.
    pub stopped: Option<Stop>,
    /// Somebody sent us a signal, which was passed on to it.
    pub interrupted: bool,
    /// A descendant of it kept the stream open after its end.
    pub pipe_held: bool,
    /// The last lines it wrote to standard error; none where that is not known.
    pub stderr: Option<Vec<String>>,
}

/// An exit status, as the system gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(u8),
    /// This signal ended it.
    Signal(u8),
}

impl Status {
    /// Whether it says that the command succeeded.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    /// As a shell gives it: a signal is 128 more than its number.
    pub fn shell_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }
}

/// Why a producer was ended, or given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It lived on after its terminal event; no defect.
    Lingered,
    /// It took longer in all than it was given.
    Timeout {
        /// What it was given.
        limit: Duration,
        /// The lines that started the open calls, and for how long these had been open.
        open: Vec<(u64, Duration)>,
    },
    /// No event came for longer than it was given, and no call was open.
    Idle {
        /// What it was given.
        limit: Duration,
    },
}

impl Stop {
    /// Whether a timeout fired.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Lingered => false,
            Self::Timeout { .. } | Self::Idle { .. } => true,
        }
    }
}
