//! Windows: Job Objects, console events, threads that read.

mod console;
mod files;
mod group;
mod program;
mod signals;
mod source;
mod system;
mod wait;

pub(super) use files::{READABLE, Standard, Stream, WRITABLE, duplicate, enlarge, wait_until};
pub(super) use group::{Group, LeaderChange};
pub(super) use program::{called, program};
pub(super) use signals::{INTERRUPT, PAUSE, Signals, TERMINATE, repeats, time_to_end};
pub(super) use source::{Stop, StoppableSource, stoppable};
pub(super) use wait::{Wake, Waker, wait, wait_for_signal, waker};
