//! A model chooses how it spells a command or a path: no spelling evades an expectation.

use std::collections::BTreeSet;

use ndjson_check::{
    CallKind, Checker, Diagnostic, Event, Expectation, Observer, ProducerExit, Rule, StreamSummary,
};
use serde_json::{Value, json};

use crate::demands::{PLACE, of_kind};
use crate::support::{builder, cases, check, checker, root};

/// The details of the calls of a kind.
struct Details(CallKind, BTreeSet<String>);

impl Observer for Details {
    fn events(&mut self, events: &[Event<'_>]) {
        let calls = events.iter().filter_map(|event| event.kind.call());
        let calls = calls.filter(|call| call.kind == Some(self.0));
        self.1.extend(calls.filter_map(|call| call.detail.as_deref()).map(str::to_owned));
    }
}

fn commands(checker: &mut Checker, bytes: &[u8]) -> BTreeSet<String> {
    let mut details = Details(CallKind::Command, BTreeSet::new());
    let mut stream = checker.stream("a");
    stream.feed(bytes, &mut details).unwrap();
    stream.finish(&ProducerExit::default(), &mut details).unwrap();
    details.1
}

pub(crate) fn checked(
    flags: &[&str],
    expectation: &Expectation,
    bytes: &[u8],
) -> (StreamSummary, Vec<Rule>) {
    let built = builder(flags.iter().copied()).expect(PLACE, expectation.clone()).build();
    let (summary, found) = check(&mut built.unwrap(), bytes);
    let of_expectation = |it: &&Diagnostic| it.rule.name().starts_with("expectation-");
    (summary, found.iter().filter(of_expectation).map(|it| it.rule).collect())
}

/// The stream with another command, if it has this one as a string, in JSON or in JSON in a string.
fn with_another_command(stream: &str, command: &str, other: &str) -> Option<String> {
    let written = |text: &str| json!(text).to_string();
    let nested = |text: &str| {
        let written = written(&written(text));
        written[1..written.len() - 1].to_owned()
    };
    let changed = stream.replace(&nested(command), &nested(other));
    let changed = changed.replace(&written(command), &written(other));
    // Two characters: `{}`, the arguments of a call without a command.
    (command.len() > 2 && changed != stream).then_some(changed)
}

/// Goal: a command is judged as a whole, however long it is and whichever half of a call shows it.
/// Method: in the fixtures of each agent, commands become very long, with one of them forbidden at
/// their end.
#[test]
fn a_long_command_is_judged_as_a_whole() {
    let forbidden = |pattern: &str| {
        of_kind("command", |it| (it.matches, it.at_most) = (Some(pattern.to_owned()), Some(0)))
    };
    let (mut shown, mut tried) = (BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        let agent = case.path.iter().nth(2).unwrap().to_str().unwrap().to_owned();
        if !case.path.starts_with("fixtures/agents") {
            continue;
        }
        let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
        let Ok(stream) = String::from_utf8(case.bytes()) else { continue };
        let found = commands(&mut checker(flags.iter().copied()), stream.as_bytes());
        shown.extend((!found.is_empty()).then(|| agent.clone()));
        let Some(stream) = found.iter().find_map(|command| {
            let long = format!("{command}; echo {}; git push origin", "x".repeat(70_000));
            with_another_command(&stream, command, &long)
        }) else {
            continue;
        };
        let (summary, rules) = checked(&flags, &forbidden("git push"), stream.as_bytes());
        let calls = summary.call_counts;
        if calls.rejected + calls.denied > 0 {
            continue;
        }
        assert_eq!(rules, [Rule::ExpectationFailed], "{}", case.path.display());
        // A long command raises no doubt that a short one does not raise.
        let harmless = forbidden("rm -rf|svn");
        let (_, doubts) = checked(&flags, &harmless, &case.bytes());
        let (_, rules) = checked(&flags, &harmless, stream.as_bytes());
        assert_eq!(rules, doubts, "{}: a harmless command", case.path.display());
        if doubts.is_empty() {
            tried.insert(agent);
        }
    }
    assert_eq!(tried, shown);
    assert!(tried.len() >= 29, "{tried:?}");
}

/// A successful run of Claude that makes these calls, each a tool and its input.
pub(crate) fn claude(directory: &str, calls: &[(&str, Value)]) -> String {
    let line = |event: Value| format!("{event}\n");
    let mut stream = line(json!({"type": "system", "subtype": "init", "cwd": directory,
        "session_id": "s", "model": "m", "tools": [], "permissionMode": "default"}));
    for (number, (tool, input)) in calls.iter().enumerate() {
        let id = format!("c{number}");
        let made = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        let half = |kind: &str, block: Value| {
            line(json!({"type": kind, "session_id": "s", "message": {"role": kind,
                "content": [block]}}))
        };
        stream += &(half("assistant", made) + &half("user", result));
    }
    stream
        + &line(
            json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s",
            "result": "DONE"}),
        )
}

