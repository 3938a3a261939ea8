//! Running an agent: its command in its own process group, timers, its standard error, and the
//! [`Event`](crate::check::Event)s of its stream as they come.

pub(crate) mod blocking_file;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod group;
#[cfg(unix)]
pub(crate) mod pause;
#[cfg(unix)]
pub(crate) mod producer;
#[cfg(unix)]
pub(crate) mod signals;
#[cfg(unix)]
mod stderr;
#[cfg(unix)]
pub(crate) mod stream;
#[cfg(unix)]
mod supervisor;
#[cfg(unix)]
pub(crate) mod watch;

#[cfg(unix)]
pub use command::{AgentRun, Command, Stdin, Stopper};
