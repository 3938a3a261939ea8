//! Whose stream it is, is told by the stream.

use std::fs;
use std::path::Path;

use ndjson_check::fingerprint::{Fingerprints, Likeness, Onlooker};

use crate::streams::{cases, files, shared};

/// What a stream is like.
fn likeness(stream: &[u8]) -> Likeness<'static> {
    Onlooker::default().look(stream, Fingerprints::built_in(), || {}).0
}

/// The profile that a recording's name stands for.
fn profile_of(recording: &Path) -> &'static str {
    let name = recording.file_name().unwrap().to_str().unwrap();
    if !recording.parent().unwrap().ends_with("other-agents") {
        return "cursor";
    }
    let rows = [
        ("kimi-code", "kimi-code"),
        ("command-code", "command-code"),
        ("grok-build", "grok"),
        ("openhands", "openhands"),
        ("antigravity", "antigravity"),
        ("claude", "claude"),
        ("cline", "cline"),
        ("codex", "codex"),
        ("gemini", "gemini"),
        ("muse", "muse"),
        ("opencode", "opencode"),
        ("pi", "pi"),
        ("qwen", "qwen"),
        ("vibe", "vibe"),
    ];
    let row = rows.iter().find(|(prefix, _)| name.starts_with(prefix));
    row.unwrap_or_else(|| panic!("whose is {name}?")).1
}

#[test]
fn every_recording_is_recognised() {
    let Some(folder) = shared("captures") else { return };
    let recordings = files(&folder, "ndjson");
    assert!(recordings.len() >= 50, "only {} recordings", recordings.len());
    for path in recordings {
        let found = likeness(&fs::read(&path).unwrap());
        assert_eq!(found, Likeness::One(profile_of(&path)), "{}", path.display());
    }
}

/// Goal: no line of one agent decides for another, wherever a stream is begun.
/// Method: every line of every recording, as the first.
#[test]
fn no_line_of_a_recording_is_taken_for_another_agents() {
    let Some(folder) = shared("captures") else { return };
    let mut decided = 0;
    for path in files(&folder, "ndjson") {
        let own = profile_of(&path);
        for (line, number) in fs::read(&path).unwrap().split_inclusive(|it| *it == b'\n').zip(1..) {
            match likeness(line) {
                Likeness::One(name) => assert_eq!(name, own, "{}:{number}", path.display()),
                Likeness::Several(names) => {
                    assert!(names.contains(&own), "{}:{number}: {names:?}", path.display());
                    continue;
                }
                Likeness::None => continue,
            }
            decided += 1;
        }
    }
    assert!(decided > 1_000, "only {decided}");
}

/// Goal: a fixture of one agent is never taken for another's.
#[test]
fn no_fixture_is_taken_for_another_agents() {
    for case in cases() {
        let folder = case.path.parent().unwrap();
        if !case.flags.is_empty() || folder.starts_with("fixtures/profiles") {
            continue;
        }
        let agents = folder.strip_prefix("fixtures/agents").ok();
        let own = agents.and_then(|it| it.iter().next()?.to_str()).unwrap_or("cursor");
        match likeness(&case.bytes()) {
            Likeness::None => assert_eq!(own, "cursor", "{}", case.path.display()),
            found => assert_eq!(found, Likeness::One(own), "{}", case.path.display()),
        }
    }
}