fn rules(expectation: &Expectation, stream: &str) -> Vec<Rule> {
    checked(&["--profile", "claude"], expectation, stream.as_bytes()).1
}

fn write_of(directory: &str, path: &str) -> String {
    claude(directory, &[("Write", json!({"file_path": path, "content": "x"}))])
}

#[test]
fn a_forbidden_file_is_forbidden_in_every_spelling() {
    let never = Expectation::WritesNever(vec![".github/**".to_owned()]);
    let unix = "/home/dev/app";
    let forbidden = [
        (unix, "/home/dev/app/.github/ci.yml"),
        (unix, "//home/dev/app/.github/ci.yml"),
        (unix, "/home//dev/app/.github/ci.yml"),
        (unix, "/home/dev/./app/.github/ci.yml"),
        (unix, "/home/dev/../dev/app/.github/ci.yml"),
        (unix, "/home/dev/app/../app/.github/ci.yml"),
        (unix, "../app/.github/x"),
        (unix, ".GITHUB/x"),
        (unix, "/home/dev/App/.GitHub/x"),
        (unix, ".github./x"),
        (unix, ".github\\x"),
        (unix, ".github"),
        ("/home//dev/app/", "/home/dev/app/.github/x"),
        ("C:\\dev\\app", "C:\\dev\\app\\.github\\x"),
        ("C:\\dev\\app", "c:/Dev/app/.github/x"),
        ("C:\\dev\\app", "..\\app\\.github\\x"),
        ("C:\\dev\\app", "\\\\?\\C:\\dev\\app\\.github\\x"),
    ];
    for (directory, path) in forbidden {
        let found = rules(&never, &write_of(directory, path));
        assert_eq!(found, [Rule::ExpectationFailed], "{path}");
    }
    let unclear = [
        (unix, "~/app/.github/x"),
        (unix, "file:///home/dev/app/.github/x"),
        ("C:\\dev\\app", "/c/dev/app/.github/x"),
    ];
    for (directory, path) in unclear {
        let found = rules(&never, &write_of(directory, path));
        assert_eq!(found, [Rule::ExpectationUnobservable], "{path}");
    }
    for path in ["../x/.github/x", "/etc/.github/x", "github/x", "a/.github/x"] {
        assert_eq!(rules(&never, &write_of(unix, path)), [], "{path}");
    }
    // What is allowed is allowed as it is written only.
    let within = Expectation::WritesWithin(vec!["src/**".to_owned()]);
    for (path, expected) in [
        ("/home/dev//app/src/x", &[][..]),
        ("../app/src/x", &[]),
        ("SRC/x", &[Rule::ExpectationFailed]),
        ("/home/dev/APP/src/x", &[Rule::ExpectationFailed]),
    ] {
        assert_eq!(rules(&within, &write_of(unix, path)), expected, "{path}");
    }
}

/// Goal: of very many files, none hides another.
#[test]
fn a_call_that_changes_very_many_files_is_judged() {
    let paths = |forbidden: Option<usize>| -> String {
        let path = |at| if forbidden == Some(at) { ".github/x".into() } else { format!("f{at}") };
        let changes: Vec<Value> =
            (0..3_000).map(|at| json!({"path": path(at), "kind": "add"})).collect();
        let item = json!({"id": "i", "type": "file_change", "changes": changes,
            "status": "completed"});
        let events = [
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": item}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 1,
                "cached_input_tokens": 0, "output_tokens": 1}}),
        ];
        events.map(|event| event.to_string() + "\n").concat()
    };
    let never = Expectation::WritesNever(vec![".github/**".to_owned()]);
    let found = |forbidden| checked(&["--profile", "codex"], &never, paths(forbidden).as_bytes()).1;
    for at in [0, 999, 2_999] {
        assert_eq!(found(Some(at)), [Rule::ExpectationFailed], "{at}");
    }
    assert_eq!(found(None), []);
}

