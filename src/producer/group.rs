//! The command's process group: signals to it, its status, and the terminal it may own.

use std::io;
use std::process::Child;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

use crate::end::Status;

/// A process group and its leader, the command.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    /// Whether the command has our standard input, and may want to read a terminal.
    reads_stdin: bool,
}

/// What happened to the leader.
pub(super) enum Change {
    Ended(Status),
    /// It was stopped; by the terminal because it reads there in the background, or by a person.
    Stopped {
        wants_terminal: bool,
    },
    Nothing,
}

impl Group {
    pub(super) fn of(child: &Child, no_stdin: bool) -> Self {
        // Process ids fit: the system's own type is signed.
        let leader = Pid::from_raw(child.id().cast_signed());
        Self { leader, reads_stdin: !no_stdin }
    }

    /// Sends a signal to every process of the group; one that has gone is none of our business.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = killpg(self.leader, signal);
    }

    /// What happened to the leader since the last time, without waiting for it.
    pub(super) fn change(&self) -> Change {
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        loop {
            return match waitpid(self.leader, Some(flags)) {
                Err(Errno::EINTR) => continue,
                Ok(WaitStatus::Exited(_, code)) => {
                    Change::Ended(Status::Code(u8::try_from(code & 0xff).unwrap_or(u8::MAX)))
                }
                Ok(WaitStatus::Signaled(_, signal, _)) => {
                    Change::Ended(Status::Signal(u8::try_from(signal as i32).unwrap_or(u8::MAX)))
                }
                Ok(WaitStatus::Stopped(_, signal)) => Change::Stopped {
                    wants_terminal: matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU),
                },
                Ok(_) | Err(_) => Change::Nothing,
            };
        }
    }

    /// Makes the group the terminal's foreground, if the command reads there and the terminal is
    /// ours to give; true if it was.
    pub(super) fn give_terminal(&self) -> bool {
        let stdin = io::stdin();
        let ours = self.reads_stdin && tcgetpgrp(&stdin).is_ok_and(|owner| owner == getpgrp());
        let given = ours && tcsetpgrp(&stdin, self.leader).is_ok();
        if given {
            // It may have tried to read before the terminal was its own.
            self.signal(Signal::SIGCONT);
        }
        given
    }

    /// Whether the terminal's foreground is the group's.
    pub(super) fn owns_terminal(&self) -> bool {
        tcgetpgrp(io::stdin()).is_ok_and(|owner| owner == self.leader)
    }

    /// Takes the terminal back: whoever started us may want to read there.
    pub(super) fn take_terminal(&self) {
        if self.owns_terminal() {
            // From the background this would stop us.
            let mut writes = SigSet::empty();
            writes.add(Signal::SIGTTOU);
            let _ = writes.thread_block();
            let _ = tcsetpgrp(io::stdin(), getpgrp());
            let _ = writes.thread_unblock();
        }
    }
}
