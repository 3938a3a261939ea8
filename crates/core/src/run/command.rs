//! A command whose standard output is the stream of an agent.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::{self, Stdio};
use std::thread;
use std::time::Duration;

use super::agent_run::AgentRun;
use super::platform;
use super::producer::{Producer, StderrCopy, Timers};
use crate::check::Checker;
use crate::error::Error;
use crate::profile::CallKind;

/// What a command reads from its standard input.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// This text, and then nothing.
    Text(String),
    /// These bytes, and then nothing.
    Bytes(Vec<u8>),
    /// What this process would read.
    Inherit,
    /// What is written to the input that [`AgentRun::take_stdin`] returns.
    Open,
}

/// A command that runs an agent.
///
/// It gets its own process group, on Windows a Job Object. Everything in it ends with the run: when
/// a time is over, when a limit of the [`Checker`] is exceeded, when it is stopped, or when the
/// [`AgentRun`] is dropped. No signal of this process is caught, and nothing is written to its
/// outputs.
pub struct Command {
    name: String,
    inner: process::Command,
    stdin: Stdin,
    timers: Timers,
    /// If it is not the default.
    exit_grace: Option<Duration>,
    stdout: Option<Box<dyn Write + Send>>,
    stderr: Option<Box<dyn Write + Send>>,
}

impl fmt::Debug for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(out)
    }
}

impl Command {
    /// A command without arguments, with the environment and the directory of this process.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref();
        Self {
            name: platform::called(program).to_string_lossy().into_owned(),
            inner: process::Command::new(platform::program(program)),
            stdin: Stdin::default(),
            timers: Timers::default(),
            exit_grace: None,
            stdout: None,
            stderr: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.inner.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.inner.args(args);
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(key, value);
        self
    }

    /// Sets variables of the environment.
    #[must_use]
    pub fn envs(
        mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> Self {
        self.inner.envs(variables);
        self
    }

    /// Removes all variables of the environment.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.inner.env_clear();
        self
    }

    /// Removes a variable of the environment.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.inner.env_remove(key);
        self
    }

    /// Sets the directory in which it works.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.inner.current_dir(directory);
        self
    }

    /// Sets what it reads. The default is nothing.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Passes the bytes of its stream on to this writer before they are checked, such as to keep
    /// the recording. After an error of the writer the run goes on, and gives it nothing more.
    #[must_use]
    pub fn stdout(mut self, writer: impl Write + Send + 'static) -> Self {
        self.stdout = Some(Box::new(writer));
        self
    }

    /// Passes its standard error on to this writer, until that fails. If the run does not succeed,
    /// the last lines are also in the summary.
    #[must_use]
    pub fn stderr(mut self, writer: impl Write + Send + 'static) -> Self {
        self.stderr = Some(Box::new(writer));
        self
    }

    /// Stops a run that takes longer.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timers.timeout = Some(limit);
        self
    }

    /// Stops a run without an event for longer than this, while no call is open. Agents that show
    /// calls only when these have ended have no such timeout.
    #[must_use]
    pub fn idle_timeout(mut self, limit: Duration) -> Self {
        self.timers.idle = Some(limit);
        self
    }

    /// Stops a run in which a call of this kind, or of any kind without an own limit, takes longer.
    /// Agents that show calls only when these have ended have no such timeout.
    #[must_use]
    pub fn call_timeout(mut self, kind: Option<CallKind>, limit: Duration) -> Self {
        self.timers.calls.push((kind, limit));
        self
    }

    /// Stops a command that runs on for longer after its terminal event. The default is 10 s; with
    /// [`Stdin::Inherit`] there is none for a command that reads messages by its flag, such as
    /// `--input-format stream-json`. If the agent waits for work in the background, the time begins
    /// after that, as far as the stream shows its end.
    #[must_use]
    pub fn exit_grace(mut self, limit: Duration) -> Self {
        self.exit_grace = Some(limit);
        self
    }

    fn grace(&self) -> Duration {
        let waits_for_input =
            matches!(self.stdin, Stdin::Inherit) && Producer::reads_messages(self.inner.get_args());
        let default = if waits_for_input { Duration::MAX } else { self.timers.grace };
        self.exit_grace.unwrap_or(default)
    }

    /// Starts it. Its stream is named after the program.
    ///
    /// # Errors
    ///
    /// When the program cannot be started, or its directory does not exist.
    pub fn spawn(mut self, checker: &Checker) -> Result<AgentRun, Error> {
        self.timers.grace = self.grace();
        let input = match self.stdin {
            Stdin::Null => (Stdio::null(), None),
            Stdin::Inherit => (Stdio::inherit(), None),
            Stdin::Text(text) => (Stdio::piped(), Some(text.into_bytes())),
            Stdin::Bytes(bytes) => (Stdio::piped(), Some(bytes)),
            Stdin::Open => (Stdio::piped(), None),
        };
        self.inner.stdin(input.0);
        let copy = StderrCopy { out: self.stderr, redactor: None };
        let started = Producer::start(&mut self.inner, false, self.timers, copy, None);
        let failed = |source| not_started(&self.inner, source);
        let (mut producer, source) = started.map_err(failed)?;
        let mut stdin = producer.stdin.take();
        if let Some((mut stdin, bytes)) = input.1.and_then(|bytes| Some((stdin.take()?, bytes))) {
            // A command that does not read must not block us. One that closes it has read enough.
            let write = move || stdin.write_all(&bytes);
            thread::Builder::new().spawn(write).map_err(failed)?;
        }
        let reader = checker.reader(&self.name);
        Ok(AgentRun::new(self.name, reader, (producer, source), stdin, self.stdout))
    }
}

/// The system reports a missing directory as a missing program.
fn not_started(command: &process::Command, source: io::Error) -> Error {
    let directory = command.get_current_dir().filter(|directory| !directory.is_dir());
    let source = match directory {
        Some(directory) => {
            let message = format!("there is no directory {}", directory.display());
            io::Error::new(source.kind(), message)
        }
        None => source,
    };
    let program = command.get_program().to_string_lossy().into_owned();
    Error::Start { program, source: source.into() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Command, Stdin};

    #[test]
    fn a_command_that_reads_our_messages_may_linger() {
        let reader = || Command::new("agent").args(["--input-format", "stream-json"]);
        let default = Command::new("agent").stdin(Stdin::Inherit).grace();
        assert!(default < Duration::from_secs(60));
        assert_eq!(reader().grace(), default);
        assert_eq!(reader().stdin(Stdin::Inherit).grace(), Duration::MAX);
        let limit = Duration::from_secs(3);
        assert_eq!(reader().stdin(Stdin::Inherit).exit_grace(limit).grace(), limit);
    }
}
