//! `replay`: recordings that are played as their agents wrote them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::streams::{PROGRAM, root, run_on, text};

fn replay(arguments: &[&str]) -> Output {
    run_on(&[&["replay"], arguments].concat(), b"")
}

#[test]
fn a_recording_is_played_byte_by_byte() {
    let fixture = fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap();
    for options in
        [&["--speed", "max"][..], &["--speed", "1e9"], &["--split-writes", "--speed=max"]]
    {
        let output = replay(&[&["claude", "plain"], options].concat());
        assert_eq!((output.status.code(), &output.stdout), (Some(0), &fixture), "{options:?}");
    }
    let file = root().join("lab/recordings/codex-0.169.0/tool.ndjson");
    let path = file.to_str().unwrap();
    for names in [&["codex", "tool"][..], &["codex-0.169.0", "tool"], &[path]] {
        let output = replay(&[names, &["--speed", "max"]].concat());
        assert_eq!(output.stdout, fs::read(&file).unwrap(), "{names:?}");
    }
}

/// Goal: what is listed is there, and is a stream of its agent.
#[test]
fn every_recording_of_the_list_can_be_checked() {
    let list = text(&replay(&["--list"]).stdout);
    let mut count = 0;
    for line in list.lines() {
        let (agent, names) = line.split_once(' ').unwrap();
        for name in names.split_whitespace() {
            let output = replay(&[agent, name, "--speed", "max"]);
            let profile = agent.rsplit_once('-').filter(|(_, it)| it.starts_with(char::is_numeric));
            let profile = profile.map_or(agent, |(profile, _)| profile);
            let status = output.status.code().unwrap().to_string();
            let arguments = ["--profile", profile, "--exit-status", &status, "-"];
            let code = run_on(&arguments, &output.stdout).status.code();
            assert!(matches!(code, Some(0 | 1 | 3)), "{agent} {name}: {code:?}");
            count += 1;
        }
    }
    assert!(count > 100 && list.contains("\ncursor "), "{list}");
}

