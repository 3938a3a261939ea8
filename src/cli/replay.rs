//! `replay`: plays a recording as its agent wrote it, with its pace and the faults of real agents.

mod catalogue;

use std::io::{self, Read as _, Write};
use std::path::{self, Path};
use std::thread;
use std::time::Duration;
use std::{env, fs};

use ndjson_check_core::internals::{nearest, profile_entry};
use ndjson_check_core::{Checker, Event, LastEvents, Outcome, ProducerExit};

use super::args::{ReplayArgs, Speed, quoted};
use super::error::CliError;
use super::inputs::contents::one_stream;
use super::inputs::{Input, STDIN};
use super::{exit, print, print_stderr};
use catalogue::Scenario;

/// Between two lines of a stream without times.
const PACE: Duration = Duration::from_millis(50);

/// Bytes of one write, if writes are split: some end inside a character.
const SPLIT_BYTES: usize = 7;

/// Returns the exit status of the recorded agent.
pub(super) fn run(arguments: &ReplayArgs) -> Result<u8, CliError> {
    if arguments.list {
        print(&catalogue::list())?;
        return Ok(exit::SUCCEEDED);
    }
    let Played { stream, status, profile } = recording(arguments)?;
    let profile = profile.as_deref();
    let count = lines(&stream).count();
    for (option, line) in [("--cut-at", arguments.cut_at), ("--stall-at", arguments.stall_at)] {
        if let Some(line) = line.filter(|line| !(1..=count).contains(line)) {
            let message = format!("{option} {line}: the recording has {count} lines");
            return Err(CliError::Usage(message));
        }
    }
    if let Some(folder) = &arguments.install {
        return install(folder, profile, arguments).map(|()| exit::SUCCEEDED);
    }
    flood(arguments.stderr_lines);
    let pauses = match arguments.speed {
        Speed::Max => Vec::new(),
        Speed::Times(speed) => pauses(&stream, profile, speed)?,
    };
    CliError::of_stdout(play(&stream, &pauses, arguments))?;
    if arguments.never_exit {
        wait();
    }
    Ok(arguments.exit.unwrap_or(status))
}

/// What is played.
struct Played {
    stream: Vec<u8>,
    /// The exit status of its agent.
    status: u8,
    /// That of its agent, if it is known.
    profile: Option<String>,
}

fn recording(arguments: &ReplayArgs) -> Result<Played, CliError> {
    let what = arguments.what.as_deref().unwrap_or_default();
    let Some(name) = &arguments.name else {
        let names: Vec<_> = Scenario::of(what).map(|it| it.name).collect();
        if !(names.is_empty() || Path::new(what).exists()) {
            let message = format!("name a recording of {what}: {}", names.join(", "));
            return Err(CliError::Usage(message));
        }
        if let Some(agent) = nearest(what, Scenario::agents()).filter(|_| names.is_empty())
            && !Path::new(what).exists()
        {
            let message = format!("there is no file `{what}`; a similar agent is `{agent}`");
            return Err(CliError::Usage(message));
        }
        let input = if what == STDIN { Input::Stdin } else { Input::Path(what.into()) };
        let mut stream = Vec::new();
        let mut source = one_stream(&input.name(), input.open()?, "replay")?;
        let read = source.read_to_end(&mut stream);
        read.map_err(|error| input.failed(error))?;
        return Ok(of_file(stream));
    };
    let Some(recording) = Scenario::find(what, name) else {
        let hint = similar(what, name).unwrap_or_else(|| ": see replay --list".to_owned());
        return Err(CliError::Usage(format!("there is no recording {what} {name}{hint}")));
    };
    let stream = recording.read().map_err(|error| CliError::output(name, error))?;
    let profile = Some(recording.profile().to_owned());
    Ok(Played { stream, status: recording.status, profile })
}

/// A recorded stream. It has no exit status: an agent that says that its run
/// failed exits with 1.
fn of_file(stream: Vec<u8>) -> Played {
    let checked = || {
        let mut reader = Checker::builder().build()?.reader("replay");
        reader.feed(&stream)?;
        reader.finish(&ProducerExit::default())
    };
    // A file that no profile reads is played all the same.
    let Ok(LastEvents { summary, .. }) = checked() else {
        return Played { stream, status: 0, profile: None };
    };
    if summary.events == 0 {
        return Played { stream, status: 0, profile: None };
    }
    let status = u8::from(summary.outcome == Outcome::Failed);
    Played { stream, status, profile: Some(summary.profile) }
}

/// The recording or the agent that names without a recording may mean.
fn similar(what: &str, name: &str) -> Option<String> {
    let names: Vec<&str> = Scenario::of(what).map(|it| it.name).collect();
    if names.is_empty() {
        let agent = nearest(what, Scenario::agents())?;
        return Some(format!("; a similar agent is `{agent}`"));
    }
    let near = nearest(name, names.into_iter())?;
    Some(format!("; a similar one is `{what} {near}`"))
}

