//! A stand-in for an agent that works on every system: does what its arguments say, one after the
//! other. The tests compile it with `rustc` alone; it is no part of the workspace.

use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

fn main() {
    let mut arguments = env::args().skip(1);
    while let Some(verb) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match &*verb {
            "emit" => out(&fs::read(value()).unwrap()),
            // So many lines, or those behind them.
            "head" => out(halves(&value(), &value()).0.as_bytes()),
            "tail" => out(halves(&value(), &value()).1.as_bytes()),
            "say" => out(value().as_bytes()),
            "flood" => loop {
                out(b"{\"type\":\"user\"}\n");
            },
            // One byte at a time, without an end: no sign of life.
            "dribble" => loop {
                sleep("0.05");
                out(b" ");
            },
            "sleep" => sleep(&value()),
            "stderr" => eprintln!("{}", value()),
            "flood-stderr" => eprintln!("{}", "e".repeat(value().parse().unwrap())),
            // Holds a lock on a file as long as it lives: a test sees when it has ended.
            "hold" => hold(&value()),
            // A child that holds a file, and sleeps.
            "child" => drop(child(&["hold", &value(), "sleep", "60"])),
            // The same, and the child between us and it ends.
            "orphan" => drop(child(&["child", &value()]).wait()),
            // A child that leaves our group where it can.
            "escapee" => drop(child(&["escape", "hold", &value(), "sleep", &value()])),
            "escape" => system::escape(),
            "wait-for" => wait_for(&value()),
            "ignore" => system::ignore(),
            "close-stdout" => system::close_stdout(),
            "hear" => {
                let mut line = String::new();
                io::stdin().lock().read_line(&mut line).unwrap();
                eprintln!("heard <{}>", line.trim_end());
            }
            "read-stdin" => drop(io::stdin().read_to_end(&mut Vec::new())),
            "count-stdin" => eprintln!("{} bytes", io::stdin().bytes().count()),
            "variable" => {
                let name = value();
                eprintln!("{name} is {:?}", env::var(&name).ok());
            }
            "abort" => std::process::abort(),
            "exit" => std::process::exit(value().parse().unwrap()),
            "kill" => system::kill(&value()),
            // What stands before `then` is for the first attempts, which a file counts.
            "first" => {
                let (attempts, file): (usize, _) = (value().parse().unwrap(), value());
                let before = fs::read_to_string(&file).unwrap_or_default();
                fs::write(&file, format!("{before}\n")).unwrap();
                if before.len() >= attempts {
                    while value() != "then" {}
                }
            }
            "then" => return,
            other => panic!("what is {other}?"),
        }
    }
}

fn out(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(141);
    }
}

/// The file in two, behind so many lines.
fn halves(lines: &str, file: &str) -> (String, String) {
    let (stream, lines) = (fs::read_to_string(file).unwrap(), lines.parse().unwrap());
    let mut all = stream.split_inclusive('\n');
    (all.by_ref().take(lines).collect(), all.collect())
}

fn sleep(seconds: &str) {
    thread::sleep(Duration::from_secs_f64(seconds.parse().unwrap()));
}

fn hold(path: &str) {
    let file = File::create(path).unwrap();
    file.lock().unwrap();
    fs::write(format!("{path}.held"), "").unwrap();
    std::mem::forget(file);
}

fn wait_for(path: &str) {
    while !fs::exists(path).unwrap() {
        thread::sleep(Duration::from_millis(5));
    }
}

/// It has our outputs, and no input.
fn child(arguments: &[&str]) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    let child = system::detached(command.args(arguments).stdin(Stdio::null())).spawn().unwrap();
    if let Some(at) = arguments.iter().position(|it| *it == "hold") {
        wait_for(&format!("{}.held", arguments[at + 1]));
    }
    child
}

#[cfg(unix)]
mod system {
    use std::os::fd::{FromRawFd as _, OwnedFd};
    use std::process::Command;

    unsafe extern "C" {
        fn raise(number: i32) -> i32;
        fn setsid() -> i32;
        fn signal(number: i32, handler: usize) -> usize;
    }

    pub fn detached(command: &mut Command) -> &mut Command {
        command
    }

    pub fn escape() {
        // SAFETY: it takes nothing.
        unsafe { setsid() };
    }

    pub fn ignore() {
        const SIGTERM: i32 = 15;
        const SIG_IGN: usize = 1;
        // SAFETY: the handler is one that the system knows.
        unsafe { signal(SIGTERM, SIG_IGN) };
    }

    pub fn kill(signal: &str) {
        let number = match signal {
            "KILL" => 9,
            "SEGV" => 11,
            other => panic!("what is {other}?"),
        };
        // SAFETY: it takes a number.
        unsafe { raise(number) };
    }

    pub fn close_stdout() {
        // SAFETY: nothing is written to it afterwards.
        drop(unsafe { OwnedFd::from_raw_fd(1) });
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
    use std::os::windows::process::CommandExt as _;
    use std::process::Command;

    const DETACHED_PROCESS: u32 = 8;
    const CREATE_NEW_PROCESS_GROUP: u32 = 512;

    unsafe extern "system" {
        fn SetConsoleCtrlHandler(handler: unsafe extern "system" fn(u32) -> i32, add: i32) -> i32;
    }

    unsafe extern "system" fn handled(_: u32) -> i32 {
        1
    }

    /// As Node starts a process that is to outlive it.
    pub fn detached(command: &mut Command) -> &mut Command {
        command.creation_flags(DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP)
    }

    /// Nothing more can be done.
    pub fn escape() {}

    /// The tests ask for signals on Unix alone.
    pub fn kill(signal: &str) {
        panic!("what is {signal}?");
    }

    pub fn ignore() {
        // SAFETY: the handler is a function of this program.
        unsafe { SetConsoleCtrlHandler(handled, 1) };
    }

    pub fn close_stdout() {
        // SAFETY: nothing is written to it afterwards.
        drop(unsafe { OwnedHandle::from_raw_handle(io::stdout().as_raw_handle()) });
    }
}
