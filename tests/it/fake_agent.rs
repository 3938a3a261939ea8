//! The fake agent, which works on every system: how it is started, and what it leaves behind.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use crate::streams::{program, root};

pub(crate) const GOOD: &str = "fixtures/agents/cursor/plain.ndjson";

/// How a command ends that we ask to, if it does not handle that. Wine 8 has no Ctrl-Break: there
/// the command is killed at once.
pub(crate) const ASKED: &str = if cfg!(windows) { "signal " } else { "signal 15" };

/// How long a run may take here before it counts as one that hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(60);

/// The fake agent: that of the variable `FAKE_AGENT`, or compiled now.
pub(crate) fn agent() -> &'static Path {
    static AGENT: OnceLock<PathBuf> = OnceLock::new();
    AGENT.get_or_init(|| {
        if let Some(agent) = env::var_os("FAKE_AGENT") {
            return agent.into();
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        let agent = folder.join(format!("fake-agent{}", env::consts::EXE_SUFFIX));
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-o"]).arg(&agent);
        let source = root().join("tests/support/fake_agent.rs");
        assert!(rustc.arg(source).status().unwrap().success());
        agent
    })
}

/// The fake agent under another name: a link, as a new file cannot start while a child has it.
pub(crate) fn agent_called(name: &str, folder: &Path) -> PathBuf {
    let file = folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
    if !file.exists() {
        #[cfg(unix)]
        std::os::unix::fs::symlink(agent(), &file).unwrap();
        #[cfg(not(unix))]
        fs::copy(agent(), &file).unwrap();
    }
    file
}

/// Runs the program on the fake agent.
pub(crate) fn run(flags: &[&str], arguments: &[&str]) -> Output {
    ended(start(flags, arguments))
}

pub(crate) fn start(flags: &[&str], arguments: &[&str]) -> Child {
    let mut command = program();
    command.args(flags).arg("--").arg(agent()).args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end; a run that hangs is killed.
pub(crate) fn ended(mut child: Child) -> Output {
    let id = child.id();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let stderr = thread::spawn(move || {
        let mut bytes = Vec::new();
        err.read_to_end(&mut bytes).map(|_| bytes)
    });
    let stdout = thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("process {id} hangs");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let (stdout, stderr) = (stdout.join().unwrap().unwrap(), stderr.join().unwrap().unwrap());
    Output { status, stdout, stderr }
}

/// Whether the process that held this file has ended, or ends within some seconds.
pub(crate) fn is_released(held: &Path) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if !is_held(held) {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

pub(crate) fn is_held(file: &Path) -> bool {
    File::options().write(true).open(file).unwrap().try_lock().is_err()
}
