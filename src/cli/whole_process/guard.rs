//! A process of our own that kills the command's group, and what left it, if we end without doing
//! so: by SIGKILL, by a fault, or because memory is over.
//!
//! The guard reads a pipe whose other end only we have. Its end is our end, whatever the reason.
//! It is in the command's group: the terminal that the command reads sends Ctrl-C to that group
//! only, and the guard passes this on to us.

use std::any::Any;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use nix::unistd::Pid;

use ndjson_check_core::internals::run::guard_group;

/// The first argument of a guard; the second is the number of the group.
const GUARD: &str = "--guard-process-group";

/// Our program, even if its file was replaced since.
const OURSELVES: &str = "/proc/self/exe";

/// Dropping it ends the guard, and not the group.
#[derive(Debug)]
struct Guard(Child);

pub(crate) fn start(group: i32) -> io::Result<(Box<dyn Any + Send>, Option<ChildStdout>)> {
    let mut guard = Guard::of(group)?;
    let interrupts = guard.0.stdout.take();
    Ok((Box::new(guard), interrupts))
}

impl Guard {
    fn of(group: i32) -> io::Result<Self> {
        let ours = Path::new(OURSELVES);
        let ours = if ours.exists() { ours.to_owned() } else { std::env::current_exe()? };
        let mut guard = Command::new(ours);
        guard.arg0(env!("CARGO_PKG_NAME")).arg(GUARD).arg(group.to_string());
        guard.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        guard.process_group(group).spawn().map(Self)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) struct GuardedGroup(Pid);

/// The group to guard, if these are the arguments of a guard.
pub(crate) fn guarded_group(arguments: &[OsString]) -> Option<GuardedGroup> {
    let [_, flag, group] = arguments else { return None };
    let group: i32 = group.to_str().filter(|_| flag == GUARD)?.parse().ok()?;
    // The numbers below mean our own group, and all processes.
    (group > 1).then(|| GuardedGroup(Pid::from_raw(group)))
}

impl GuardedGroup {
    /// Waits until our parent has ended, and kills the group.
    pub(crate) fn guard(self) {
        let Ok(interrupts) = io::stdout().as_fd().try_clone_to_owned() else { return };
        guard_group(self.0, interrupts, || {
            // So that `killall -KILL ndjson-check` does not end the guard, too.
            let _ = fs::write("/proc/self/comm", "run-guard");
            let _ = io::stdin().read_to_end(&mut Vec::new());
        });
    }
}
