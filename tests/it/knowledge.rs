//! What a profile knows of its producer beside the events: versions, and exit codes.

use std::fs;

use ndjson_check::internals::{profile_names, profile_text};
use serde_json::{Value, json};

use crate::streams::{program, root, run_on, text};
use crate::tidy::{literals, sources};

/// Runs the program by a profile that says this in addition; its report.
fn report_by(says: &serde_json::Value, flags: &[&str], stream: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let mut profile = json!({
        "name": "knowing", "title": "x",
        "tags": {"at": ["/t"], "documented": ["a", "end"]},
        "end": {"rules": [
            {"outcome": "success", "when": {"/t": "end", "/ok": true}},
            {"outcome": "failure", "when": {"/t": "end"}},
        ]},
    });
    for (key, members) in says.as_object().unwrap() {
        for (name, value) in members.as_object().unwrap() {
            profile[key][name] = value.clone();
        }
    }
    fs::write(&file, profile.to_string()).unwrap();
    let flags = [&["--profile", file.to_str().unwrap()], flags].concat();
    text(&run_on(&flags, stream.as_bytes()).stdout)
}

const END: &str = "{\"t\":\"end\",\"ok\":true}\n";

#[test]
fn a_version_outside_of_the_range_is_noted() {
    let says = json!({"versions": {"at": "/version", "from": "2.1", "before": "3.0"}});
    let report = |version: &str| {
        let first = format!("{{\"t\":\"a\",\"version\":{version}}}\n");
        report_by(&says, &[], &format!("{}{first}{END}", "{\"t\":\"a\"}\n".repeat(5)))
    };
    for good in ["\"2.1.0\"", "\"2.99\"", "2.5", "\"nightly\"", "null"] {
        assert!(!report(good).contains("note"), "{}", report(good));
    }
    let note = "note: profile knowing is for versions from 2.1 and before 3.0, \
                but this agent has version `3.0.1`\n";
    assert!(report("\"3.0.1\"").contains(note), "{}", report("\"3.0.1\""));
    assert!(report("\"3.0.1\"").starts_with("✓ succeeded\n"));
    assert!(report("2").contains("but this agent has version `2`"), "{}", report("2"));
}

#[test]
fn exit_codes_mean_what_the_profile_says() {
    let says = json!({"end": {"exit": {
        "success": [0, 130], "failure": [0, 41], "meaning": {"41": "authentication failed"},
    }}});
    let failed = "{\"t\":\"end\",\"ok\":false}\n";
    let rows = [
        (END, "0", "✓ succeeded", false),
        (END, "130", "✓ succeeded", false),
        // In neither list: it contradicts nothing, and is that of no success.
        (END, "1", "✗ failed", false),
        (failed, "1", "✗ failed", false),
        (END, "41", "✗ failed: the stream says", true),
        (failed, "0", "✗ failed", false),
        (failed, "41", "✗ failed", true),
        (failed, "130", "✗ stopped", false),
        ("{\"t\":\"a\"}\n", "41", "✗ failed: authentication failed (exit status 41)", true),
    ];
    for (stream, code, verdict, meant) in rows {
        let report = report_by(&says, &["--exit-status", code], stream);
        assert!(report.starts_with(verdict), "{code}: {report}");
        let contradicts = report.contains("[exit-status-contradicts-result]");
        let should = (stream == END && code == "41") || (stream == failed && code == "130");
        assert_eq!(contradicts, should, "{code}: {report}");
        let meaning = report.contains("authentication failed");
        assert_eq!(meaning, meant, "{code}: {report}");
    }
}

#[test]
fn profiles_are_listed_and_printed() {
    let listed = text(&program().arg("profiles").output().unwrap().stdout);
    let names: Vec<&str> = listed
        .lines()
        .skip(1)
        .filter_map(|it| it.split(' ').next().filter(|it| !it.is_empty()))
        .collect();
    assert_eq!(names, profile_names().collect::<Vec<_>>());
    assert!(listed.contains("\n                 2026.09.10, 2026.09.15\n"), "{listed}");
    let none = program().args(["profiles", "nobody"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("no such profile; `ndjson-check profiles` lists"));
}

/// Goal: a profile that was printed can be used, wherever it is put.
/// Method: it says the same and has the same schema, and its text is the same but for the schema.
#[test]
fn a_printed_profile_stands_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    for name in profile_names() {
        let printed = program().args(["profiles", name]).output().unwrap().stdout;
        fs::write(&file, &printed).unwrap();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let own_text = profile_text(name).unwrap();
        let (mut own, mut whole) = (json(own_text), json(&text(&printed)));
        let schemas = [name, file.to_str().unwrap()]
            .map(|profile| program().args(["schema", "--profile", profile]).output().unwrap());
        assert_eq!(schemas[0].status.code(), Some(0), "{name}");
        let [schema, of_file] = schemas.map(|output| json(&text(&output.stdout)));
        assert_eq!(of_file, schema, "{name}");
        assert_eq!(whole["schema"], schema, "{name}");
        assert!(own["schema"].take().is_string() && whole["schema"].take().is_object());
        assert_eq!(own, whole, "{name}");
        let mut of_own = own_text.lines().filter(|it| !it.contains("\"schema.json\""));
        let printed = text(&printed);
        assert!(of_own.all(|line| printed.contains(&format!("{line}\n"))), "{name}");
    }
    let printed = program().args(["profiles", "cursor"]).output().unwrap().stdout;
    fs::write(&file, printed).unwrap();
    let file = file.to_str().unwrap();
    let output = program().args(["--profile", file, "fixtures/agents/cursor"]).output().unwrap();
    // All conform, and one is of a run that failed.
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

/// Goal: a message of the library helps whoever embeds it. The program adds its own flags.
#[test]
fn the_core_knows_no_flag_of_the_program() {
    let is_flag = |word: &str| {
        let flag = word.trim_start_matches('`').strip_prefix("--");
        flag.is_some_and(|flag| flag.starts_with(|it: char| it.is_ascii_lowercase()))
    };
    for (path, code) in sources().iter().filter(|(path, _)| path.starts_with("core/")) {
        // These know the flags of other programs.
        let others = ["core/redact/", "core/stream/defect/syntax"];
        let is_of_others = others.iter().any(|it| path.starts_with(it));
        for literal in literals(code).into_iter().filter(|_| !is_of_others) {
            assert!(!literal.split(' ').any(is_flag), "{path}: {literal}");
        }
    }
}

/// The rules without the condition that a line is not of a sub-agent.
fn of_any_line(rules: &mut Value) {
    match rules {
        Value::Object(members) => {
            members.remove("/isSidechain");
            members.values_mut().for_each(of_any_line);
        }
        Value::Array(items) => items.iter_mut().for_each(of_any_line),
        _ => {}
    }
}

/// Goal: the session of a sub-agent is read as the main one, of which its lines are no part.
#[test]
fn a_sub_agents_session_is_read_as_the_main_one() {
    let [main, own] = ["claude-session", "claude-subagent"].map(|name| {
        let mut profile: Value = serde_json::from_str(profile_text(name).unwrap()).unwrap();
        of_any_line(&mut profile);
        let folder = root().join("crates/core/src/profile/builtin").join(name);
        let schema = fs::read(folder.join("schema.json")).unwrap();
        profile["schema"] = serde_json::from_slice(&schema).unwrap();
        profile
    });
    for place in ["/text/rules", "/end/progress", "/facts", "/schema/$defs"] {
        assert_eq!(main.pointer(place), own.pointer(place), "{place}");
        assert!(main.pointer(place).is_some(), "{place}");
    }
}