/// Goal: a patch hides none of the files that it changes, moves or deletes.
#[test]
fn a_patch_names_its_files() {
    let stream = |name: &str| std::fs::read(root().join("fixtures/agents").join(name)).unwrap();
    let found = |name: &str, glob: &str| {
        checked(&[], &Expectation::WritesNever(vec![glob.to_owned()]), &stream(name)).1
    };
    let copilot = "copilot/patch-that-deletes.ndjson";
    assert_eq!(found(copilot, "**/old-frame.txt"), [Rule::ExpectationFailed]);
    assert_eq!(found(copilot, "**/old-roof.txt"), []);
    let never = |kind: &str, file: &str| {
        of_kind(kind, |it| (it.matches, it.at_most) = (Some(file.to_owned()), Some(0)))
    };
    let deletes = of_kind("delete", |it| it.at_most = Some(0));
    let patched = |patch: &str| {
        let stream = String::from_utf8(stream(copilot)).unwrap();
        let (from, to) = (r"*** Delete File: /home/dev/house/old-frame.txt", patch);
        assert!(stream.contains(from));
        stream.replace(from, to)
    };
    let mixed = patched(r"*** Update File: /home/dev/house/hut.txt\n*** Move to: /home/dev/x.txt");
    let spaced = patched(r"  ***  Update File: a\n  *** Update File:/home/dev/house/hut.txt");
    let whole = String::from_utf8(stream(copilot)).unwrap();
    let (failed, unknown) = ([Rule::ExpectationFailed], [Rule::ExpectationUnobservable]);
    let rows: [(&Expectation, &str, &[Rule]); 8] = [
        (&deletes, &whole, &failed),
        (&deletes, &mixed, &failed),
        (&never("delete", "old-frame"), &whole, &failed),
        (&never("delete", "old-roof"), &whole, &[]),
        (&never("delete", "old-door"), &mixed, &unknown),
        (&never("write", "hut.txt"), &mixed, &unknown),
        (&Expectation::WritesNever(vec!["**/x.txt".to_owned()]), &mixed, &failed),
        (&Expectation::WritesNever(vec!["**/hut.txt".to_owned()]), &spaced, &failed),
    ];
    for (expectation, stream, rules) in rows {
        assert_eq!(checked(&[], expectation, stream.as_bytes()).1, rules, "{expectation:?}");
    }
}

/// Goal: in run mode, files below the directory of the run are known, although Codex names none.
#[cfg(unix)]
#[test]
fn run_mode_knows_its_own_directory() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let judged = |writes: &str, file: &str| {
        let file = here.join(file).display().to_string();
        let item = json!({"id": "i", "type": "file_change", "status": "completed",
            "changes": [{"path": file, "kind": "add"}]});
        let events = [
            json!({"type": "thread.started", "thread_id": "t"}),
            json!({"type": "turn.started"}),
            json!({"type": "item.completed", "item": item}),
            json!({"type": "item.completed",
                "item": {"id": "m", "type": "agent_message", "text": "Done."}}),
            json!({"type": "turn.completed", "usage": {"input_tokens": 1,
                "cached_input_tokens": 0, "output_tokens": 1}}),
        ];
        let stream = events.map(|event| event.to_string() + "\n").concat();
        std::fs::write(here.join("run.ndjson"), stream).unwrap();
        std::fs::write(here.join("check.toml"), format!("expect.writes.{writes}")).unwrap();
        let report = |arguments: &[&str]| {
            let mut program = crate::support::program();
            program.args(["--config", "check.toml"]).args(arguments).current_dir(&here);
            let output = program.stdin(std::process::Stdio::null()).output().unwrap();
            let is_clear = !String::from_utf8_lossy(&output.stdout).contains("unobservable");
            (output.status.code().unwrap(), is_clear)
        };
        (report(&["--no-stdin", "--", "cat", "run.ndjson"]), report(&["run.ndjson"]))
    };
    let unclear = (0, false);
    for (writes, file, in_run_mode, of_recording) in [
        ("never = [\".github/**\"]", ".github/w.yml", (1, true), unclear),
        ("never = [\".github/**\"]", "src/a.rs", (0, true), (0, true)),
        ("never = [\"**/.github/**\"]", ".github/w.yml", (1, true), (1, true)),
        ("within = [\"src/**\"]", "src/a.rs", (0, true), unclear),
        ("within = [\"src/**\"]", "lib/a.rs", (1, true), (1, true)),
        ("within = [\"src/**\"]", "app/src/a.rs", unclear, unclear),
    ] {
        assert_eq!(judged(writes, file), (in_run_mode, of_recording), "{writes} {file}");
    }
}

