//! Every fixture makes exactly the reports that stand beside it.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use ndjson_check::rules::Rule;
use serde_json::Value;

use crate::streams::{Case, cases, files, program, root, text};

/// Goal: a change of any report is seen and reviewed.
/// Method: run the program on each fixture, compare with `<case>.txt` and `<case>.json`;
/// `UPDATE_GOLDEN=1` rewrites them.
#[test]
fn reports_are_as_written() {
    let mut wrong = Vec::new();
    for case in cases() {
        for (format, extension) in [("human", "txt"), ("json", "json")] {
            let output = program()
                .args(&case.flags)
                .args(["--report", format])
                .arg(&case.path)
                .output()
                .unwrap();
            assert_eq!(text(&output.stderr), "", "{}", case.path.display());
            let golden = root().join(&case.path).with_extension(extension);
            if env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(&golden, &output.stdout).unwrap();
            } else if fs::read(&golden).ok().as_ref() != Some(&output.stdout) {
                wrong.push(format!("{}:\n{}", golden.display(), text(&output.stdout)));
            }
            if format == "json" {
                let summary = text(&output.stdout);
                let summary: Value = serde_json::from_str(summary.lines().last().unwrap()).unwrap();
                assert_eq!(summary["exit_code"].as_i64(), output.status.code().map(i64::from));
            }
        }
    }
    assert!(wrong.is_empty(), "differ from what is printed now:\n{}", wrong.join("\n"));
}

/// Goal: a folder's name says what its streams raise: one rule and nothing else, or nothing.
#[test]
fn each_folder_raises_what_it_is_named_after() {
    let mut named = BTreeSet::new();
    for case in cases() {
        let raised = raised(&case);
        if case.path.starts_with("fixtures/agents") {
            // Named after what it shows, in a folder named after the agent.
            let named = case.path.file_stem().and_then(|it| it.to_str()?.parse::<Rule>().ok());
            let shown = named.is_none_or(|rule| raised.iter().any(|it| it == rule.name()));
            assert!(shown, "{}: {raised:?}", case.path.display());
            continue;
        }
        match case.folder().parse::<Rule>() {
            Ok(rule) => {
                assert_eq!(raised, [rule.name()], "{}", case.path.display());
                named.insert(rule);
            }
            Err(_) => assert_eq!(raised, [""; 0], "{}", case.path.display()),
        }
    }
    // Those of run mode need a command; their pages' examples are run instead.
    let of_commands = [Rule::SilentFailure, Rule::PipeHeldOpen, Rule::Stalled];
    named.extend(of_commands);
    let missing: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !named.contains(rule)).collect();
    assert!(missing.is_empty(), "rules without a fixture: {missing:?}");
}

fn raised(case: &Case) -> Vec<String> {
    let golden = fs::read_to_string(root().join(&case.path).with_extension("json")).unwrap();
    let raised: BTreeSet<String> = golden
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["type"] == "diagnostic")
        .map(|line| line["rule"].as_str().unwrap().to_owned())
        .collect();
    raised.into_iter().collect()
}

#[test]
fn no_expectation_is_left_without_its_stream() {
    for extension in ["txt", "json", "to", "args"] {
        for file in files(&root().join("fixtures"), extension) {
            let name = file.file_name().unwrap();
            let own = ["profile.json", "schema.json", "report.schema.json"];
            // A profile in the making: the page on the language is read beside it.
            let step = extension == "json" && name.to_string_lossy().starts_with("step-");
            if !step && !own.iter().any(|it| name == Path::new(it).as_os_str()) {
                assert!(file.with_extension("ndjson").exists(), "{}", file.display());
            }
        }
    }
}
