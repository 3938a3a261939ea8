//! Running an agent: its command with all its processes, timers, its standard error, and the
//! [`Event`](crate::check::Event)s of its stream as they come.

mod agent_run;
pub(crate) mod blocking_file;
mod command;
mod conversation;
mod measured;
mod messages;
pub(crate) mod pause;
// The same functions for each system; nothing else in this folder knows on which one it runs.
#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
pub(crate) mod platform;
pub(crate) mod producer;
mod stderr;
pub(crate) mod stream;
mod supervisor;
pub(crate) mod watch;

pub use agent_run::{AgentRun, Stopper};
pub use command::{Command, Stdin};
pub use conversation::{AgentStdin, TurnEvents};
