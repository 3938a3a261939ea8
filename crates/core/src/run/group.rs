//! The command's process group: signals to it, its status, and the terminal it may own.

use std::any::Any;
use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::Child;

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getpgrp, getsid, tcgetpgrp, tcsetpgrp};
use rustix::io::Errno;
use rustix::process::{Pid as RawPid, WaitId, WaitIdOptions, waitid};

use super::producer::WholeProcess;
use crate::profile::ExitStatus;

/// A process group and its leader, the command. Dropping it kills what is left of it; if we end
/// before that, its guard does.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    /// Becomes readable when the leader ends, where the system has that.
    end: Option<OwnedFd>,
    guard: Option<Box<dyn Any + Send>>,
    /// Our controlling terminal.
    terminal: Option<File>,
    /// Whether the command has our standard input, and that is a terminal.
    reads_terminal: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        // The leader is reaped last: until then the system does not reuse the group's number.
        self.signal(Signal::SIGKILL);
        self.guard = None;
        self.take_terminal();
        let _ = waitpid(self.leader, None);
    }
}

#[cfg(target_os = "linux")]
fn end_of(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(RawPid::from_child(child), PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_: &Child) -> Option<OwnedFd> {
    None
}

fn open_terminal() -> std::io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

/// What happened to the leader.
pub(super) enum LeaderChange {
    /// Its status is unknown if our host has reaped it.
    Ended(Option<ExitStatus>),
    /// By this signal.
    Stopped(Signal),
    Nothing,
}

impl Group {
    pub(super) fn of(child: &Child, reads_terminal: bool, whole: Option<WholeProcess>) -> Self {
        // Process ids fit: the system's own type is signed.
        let leader = Pid::from_raw(child.id().cast_signed());
        Self {
            leader,
            end: end_of(child),
            guard: whole.and_then(|whole| (whole.guard)(leader.as_raw()).ok()),
            terminal: whole.and_then(|_| open_terminal().ok()),
            reads_terminal,
        }
    }

    /// Sends a signal to every process of the group, if any is left.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = killpg(self.leader, signal);
    }

    /// What happened to the leader since the last call. Does not wait for it or reap it.
    pub(super) fn change(&self) -> LeaderChange {
        let Some(leader) = RawPid::from_raw(self.leader.as_raw()) else {
            return LeaderChange::Nothing;
        };
        let query =
            |options: WaitIdOptions| waitid(WaitId::Pid(leader), options | WaitIdOptions::NOHANG);
        let byte = |number: i32| u8::try_from(number & 0xff).unwrap_or(u8::MAX);
        match query(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Err(Errno::CHILD) => return LeaderChange::Ended(None),
            Ok(Some(ended)) => {
                let code = ended.exit_status().map(|code| ExitStatus::Code(byte(code)));
                let signal = ended.terminating_signal();
                let signal = signal.map(|signal| ExitStatus::Signal(byte(signal)));
                return LeaderChange::Ended(code.or(signal));
            }
            Ok(None) | Err(_) => {}
        }
        let stopped = query(WaitIdOptions::STOPPED).ok().flatten();
        let signal = stopped.and_then(|status| status.stopping_signal());
        let signal = signal.and_then(|signal| Signal::try_from(signal).ok());
        signal.map_or(LeaderChange::Nothing, LeaderChange::Stopped)
    }

    /// Becomes readable when the leader ends, where the system has that.
    pub(super) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(|end| end.as_fd())
    }

    /// Makes the group the terminal's foreground from the start, if the command reads there.
    pub(super) fn give_terminal_to_reader(&self) -> bool {
        self.reads_terminal && self.give_terminal()
    }

    /// Makes the group the terminal's foreground, if that is our own group now.
    pub(super) fn give_terminal(&self) -> bool {
        let Some(terminal) = &self.terminal else { return false };
        let ours = tcgetpgrp(terminal).is_ok_and(|owner| owner == getpgrp());
        let given = ours && tcsetpgrp(terminal, self.leader).is_ok();
        if given {
            // The command may have been stopped because it used the terminal too early.
            self.signal(Signal::SIGCONT);
        }
        given
    }

    /// Whether a shell with job control will resume us when we stop.
    pub(super) fn may_pause(&self) -> bool {
        self.terminal.is_some() && getsid(None).is_ok_and(|session| session != getpgrp())
    }

    /// Stops our own group (a pipeline, a script), as the terminal would have if that group had
    /// been its foreground; returns when we are resumed.
    pub(super) fn stop_ourselves(&self) {
        self.take_terminal();
        let _ = killpg(getpgrp(), Signal::SIGSTOP);
    }

    /// Takes the terminal back for our own group: its other processes may want to read there.
    pub(super) fn take_terminal(&self) {
        let Some(terminal) = &self.terminal else { return };
        if tcgetpgrp(terminal).is_ok_and(|owner| owner == self.leader) {
            // From the background this would stop us.
            let mut writes = SigSet::empty();
            writes.add(Signal::SIGTTOU);
            let _ = writes.thread_block();
            let _ = tcsetpgrp(terminal, getpgrp());
            let _ = writes.thread_unblock();
        }
    }
}
