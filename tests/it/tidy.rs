//! The house rules that a compiler does not know.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::streams::{files, root};

/// The floors: a module may use those on floors below its own, and nobody beside it.
const FLOORS: &[&[&str]] = &[
    &["limits"],
    &[
        "rule",
        "error",
        "nearest",
        "pointer",
        "pattern",
        "verdict",
        "descriptor",
        "tee",
        "workflow",
        "end",
        "credit",
    ],
    &["visible", "line", "input", "progress", "tape"],
    &["schema"],
    &["diagnostic"],
    &["event"],
    &["path", "shape"],
    &["profile"],
    &["facts", "framing", "contract", "fingerprint"],
    &["vocabulary", "sequence", "correlation", "reassembly", "terminal"],
    &["convert", "infer", "summary"],
    &["report"],
    &["check", "producer"],
    &["cli"],
    &["run"],
];

/// Path relative to `src`, and text without the unit tests at its end.
fn sources() -> Vec<(String, String)> {
    let folder = root().join("src");
    let sources: Vec<_> = files(&folder, "rs")
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap().to_owned();
            (path.strip_prefix(&folder).unwrap().to_str().unwrap().to_owned(), code)
        })
        .collect();
    assert!(sources.len() > 25);
    sources
}

fn module(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap()
}

#[test]
fn modules_use_only_what_is_below_them() {
    let floor = |module: &str| FLOORS.iter().position(|floor| floor.contains(&module));
    for (path, code) in sources() {
        let own = module(&path);
        if ["lib", "main"].contains(&own) {
            continue;
        }
        let own_floor = floor(own).unwrap_or_else(|| panic!("{own} has no floor"));
        for part in code.split("crate::").skip(1) {
            let used = part.split(|it: char| !it.is_alphanumeric() && it != '_').next().unwrap();
            if used == own {
                continue;
            }
            let Some(used_floor) = floor(used) else { panic!("{path} uses {used}, unknown") };
            assert!(used_floor < own_floor, "{path} uses {used}, which is not below it");
        }
    }
}

