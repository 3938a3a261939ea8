//! Whether a run under a fault told the truth.

use super::run::{Fault, Left, Scenario};

/// Calls that the program repeats, or waits for, until they succeed: nothing may change.
const REPEATED: [(&str, &str); 8] = [
    ("read", "EINTR"),
    ("write", "EINTR"),
    ("openat", "EINTR"),
    ("ppoll", "EINTR"),
    ("poll", "EINTR"),
    ("wait4", "EINTR"),
    ("waitid", "EINTR"),
    ("recvfrom", "EINTR"),
];

/// The exit codes that say that something was not done.
const FAILURES: [i32; 3] = [2, 126, 127];
/// Memory is over: the runtime aborts.
const ABORTED: i32 = -6;

/// What is wrong with what a run left, if anything.
pub(super) fn fault_of(
    scenario: &Scenario,
    fault: Fault,
    clean: &Left,
    left: &Left,
) -> Option<String> {
    if left.hung {
        return Some("it hangs".to_owned());
    }
    // A process that aborts cannot end the command it supervises.
    let is_aborted = left.code == Some(ABORTED) && matches!(fault, Fault::Allocation(_));
    if left.processes > 0 && !is_aborted {
        return Some(format!("{} processes survive", left.processes));
    }
    for text in [&left.stdout, &left.stderr] {
        // A thread of ours that gets no stack for its signals: the runtime's own words.
        let is_ours = !text.contains("failed to allocate an alternative stack");
        if text.contains("panicked at") && is_ours {
            return Some(format!("it panics: {text}"));
        }
    }
    // The names of pages have numbers, and a stream may be missing.
    let is_expected = |name: &str| {
        let is_page = name.starts_with("report.pages/0");
        // An abort in the moment in which a file gets its name: the page lists it.
        let is_of_abort = left.code == Some(ABORTED) && name.contains(".ndjson-check-");
        clean.files.contains_key(name) || is_page || is_of_abort
    };
    if let Some(name) = left.files.keys().find(|name| !is_expected(name)) {
        return Some(format!("the file {name} is left"));
    }
    let same = is_same(scenario, fault, clean, left);
    let Err(difference) = same else { return None };
    let must_repeat = match fault {
        Fault::Call(name, error, _) => REPEATED.contains(&(name, error)),
        _ => matches!(fault, Fault::Pieces),
    };
    if must_repeat {
        return Some(format!("it must go on as if nothing had happened: {difference}"));
    }
    if left.code == clean.code && !clean.code.is_some_and(|code| FAILURES.contains(&code)) {
        return Some(format!("the exit code hides it: {difference}"));
    }
    failure_is_clear(fault, clean, left)
}

/// What a failed run must say, and must not.
fn failure_is_clear(fault: Fault, clean: &Left, left: &Left) -> Option<String> {
    let code = left.code.unwrap_or_default();
    let may_abort = matches!(fault, Fault::Allocation(_) | Fault::Call(_, "ENOMEM", _));
    if !(FAILURES.contains(&code) || may_abort && code == ABORTED) {
        return Some(format!("exit code {code} instead of {:?}", clean.code));
    }
    let is_silent_allowed = matches!(fault, Fault::Call("write", ..));
    if left.stderr.is_empty() && !is_silent_allowed {
        return Some(format!("it says nothing about exit code {code}"));
    }
    for (name, text) in left.files.iter().map(|(name, text)| (name.as_str(), text)) {
        let whole = clean.files.get(name).is_some_and(|clean| clean == text);
        if !whole && let Some(problem) = looks_complete(name, text, code) {
            return Some(format!("{name}: {problem}"));
        }
    }
    let last = left.stdout.trim_end().lines().last().unwrap_or_default();
    if last.starts_with(r#"{"type":"summary""#) && !last.contains(&shown(code)) {
        return Some(format!("standard output has another exit code than {code}: {last}"));
    }
    None
}

fn shown(code: i32) -> String {
    format!(r#""exit_code":{code}}}"#)
}

/// A report that was finished says what is missing in it.
fn looks_complete(name: &str, text: &str, code: i32) -> Option<String> {
    let end = text.trim_end();
    let is_complete = match name.rsplit_once('.').map_or(name, |(_, extension)| extension) {
        _ if name.starts_with("report.pages/") || name == "baseline.json" => false,
        "json" => {
            return (!end.ends_with(&shown(code)))
                .then(|| format!("its last line is not a summary with exit code {code}: {end}"));
        }
        "xml" => !text.contains("<error "),
        "sarif" => !text.contains(&format!("\"exitCode\":{code}")),
        "html" | "md" if name != "summary.md" => {
            let says_code = text.contains(&format!("exit code {code}"));
            !says_code && !text.to_lowercase().contains("not checked")
        }
        // Copies, what jobs append to, and what is read by a person.
        _ => false,
    };
    is_complete.then(|| format!("it looks complete: {text}"))
}

/// Whether nothing is lost.
fn is_same(scenario: &Scenario, fault: Fault, clean: &Left, left: &Left) -> Result<(), String> {
    // Durations of real commands differ.
    let shape = |text: &str| {
        if scenario.is_run() {
            text.replace(|it: char| it.is_ascii_digit(), "")
        } else {
            text.to_owned()
        }
    };
    if left.code != clean.code {
        return Err(format!("exit code {:?}", left.code));
    }
    let reader_left = matches!(fault, Fault::Call("write", "EPIPE", _));
    if shape(&left.stdout) != shape(&clean.stdout)
        && !(reader_left && clean.stdout.starts_with(&left.stdout))
    {
        return Err(format!("standard output is {:?}", left.stdout));
    }
    // Who closes standard error, or lets it fail, hears nothing there.
    let is_heard = !matches!(fault, Fault::Call("write", "EPIPE" | "EIO" | "ENOSPC", _));
    let said: Vec<String> = left.stderr.lines().map(shape).collect();
    if is_heard && let Some(line) = clean.stderr.lines().find(|line| !said.contains(&shape(line))) {
        return Err(format!("standard error lacks {line:?}"));
    }
    for (name, text) in &clean.files {
        if left.files.get(name).is_none_or(|left| shape(left) != shape(text)) {
            return Err(format!("{name} is {:?}", left.files.get(name)));
        }
    }
    Ok(())
}