/// How long the agent took before each line.
fn pauses(stream: &[u8], profile: Option<&str>, speed: f64) -> Result<Vec<Duration>, CliError> {
    let checker = Checker::builder().profile(profile.unwrap_or("auto")).build()?;
    let mut reader = checker.reader("replay");
    let mut times = vec![None; lines(stream).count()];
    let mut take = |events: Vec<Event<'static>>| {
        for event in events {
            let line = event.at.line.and_then(|line| usize::try_from(line).ok()?.checked_sub(1));
            if let Some(time) = line.and_then(|line| times.get_mut(line)) {
                *time = time.or(event.at.time_ms);
            }
        }
    };
    // A file that no profile reads is played all the same.
    if let Ok(events) = reader.feed(stream) {
        take(events);
        if let Ok(end) = reader.finish(&ProducerExit::default()) {
            take(end.events);
        }
    }
    let has_times = times.iter().flatten().count() > 1;
    let mut latest = None;
    let pause = |time: Option<u64>| {
        let Some(time) = time else { return Duration::ZERO };
        let before = latest.unwrap_or(time);
        latest = Some(before.max(time));
        Duration::from_millis(time.saturating_sub(before))
    };
    let pauses =
        if has_times { times.into_iter().map(pause).collect() } else { vec![PACE; times.len()] };
    let at_speed = |pause: Duration| {
        Duration::try_from_secs_f64(pause.as_secs_f64() / speed).unwrap_or(Duration::MAX)
    };
    Ok(pauses.into_iter().map(at_speed).collect())
}

/// The lines of a stream, with their terminators.
fn lines(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    stream.split_inclusive(|byte| *byte == b'\n')
}

fn play(stream: &[u8], pauses: &[Duration], arguments: &ReplayArgs) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (number, line) in (1..).zip(lines(stream)) {
        if let Some(pause) = pauses.get(number - 1) {
            thread::sleep(*pause);
        }
        if arguments.stall_at == Some(number) {
            wait();
        }
        if arguments.cut_at == Some(number) {
            return write(&line[..line.len() / 2], arguments.split_writes, &mut out);
        }
        write(line, arguments.split_writes, &mut out)?;
    }
    Ok(())
}

fn write(bytes: &[u8], is_split: bool, out: &mut impl Write) -> io::Result<()> {
    let size = if is_split { SPLIT_BYTES } else { bytes.len().max(1) };
    for piece in bytes.chunks(size) {
        out.write_all(piece)?;
        out.flush()?;
    }
    Ok(())
}

fn flood(lines: u64) {
    for number in 1..=lines {
        print_stderr(&format!("replay: line {number} of standard error"));
    }
}

/// Does nothing more, until a signal ends us.
fn wait() -> ! {
    loop {
        thread::sleep(Duration::from_secs(3_600));
    }
}

/// Writes a script with the name of the agent's command, which does what these arguments say,
/// whatever its own are.
fn install(folder: &Path, profile: Option<&str>, arguments: &ReplayArgs) -> Result<(), CliError> {
    let entry = profile.map(profile_entry).transpose()?;
    let Some(program) = entry.and_then(|entry| entry.program) else {
        return Err(CliError::usage("--install needs a recording of an agent that has a command"));
    };
    if arguments.what.as_deref() == Some(STDIN) {
        return Err(CliError::usage("--install needs a file that can be read again"));
    }
    let mut path = folder.join(program);
    if cfg!(windows) {
        path.set_extension("cmd");
    }
    if path.symlink_metadata().is_ok() && !is_script(&path) {
        let path = path.display();
        return Err(CliError::Usage(format!("{path} exists, and --install did not write it")));
    }
    let written = env::current_exe().and_then(|program| {
        fs::create_dir_all(folder)?;
        let what = named(arguments)?;
        write_script(&path, &script(&program, &what, arguments))
    });
    written.map_err(|error| CliError::output(path.display().to_string(), error))?;
    print(&format!("{} replays {}\n", path.display(), names(arguments)))
}

fn names(arguments: &ReplayArgs) -> String {
    let names = [&arguments.what, &arguments.name];
    names.into_iter().flatten().cloned().collect::<Vec<_>>().join(" ")
}

/// Whether `--install` wrote this file. A link may lead to the agent itself.
fn is_script(path: &Path) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    let text = if is_file { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    text.contains(MARK)
}

/// A comment in each script that `--install` writes.
const MARK: &str = "written by ndjson-check replay --install";

/// The words that name the recording; a script finds a file from any directory.
fn named(arguments: &ReplayArgs) -> io::Result<Vec<String>> {
    let names = [&arguments.what, &arguments.name].into_iter().flatten().cloned();
    if arguments.name.is_some() {
        return Ok(names.collect());
    }
    names.map(|file| Ok(path::absolute(file)?.display().to_string())).collect()
}

fn script_word(word: &str) -> String {
    if cfg!(windows) { format!("\"{}\"", word.replace('%', "%%")) } else { quoted(word) }
}

fn script(program: &Path, what: &[String], arguments: &ReplayArgs) -> String {
    let ReplayArgs {
        speed, cut_at, stall_at, never_exit, split_writes, stderr_lines, exit, ..
    } = arguments;
    let mut options = Vec::new();
    options.push(match speed {
        Speed::Times(times) => format!("--speed={times}"),
        Speed::Max => "--speed=max".to_owned(),
    });
    options.extend(cut_at.map(|line| format!("--cut-at={line}")));
    options.extend(stall_at.map(|line| format!("--stall-at={line}")));
    options.extend(never_exit.then(|| "--never-exit".to_owned()));
    options.extend(split_writes.then(|| "--split-writes".to_owned()));
    options.extend((*stderr_lines > 0).then(|| format!("--stderr-lines={stderr_lines}")));
    options.extend(exit.map(|status| format!("--exit={status}")));
    let program = script_word(&program.display().to_string());
    let what = what.iter().map(|word| script_word(word)).collect::<Vec<_>>().join(" ");
    let options = options.join(" ");
    if cfg!(windows) {
        format!("@rem {MARK}\r\n@{program} replay {what} {options}\r\n")
    } else {
        format!("#!/bin/sh\n# {MARK}\nexec {program} replay {what} {options}\n")
    }
}

#[cfg(unix)]
fn write_script(path: &Path, script: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn write_script(path: &Path, script: &str) -> io::Result<()> {
    fs::write(path, script)
}