#[test]
fn crates_stay_in_their_rooms() {
    let rooms: [(&str, &[&str]); 18] = [
        ("indicatif", &["progress"]),
        ("foldhash", &["correlation", "event"]),
        ("jsonschema", &["schema"]),
        ("regex", &["pattern"]),
        ("owo_colors", &["report"]),
        ("memchr", &["line", "event", "tape"]),
        ("clap", &["cli", "run"]),
        ("tempfile", &["report"]),
        ("walkdir", &["input"]),
        ("rustix", &["descriptor", "producer"]),
        ("same_file", &["run"]),
        ("std::process", &["main", "producer"]),
        ("nix", &["producer"]),
        ("simdutf8", &["line"]),
        ("smallvec", &["facts", "path", "reassembly"]),
        ("strsim", &["nearest"]),
        ("wide", &["tape"]),
        ("signal_hook", &["main", "producer"]),
    ];
    for (path, code) in sources() {
        for (name, allowed) in rooms {
            let used = code
                .match_indices(&format!("{name}::"))
                .any(|(at, _)| !code[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_'));
            assert!(!used || allowed.contains(&module(&path)), "{path} uses {name}");
        }
        let formats = code.contains("println!") || code.contains("stdout().write");
        assert!(!formats, "{path} prints");
    }
}

/// Goal: a producer's words are data in `profiles`, never code.
/// Method: no string literal of the sources has a word that only a profile or its schema knows.
#[test]
fn no_producer_is_known_outside_its_profile() {
    let mut own = BTreeSet::new();
    for file in ["src/report.schema.json", "src/profiles/profile.schema.json"] {
        let schema: Value = serde_json::from_slice(&fs::read(root().join(file)).unwrap()).unwrap();
        words(&schema, &mut own);
    }
    let mut vendor = BTreeSet::new();
    for file in files(&root().join("src/profiles"), "json") {
        if file.parent() != Some(&root().join("src/profiles")) {
            words(&serde_json::from_slice(&fs::read(&file).unwrap()).unwrap(), &mut vendor);
        }
    }
    // Words of everyday English are not evidence; the tags of events are.
    let compound = |word: &str| word.contains('_') || word.contains(char::is_uppercase);
    let ordinary = [
        "result",
        "user",
        "delta",
        "error",
        "response",
        "retry",
        "started",
        "completed",
        "PowerShell",
        "allOf",
    ];
    vendor.retain(|word| !ordinary.contains(&&**word));
    let tags = tags(&root().join("src/profiles/cursor/profile.json"));
    vendor.retain(|word| compound(word) || tags.contains(word));
    vendor.retain(|word| !own.contains(word));
    for word in ["permissionMode", "timestamp_ms", "assistant", "thinking", "ToolCall"] {
        assert!(vendor.contains(word), "{vendor:?}");
    }
    let mut found = Vec::new();
    for (path, code) in sources() {
        for literal in literals(&code) {
            for word in literal.split(|it: char| !it.is_alphanumeric() && it != '_') {
                let known = vendor.contains(word) && (compound(word) || word == literal);
                if known {
                    found.push(format!("{path}: {literal:?} knows {word:?}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn tags(profile: &Path) -> BTreeSet<String> {
    let profile: Value = serde_json::from_slice(&fs::read(profile).unwrap()).unwrap();
    let lists = ["documented", "observed"].map(|key| profile["tags"][key].as_array().unwrap());
    let tags = lists.into_iter().flatten().map(|tag| tag.as_str().unwrap());
    tags.flat_map(|tag| tag.split('/')).map(str::to_owned).collect()
}

/// The names of properties and the tokens of paths, at any depth.
fn words(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                into.extend(key.split('/').map(|it| it.trim_start_matches('*').to_owned()));
                words(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, into)),
        Value::String(text) if text.starts_with('/') => {
            into.extend(text.split('/').map(|it| it.trim_start_matches('*').to_owned()));
        }
        Value::String(text) if text.len() > 3 && !text.contains(' ') => {
            into.insert(text.clone());
        }
        _ => {}
    }
    into.retain(|word| word.len() > 3);
}

fn literals(code: &str) -> Vec<&str> {
    let code_lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    code_lines.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

#[test]
fn files_and_functions_fit_the_head() {
    let mut all = files(&root().join("src"), "rs");
    all.extend(files(&root().join("tests"), "rs"));
    all.extend(files(&root().join("benches"), "rs"));
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.display();
        assert!(text.lines().count() <= 400, "{shown} has {} lines", text.lines().count());
        let mut begun: Option<(usize, usize)> = None;
        for (number, line) in (1..).zip(text.lines()) {
            assert!(line.chars().count() <= 100, "{shown}:{number} is too long");
            assert!(!line.contains('\t'), "{shown}:{number} has a tab");
            let indent = line.len() - line.trim_start().len();
            let is_function = line.trim_start().starts_with("fn ") || line.contains(" fn ");
            if is_function && begun.is_none() && !line.trim_start().starts_with("//") {
                begun = Some((number, indent));
            } else if let Some((start, depth)) = begun
                && indent == depth
                && line.trim_start().starts_with('}')
            {
                assert!(number - start < 70, "{shown}:{start} is {} lines", number - start + 1);
                begun = None;
            }
        }
    }
}

#[test]
fn the_changelog_knows_this_version() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(changelog.contains(&format!("## [{}]", env!("CARGO_PKG_VERSION"))));
}

/// Goal: nothing that opens a connection is ever linked.
#[test]
fn no_network_crate_is_in_the_tree() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let names: Vec<&str> = lock.lines().filter_map(|it| it.strip_prefix("name = ")).collect();
    assert!(names.len() > 30);
    for name in ["reqwest", "hyper", "rustls", "tokio", "ureq", "curl", "native-tls", "socket2"] {
        assert!(!names.contains(&format!("\"{name}\"").as_str()), "{name}");
    }
    let manifest = fs::read_to_string(Path::new(root()).join("Cargo.toml")).unwrap();
    assert!(manifest.contains("jsonschema = { version = \"~0.60\", default-features = false,"));
}

/// Goal: what the compiler does not check stands in one small module, with its argument.
#[test]
fn unsafe_code_is_in_one_module() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    for (path, code) in sources() {
        let own = path == "tape/avx2.rs";
        assert_eq!(code.contains("unsafe_code"), own, "{path}");
        assert_eq!(code.matches("unsafe {").count(), if own { 2 } else { 0 }, "{path}");
        assert!(!own || (code.contains("SAFETY:") && code.lines().count() < 130), "{path}");
    }
}