/// Goal: what a profile shows of a command is not taken for all of it.
/// Method: forbidden words in a list of words, and in the second of two commands.
#[test]
fn the_other_words_of_a_command_are_searched() {
    let forbidden = of_kind("command", |it| {
        (it.matches, it.at_most) = (Some("git push".to_owned()), Some(0));
    });
    let of = |fixture: &str, from: &str, to: &str| {
        let path = format!("{}/fixtures/agents/{fixture}", env!("CARGO_MANIFEST_DIR"));
        let stream = std::fs::read_to_string(path).unwrap();
        assert!(stream.contains(from), "{fixture}");
        checked(&[], &forbidden, stream.replace(from, to).as_bytes()).1
    };
    let (file, list) = ("codex-old/with-task-complete.ndjson", r#"["bash","-lc","ls"]"#);
    assert_eq!(of(file, list, list), []);
    for words in [r#"["git","push","origin"]"#, r#"["bash","-l","-c","git push"]"#] {
        assert_eq!(of(file, list, words), [Rule::ExpectationUnobservable], "{words}");
    }
    assert_eq!(of(file, list, r#"["bash","-lc","git push"]"#), [Rule::ExpectationFailed]);
    let claude = |command: &str, about: &str| {
        let input = json!({"command": command, "description": about});
        rules(&forbidden, &claude("/w", &[("Bash", input)]))
    };
    assert_eq!(claude("ls", "no git push"), []);
    assert_eq!(claude("git push", "send it"), [Rule::ExpectationFailed]);
}

/// Goal: a glob that names a directory, or is written with the agent's directory, forbids what it
/// means.
#[test]
fn a_forbidden_directory_is_forbidden_in_every_spelling() {
    let stream = write_of("/home/dev/app", "/home/dev/app/.github/workflows/x.yml");
    let globs = [
        ".github",
        ".github/workflows",
        "/.github/**",
        "/home/dev/app/.github/**",
        "/home/dev/app/.github",
        ".GITHUB",
        // Without a slash, at every level.
        "x.yml",
        "*.yml",
        "workflows",
    ];
    for glob in globs {
        let never = Expectation::WritesNever(vec![glob.to_owned()]);
        assert_eq!(rules(&never, &stream), [Rule::ExpectationFailed], "{glob}");
    }
    for glob in ["github", "/x.yml", "/*.yml", "*/x.yml", "/home/dev/other/.github/**"] {
        let never = Expectation::WritesNever(vec![glob.to_owned()]);
        assert_eq!(rules(&never, &stream), [], "{glob}");
    }
}

/// Goal: a call that did its work counts, whatever is said of it later.
#[test]
fn a_call_that_succeeded_was_not_refused() {
    let forbidden = of_kind("command", |it| {
        (it.matches, it.at_most) = (Some("git push".to_owned()), Some(0));
    });
    let stream = claude("/w", &[("Bash", json!({"command": "git push"}))]);
    let denials = r#""permission_denials":[{"tool_name":"Bash","tool_use_id":"c0"}],"subtype""#;
    let stream = stream.replace(r#""subtype":"success""#, &format!(r#"{denials}:"success""#));
    assert!(stream.contains("permission_denials"));
    assert_eq!(rules(&forbidden, &stream), [Rule::ExpectationFailed]);
    let (_, found) = check(&mut checker(["--profile", "claude"]), stream.as_bytes());
    assert!(found.iter().any(|it| it.rule == Rule::ContradictoryCompletion), "{found:?}");
}

/// Goal: `**` stands for every file of the agent's directory, and for none outside of it.
#[test]
fn an_allowed_file_is_in_the_directory() {
    let within = Expectation::WritesWithin(vec!["**/*.rs".to_owned(), "/tmp/**".to_owned()]);
    for (path, expected) in [
        ("/home/dev/app/a/x.rs", &[][..]),
        ("/tmp/x", &[]),
        ("/etc/x.rs", &[Rule::ExpectationFailed]),
        ("../x.rs", &[Rule::ExpectationFailed]),
        ("~/x.rs", &[Rule::ExpectationUnobservable]),
    ] {
        assert_eq!(rules(&within, &write_of("/home/dev/app", path)), expected, "{path}");
    }
}