#[test]
fn faults_are_those_of_real_agents() {
    let fixture = text(&fs::read(root().join("fixtures/agents/claude/plain.ndjson")).unwrap());
    let lines: Vec<&str> = fixture.lines().collect();
    let cut = replay(&["claude", "plain", "--speed", "max", "--cut-at", "3", "--exit", "7"]);
    let shown = text(&cut.stdout);
    assert_eq!(cut.status.code(), Some(7));
    assert!(
        shown.starts_with(&format!("{}\n{}\n{{", lines[0], lines[1])) && !shown.ends_with('\n')
    );
    assert_eq!(shown.lines().count(), 3);
    let failed = replay(&["kimi-code", "http-401", "--speed", "max", "--stderr-lines", "1000"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(text(&failed.stderr).lines().count(), 1000);
}

#[test]
fn a_fault_beyond_the_end_is_refused() {
    for option in ["--cut-at", "--stall-at"] {
        for line in ["0", "16"] {
            let output = replay(&["cursor", "plain", "--speed=max", option, line]);
            let message = format!("ndjson-check: {option} {line}: the recording has 15 lines\n");
            assert_eq!((text(&output.stderr), output.status.code()), (message, Some(2)));
        }
    }
    let both = replay(&["cursor", "plain", "--cut-at", "2", "--stall-at", "3"]);
    assert!(text(&both.stderr).contains("cannot be used with"), "{}", text(&both.stderr));
    assert_eq!((text(&both.stdout), both.status.code()), (String::new(), Some(2)));
}

#[test]
fn names_that_are_not_known_are_explained() {
    for (arguments, expected) in [
        (&["codex"][..], "name a recording of codex: tools, "),
        (&["codex", "none"], "there is no recording codex none: see replay --list"),
        (&["codex", "tool", "--speed", "0"], "give a number above 0, or max"),
        (&["acp", "good", "--install", "x"], "--install needs a recording of an agent"),
        (&["codex", "tols"], "there is no recording codex tols; a similar one is `codex tools`"),
        (&["cluade", "plain"], "no recording cluade plain; a similar agent is `claude`"),
        (&["clade"], "there is no file `clade`; a similar agent is `claude`"),
        (&["nothing-here"], "failed to read nothing-here"),
    ] {
        let output = replay(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

/// Goal: the agent itself is never replaced, also behind a link.
#[cfg(unix)]
#[test]
fn a_fake_agent_replaces_no_real_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("real"), "#!/bin/sh\nexec node\n").unwrap();
    std::os::unix::fs::symlink(path("real"), path("claude")).unwrap();
    std::fs::write(path("codex"), "").unwrap();
    for [agent, name] in [["claude", "plain"], ["codex", "tools"]] {
        let output = replay(&[agent, name, "--install", folder.path().to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{agent}");
        let message = format!("{agent} exists, and --install did not write it");
        assert!(text(&output.stderr).contains(&message), "{}", text(&output.stderr));
    }
    assert_eq!(std::fs::read_to_string(path("real")).unwrap(), "#!/bin/sh\nexec node\n");
    assert_eq!(std::fs::read_to_string(path("codex")).unwrap(), "");
}

/// Goal: a harness that starts an agent by its name can be tested with a fake one.
/// Method: run mode as the harness: good, failed, cut, stalled, and one that never exits.
#[test]
fn a_fake_agent_stands_in_for_a_real_one() {
    let folder = tempfile::tempdir().unwrap();
    let harness = |options: &[&str], own: &[&str]| {
        let install = ["--install", folder.path().to_str().unwrap(), "--speed", "max"];
        let installed = replay(&[&["cursor", "plain"], options, &install].concat());
        assert_eq!(installed.status.code(), Some(0), "{}", text(&installed.stderr));
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).unwrap();
        let run = Command::new(PROGRAM)
            .args(own)
            .args(["--", "agent", "--print", "--output-format", "stream-json", "hello"])
            .env("PATH", path)
            .output();
        run.unwrap().status.code()
    };
    assert_eq!(harness(&[], &[]), Some(0));
    assert_eq!(harness(&["--exit", "1"], &[]), Some(1));
    assert_eq!(harness(&["--cut-at", "6"], &[]), Some(1));
    assert_eq!(harness(&["--stall-at", "6"], &["--timeout", "1s"]), Some(4));
    assert_eq!(harness(&["--never-exit"], &["--exit-grace", "1s"]), Some(0));
    assert_eq!(harness(&["--stderr-lines", "20000"], &[]), Some(0));
    let script = if cfg!(windows) { "agent.cmd" } else { "agent" };
    assert!(Path::new(folder.path()).join(script).exists());
}

/// Goal: a harness meets failed and cut runs of the agents that most of them run.
#[test]
fn a_bad_run_exits_as_its_agent_did() {
    for (agent, name, status, headline) in [
        ("claude", "not-logged-in", 1, "failed: Invalid API key"),
        ("claude", "truncated", 143, "cut short in the middle of line 6"),
        ("codex", "http-401", 1, "failed: "),
        ("codex", "hang.kill-TERM", 143, "cut short after line "),
        ("cursor", "failed", 1, "failed: I'll deploy it."),
        ("cursor", "truncated", 143, "cut short in the middle of line 5"),
    ] {
        let output = replay(&[agent, name, "--speed", "max"]);
        assert_eq!(output.status.code(), Some(status), "{agent} {name}");
        let report = text(&run_on(&["--profile", agent], &output.stdout).stdout);
        assert!(report.contains(headline), "{agent} {name}: {report}");
    }
}

/// Goal: also a recording of one's own stands in for its agent, wherever the harness works, and
/// fails as it did.
#[cfg(unix)]
#[test]
fn a_file_stands_in_for_its_agent() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("it's here")).unwrap();
    for (fixture, command, status) in [
        ("claude/not-logged-in", "claude", 1),
        ("claude/plain", "claude", 0),
        ("codex/failed", "codex", 1),
    ] {
        let recording = fs::read(root().join(format!("fixtures/agents/{fixture}.ndjson"))).unwrap();
        fs::write(path("it's here/run.ndjson"), &recording).unwrap();
        let install = ["it's here/run.ndjson", "--speed=max", "--install", "bin"];
        let installed = Command::new(PROGRAM)
            .args([&["replay"][..], &install].concat())
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(installed.status.code(), Some(0), "{}", text(&installed.stderr));
        let output = Command::new(path("bin").join(command)).current_dir("/").output().unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(status), recording), "{fixture}");
    }
    let output = run_on(
        &["replay", "-", "--install", "bin"],
        &fs::read(path("it's here/run.ndjson")).unwrap(),
    );
    assert!(text(&output.stderr).contains("--install needs a file"), "{output:?}");
}
