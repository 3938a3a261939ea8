//! The command's process group: signals to it, its status, and the terminal it may own.

use std::any::Any;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getpgrp, getpid, getsid, tcgetpgrp, tcsetpgrp};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid as RawPid, WaitId, WaitIdOptions, waitid};

use super::signals::{outlive_all, to_command};
use super::strays::{self, Stray, kill_all};
use crate::profile::ExitStatus;
use crate::run::producer::{Pipes, WholeProcess};

/// A process group and its leader, the command. Dropping it kills what is left of it; if we end
/// before that, its guard does.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    /// Becomes readable when the leader ends, where the system has that.
    end: Option<OwnedFd>,
    guard: Option<Box<dyn Any + Send>>,
    /// What left the group before it was asked to end.
    strays: RefCell<Vec<Stray>>,
    /// Has a byte for each Ctrl-C that the terminal sent to the group.
    interrupts: Option<ChildStdout>,
    /// Our controlling terminal.
    terminal: Option<File>,
    /// Whether the command has our standard input, and that is a terminal.
    reads_terminal: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        // The leader is reaped last: until then the system does not reuse the group's number.
        self.signal(Signal::SIGKILL);
        kill_all(self.strays.get_mut());
        self.guard = None;
        self.take_terminal();
        let _ = waitpid(self.leader, None);
    }
}

/// Waits, and kills a command's group, to which we belong, and what left it. Until then the pipe
/// gets a byte for each Ctrl-C.
pub fn guard_group(leader: Pid, interrupts: OwnedFd, wait: impl FnOnce()) {
    let _ = outlive_all(interrupts);
    wait();
    kill_all(&strays::find(leader, None, &[]));
    let _ = killpg(leader, Signal::SIGKILL);
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

fn open_terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

pub(crate) enum LeaderChange {
    /// Its status is unknown if our host has reaped it.
    Ended(Option<ExitStatus>),
    /// It was stopped as it used the terminal; it has it now, and goes on.
    HasTerminal,
    /// The terminal stopped it.
    Paused,
    Nothing,
}

impl Group {
    pub(crate) fn start(
        command: &mut Command,
        reads_terminal: bool,
        whole: Option<WholeProcess>,
    ) -> io::Result<(Self, Pipes)> {
        let mut child = command.process_group(0).spawn()?;
        Ok((Self::of(&child, reads_terminal, whole), Pipes::from(&mut child)))
    }

    fn of(child: &Child, reads_terminal: bool, whole: Option<WholeProcess>) -> Self {
        // Process ids fit: the system's own type is signed.
        let leader = Pid::from_raw(child.id().cast_signed());
        let guard = whole.and_then(|whole| (whole.guard)(leader.as_raw()).ok());
        let (guard, interrupts) = guard.unzip();
        let not_blocking = |pipe: &ChildStdout| ioctl_fionbio(pipe, true).is_ok();
        Self {
            leader,
            end: end_of(child),
            guard,
            strays: RefCell::default(),
            interrupts: interrupts.flatten().filter(not_blocking),
            terminal: whole.and_then(|_| open_terminal().ok()),
            reads_terminal,
        }
    }

    /// Asks every process of the group to end, as this signal asks us.
    pub(crate) fn ask_to_end(&self, signal: i32) {
        self.find_strays();
        self.signal(to_command(signal));
        // A stopped process must continue to receive it.
        self.resume();
    }

    /// Also kills what left the group.
    pub(crate) fn kill(&self) {
        self.find_strays();
        self.signal(Signal::SIGKILL);
        kill_all(&self.strays.borrow());
    }

    /// Finds what left the group, as long as the command shows whose it is. It is killed with the
    /// group.
    pub(crate) fn find_strays(&self) {
        let mut strays = self.strays.borrow_mut();
        *strays = strays::find(self.leader, Some(getpid()), &strays);
    }

    /// Stops every process of the group, as Ctrl-Z does. The kernel does not stop a group that no
    /// shell can resume, and neither do we: then it returns false.
    pub(crate) fn suspend(&self) -> bool {
        let may_pause = self.may_pause();
        if may_pause {
            self.signal(Signal::SIGTSTP);
        }
        may_pause
    }

    /// Stops us as the terminal stopped the command, if a shell can resume us; without one the
    /// command goes on. `resumed` gets the length of the pause before the command does. Returns
    /// whether the command has the terminal then.
    pub(crate) fn pause(&self, resumed: impl FnOnce(Duration)) -> bool {
        if !self.may_pause() {
            self.resume();
            return false;
        }
        let begun = Instant::now();
        self.stop_ourselves();
        resumed(begun.elapsed());
        let given = self.give_terminal_to_reader();
        self.resume();
        given
    }

    fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let _ = killpg(self.leader, signal);
    }

    /// What happened to the leader since the last call. Does not wait for it or reap it.
    pub(crate) fn change(&self) -> LeaderChange {
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
        match signal.and_then(|signal| Signal::try_from(signal).ok()) {
            None => LeaderChange::Nothing,
            Some(Signal::SIGTTIN | Signal::SIGTTOU) if self.give_terminal() => {
                LeaderChange::HasTerminal
            }
            // Another process stopped the command, and will resume it.
            Some(signal) if signal != Signal::SIGTSTP && !self.may_pause() => LeaderChange::Nothing,
            Some(_) => LeaderChange::Paused,
        }
    }

    /// Whether the supervisor wakes up when the leader ends.
    pub(crate) fn wakes_at_its_end(&self) -> bool {
        self.end.is_some()
    }

    pub(crate) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(|end| end.as_fd())
    }

    pub(crate) fn interrupts(&self) -> Option<BorrowedFd<'_>> {
        self.interrupts.as_ref().map(|interrupts| interrupts.as_fd())
    }

    /// Whether the group got a Ctrl-C since the last call.
    pub(crate) fn was_interrupted(&mut self) -> bool {
        let Some(interrupts) = &mut self.interrupts else { return false };
        match interrupts.read(&mut [0; 64]) {
            // The guard has ended.
            Ok(0) => {
                self.interrupts = None;
                false
            }
            read => read.is_ok(),
        }
    }

    /// Makes the group the terminal's foreground from the start, if the command reads there.
    pub(crate) fn give_terminal_to_reader(&self) -> bool {
        self.reads_terminal && self.give_terminal()
    }

    /// Makes the group the terminal's foreground, if that is our own group now.
    fn give_terminal(&self) -> bool {
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
    fn may_pause(&self) -> bool {
        self.terminal.is_some() && getsid(None).is_ok_and(|session| session != getpgrp())
    }

    /// Stops our own group (a pipeline, a script), as the terminal would have if that group had
    /// been its foreground; returns when we are resumed.
    fn stop_ourselves(&self) {
        self.take_terminal();
        let _ = killpg(getpgrp(), Signal::SIGSTOP);
    }

    /// Takes the terminal back for our own group: its other processes may want to read there.
    fn take_terminal(&self) {
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
