//! The command's Job Object, which holds all that it starts.

use std::cell::Cell;
use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    STATUS_ACCESS_VIOLATION, STATUS_CONTROL_C_EXIT, STATUS_HEAP_CORRUPTION,
    STATUS_ILLEGAL_INSTRUCTION, STATUS_INTEGER_DIVIDE_BY_ZERO, STATUS_STACK_BUFFER_OVERRUN,
    STATUS_STACK_OVERFLOW,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW, CREATE_SUSPENDED,
};

use super::signals::INTERRUPT;
use super::system::{self, Job};
use crate::profile::ExitStatus;
use crate::run::producer::{Pipes, WholeProcess};

// The signals of other systems.
const SIGINT: u8 = 2;
const SIGKILL: u8 = 9;
const SIGTERM: u8 = 15;

/// The exit code of a process that we end: what a shell says of SIGKILL.
const KILLED: u32 = 128 + SIGKILL as u32;

/// How long the end of a command that we killed may take.
const DEATH_WAIT: Duration = Duration::from_secs(2);

/// What other systems call the end of a process that did something impossible: the signals SIGSEGV,
/// SIGABRT, SIGILL and SIGFPE.
const CRASHES: [(i32, u8); 6] = [
    (STATUS_ACCESS_VIOLATION, 11),
    (STATUS_STACK_OVERFLOW, 11),
    (STATUS_STACK_BUFFER_OVERRUN, 6),
    (STATUS_HEAP_CORRUPTION, 6),
    (STATUS_ILLEGAL_INSTRUCTION, 4),
    (STATUS_INTEGER_DIVIDE_BY_ZERO, 8),
];

/// A command in its Job Object. Dropping it kills what is left there; if we end before that, the
/// system does.
#[derive(Debug)]
pub(crate) struct Group {
    job: Job,
    leader: OwnedHandle,
    /// Also the number of its process group.
    id: u32,
    /// The signal that the command would have got elsewhere when it was asked to end.
    asked: Cell<Option<u8>>,
    was_killed: Cell<bool>,
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        system::wait_for_any(&[self.leader()], Some(DEATH_WAIT));
    }
}

pub(crate) enum LeaderChange {
    Ended(Option<ExitStatus>),
    #[expect(dead_code, reason = "only terminals of Unix stop a program that reads")]
    HasTerminal,
    #[expect(dead_code, reason = "a console stops no program")]
    Paused,
    Nothing,
}

impl Group {
    /// Starts a command in a new Job Object, before it can start anything itself.
    pub(crate) fn start(
        command: &mut Command,
        _reads_terminal: bool,
        _whole: Option<WholeProcess>,
    ) -> io::Result<(Self, Pipes)> {
        let job = Job::new()?;
        // Only Ctrl-Break reaches a new process group, and we decide when.
        let mut flags = CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP;
        if !system::has_console() {
            // A program with a window does not want that of a console.
            flags |= CREATE_NO_WINDOW;
        }
        let mut child = command.creation_flags(flags).spawn()?;
        let begun = job.assign(child.as_handle()).and_then(|()| system::resume(child.id()));
        if let Err(error) = begun {
            let _ = child.kill();
            return Err(error);
        }
        let pipes = Pipes::from(&mut child);
        let (id, leader) = (child.id(), OwnedHandle::from(child));
        let (asked, was_killed) = (Cell::new(None), Cell::new(false));
        Ok((Self { job, leader, id, asked, was_killed }, pipes))
    }

    /// Nothing leaves a Job Object.
    #[expect(clippy::unused_self, reason = "the same function as on other systems")]
    pub(crate) fn find_strays(&self) {}

    /// The console sends Ctrl-C to us, too.
    #[expect(clippy::unused_self, reason = "the same function as on other systems")]
    pub(crate) fn was_interrupted(&mut self) -> bool {
        false
    }

    /// Asks every process of the group to end, if a console lets us.
    pub(crate) fn ask_to_end(&self, signal: i32) {
        let signal = if signal == INTERRUPT { SIGINT } else { SIGTERM };
        self.asked.set(self.asked.get().or(Some(signal)));
        if system::send_break(self.id).is_err() {
            // There is no other way to ask.
            self.kill();
        }
    }

    pub(crate) fn kill(&self) {
        self.was_killed.set(true);
        self.job.terminate(KILLED);
    }

    /// Set when the command ends.
    pub(super) fn leader(&self) -> BorrowedHandle<'_> {
        self.leader.as_handle()
    }

    /// What happened to the command since the last call.
    pub(crate) fn change(&self) -> LeaderChange {
        match system::exit_code(self.leader()) {
            Ok(None) => LeaderChange::Nothing,
            Ok(Some(code)) => LeaderChange::Ended(Some(self.status(code))),
            Err(_) => LeaderChange::Ended(None),
        }
    }

    /// The status in the terms of all systems.
    fn status(&self, code: u32) -> ExitStatus {
        let signal = CRASHES.iter().find(|(status, _)| *status == code.cast_signed());
        match signal {
            Some((_, signal)) => ExitStatus::Signal(*signal),
            None if code == KILLED && self.was_killed.get() => ExitStatus::Signal(SIGKILL),
            // It does not handle Ctrl-C or Ctrl-Break.
            None if code.cast_signed() == STATUS_CONTROL_C_EXIT => {
                ExitStatus::Signal(self.asked.get().unwrap_or(SIGINT))
            }
            // A larger code must not become a success.
            None => ExitStatus::Code(u8::try_from(code).unwrap_or(u8::MAX)),
        }
    }
}

/// What needs nothing to be done here.
#[expect(clippy::unused_self, reason = "the same functions as on other systems")]
impl Group {
    /// A console stops no program.
    pub(crate) fn suspend(&self) -> bool {
        false
    }

    /// A console stops no program.
    pub(crate) fn pause(&self, _resumed: impl FnOnce(Duration)) -> bool {
        false
    }

    /// The command may read from the console without more.
    pub(crate) fn give_terminal_to_reader(&self) -> bool {
        false
    }

    /// Whether the supervisor wakes up when the command ends.
    pub(crate) fn wakes_at_its_end(&self) -> bool {
        true
    }
}
