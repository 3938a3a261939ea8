//! Processes that a command started and that left its group, as agents do with the commands of
//! their calls. They are found in `/proc`; where the system has none, none are found.

use std::collections::HashSet;
use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

/// A process outside the group. The time of its start distinguishes it from a later process with
/// its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stray {
    id: i32,
    start: u64,
}

struct Process {
    stray: Stray,
    parent: i32,
    group: i32,
}

/// The descendants of the leader that are not in its group, and those of known strays. `parent` is
/// the parent of the leader, if that is known: a later process with its number has another one.
pub(crate) fn find(leader: Pid, parent: Option<Pid>, known: &[Stray]) -> Vec<Stray> {
    let (processes, leader) = (processes(), leader.as_raw());
    let is_leader = |process: &Process| match parent {
        _ if process.stray.id != leader => false,
        Some(parent) => process.parent == parent.as_raw(),
        None => process.group == leader,
    };
    let is_known = |process: &&Process| is_leader(process) || known.contains(&process.stray);
    let mut family: HashSet<i32> =
        processes.iter().filter(is_known).map(|it| it.stray.id).collect();
    let mut count = 0;
    while count < family.len() {
        count = family.len();
        let children = processes.iter().filter(|it| family.contains(&it.parent));
        let children: Vec<i32> = children.map(|it| it.stray.id).collect();
        family.extend(children);
    }
    let outside = processes.iter().filter(|it| it.group != leader);
    outside.map(|it| it.stray).filter(|it| family.contains(&it.id)).collect()
}

pub(crate) fn kill_all(strays: &[Stray]) {
    let running = processes();
    for stray in running.iter().map(|it| it.stray).filter(|it| strays.contains(it)) {
        let _ = kill(Pid::from_raw(stray.id), Signal::SIGKILL);
    }
}

fn processes() -> Vec<Process> {
    // In the `/proc` of another namespace the numbers are those of other processes.
    let own = fs::read_link("/proc/self").unwrap_or_default();
    if own.to_str() != Some(&*getpid().to_string()) {
        return Vec::new();
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(process).collect()
}

/// `proc_pid_stat(5)`: what follows the name in brackets, which may have spaces and brackets.
fn process(id: i32) -> Option<Process> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, values) = text.rsplit_once(')')?;
    let values: Vec<&str> = values.split_whitespace().collect();
    let number = |at: usize| values.get(at)?.parse().ok();
    let start = values.get(19)?.parse().ok()?;
    Some(Process { stray: Stray { id, start }, parent: number(1)?, group: number(2)? })
}
