//! The house rules that a compiler does not know.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::streams::{files, root};

/// The rooms of the core, with the files at the top. Each may use those before it.
const FLOORS: [&str; 12] = [
    "limits",
    "error",
    "rules",
    "json",
    "stream",
    "profile",
    "facts",
    "fast",
    "check",
    "redact",
    "run",
    "internals",
];

/// Path with the crate as its first folder (the program is `cli`), and text without unit tests.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut sources = Vec::new();
    let crates = ["core", "secrets", "shell", "formats", "config", "draft"];
    let crates = crates.map(|name| (format!("crates/{name}/src"), format!("{name}/")));
    for (folder, name) in crates.into_iter().chain([("src".to_owned(), String::new())]) {
        let folder = root().join(folder);
        for path in files(&folder, "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text[..start_of_tests(&text)].to_owned();
            let path = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            sources.push((format!("{name}{path}"), code));
        }
    }
    assert!(sources.len() > 250);
    sources
}

/// Where the unit tests begin.
fn start_of_tests(text: &str) -> usize {
    let mut tests = text.match_indices("\n#[cfg(test)]\n").map(|(at, _)| at);
    let is_module = |at: &usize| text[*at..].lines().take(4).any(|it| it.ends_with("mod tests {"));
    tests.find(is_module).unwrap_or(text.len())
}

fn module(path: &str) -> &str {
    path.split(['/', '.']).next().unwrap()
}

/// The modules at the top that a source names after `crate::`, also in braces.
fn modules_used(code: &str) -> Vec<&str> {
    let name = |text: &'_ str| text.len() - text.trim_start_matches(is_of_name).len();
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            used.push(&rest[..name(rest)]);
            continue;
        };
        let (mut depth, mut is_first) = (1, true);
        for (at, character) in group.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => is_first = true,
                _ if is_first && is_of_name(character) => {
                    used.push(&group[at..at + name(&group[at..])]);
                    is_first = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    used
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[test]
fn modules_use_only_what_is_below_them() {
    assert_eq!(
        modules_used("use crate::{rules::{A, B}, json};\ncrate::check::f()"),
        ["rules", "json", "check"]
    );
    let floor = |module: &str| FLOORS.iter().position(|floor| *floor == module);
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        let Some(own) = path.strip_prefix("core/").map(module).filter(|own| *own != "lib") else {
            continue;
        };
        let own_floor = floor(own).unwrap_or_else(|| panic!("{own} has no floor"));
        for used in modules_used(&code).into_iter().filter(|used| *used != own) {
            let used_floor = floor(used).unwrap_or_else(|| panic!("{path} uses {used}, unknown"));
            if used_floor >= own_floor {
                wrong.push(format!("{path} uses {used}, which does not come before it"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_core_has_nine_rooms() {
    let entries = fs::read_dir(root().join("crates/core/src")).unwrap();
    let (rooms, top): (Vec<_>, Vec<_>) =
        entries.map(|it| it.unwrap().path()).partition(|path| path.is_dir());
    let rooms: BTreeSet<&str> =
        rooms.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(rooms, FLOORS[2..11].iter().copied().collect());
    assert!(top.len() <= 4, "{top:?}");
}

/// Goal: whoever writes a report can do what ours do.
#[test]
fn reports_and_conversions_use_the_public_interface_alone() {
    for (path, code) in sources().iter().filter(|(path, _)| path.starts_with("formats/")) {
        assert!(!code.contains("internals"), "{path}");
    }
}

/// Goal: one name for one thing. What the two systems do in their own way has the same name.
#[test]
fn no_type_is_declared_twice() {
    let mut declared: BTreeMap<String, String> = BTreeMap::new();
    let mut twice = Vec::new();
    for (path, code) in sources().into_iter().filter(|(path, _)| !path.contains("run/windows/")) {
        for line in code.lines() {
            let mut words = line.split_whitespace().skip_while(|it| it.starts_with("pub"));
            // `pub(in path)` is not used. An associated type is inside an `impl` or a `trait`.
            let is_inside = line.starts_with(' ');
            let keyword = words.next().unwrap_or_default();
            if is_inside || !["struct", "enum", "trait", "type", "union"].contains(&keyword) {
                continue;
            }
            let name = words.next().unwrap_or_default();
            let name: String = name.chars().take_while(|it| is_of_name(*it)).collect();
            if let Some(first) = declared.insert(name.clone(), path.clone()) {
                twice.push(format!("{name}: {first}, {path}"));
            }
        }
    }
    assert!(declared.len() > 100, "only {}", declared.len());
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

/// Goal: the public interface stays small.
#[test]
fn the_public_interface_is_small() {
    let exported = |code: &str| -> usize {
        let uses = code.split("pub use ").skip(1).map(|it| it.split(';').next().unwrap());
        uses.map(|it| match it.split_once('{') {
            Some((_, names)) => {
                names.split(',').filter(|it| it.contains(char::is_alphabetic)).count()
            }
            None => 1,
        })
        .sum()
    };
    let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
    let core = read("crates/core/src/lib.rs");
    let all = exported(&core);
    assert!((20..=81).contains(&all), "{all} public items");
    assert_eq!(core.matches("\npub mod ").count(), 2, "internals and run");
    assert!(core.contains("#[doc(hidden)]\npub mod internals;"));
    let internals = read("crates/core/src/internals.rs");
    let all = exported(&internals) + internals.matches("pub fn ").count();
    assert!((1..=34).contains(&all), "{all} internals");
}

#[test]
fn crates_stay_in_their_rooms() {
    let rooms: [(&str, &[&str]); 12] = [
        ("foldhash", &["core/json/", "core/check/stage/calls"]),
        ("jsonschema", &["core/json/schema"]),
        ("regex", &["core/profile/pattern", "core/json/schema"]),
        ("globset", &["core/check/globs"]),
        (
            "memchr",
            &[
                "core/json/",
                "core/stream/",
                "core/profile/detect",
                "core/redact",
                "secrets/",
                "cli/workflow",
            ],
        ),
        ("sha2", &["core/check/mod", "formats/digits", "formats/report/html"]),
        ("self_cell", &["core/check/reader"]),
        ("std::process", &["main", "cli/", "core/run", "core/profile/exit", "core/check/end"]),
        ("simdutf8", &["core/stream/"]),
        ("smallvec", &["core/facts/", "core/profile/", "core/check/", "core/redact/written"]),
        ("strsim", &["core/rules/suggest"]),
        ("wide", &["core/json/tape", "core/rules/escape"]),
    ];
    for (path, code) in sources() {
        for (name, allowed) in rooms {
            let used = code
                .match_indices(&format!("{name}::"))
                .any(|(at, _)| !code[..at].ends_with(is_of_name));
            let is_allowed = allowed.iter().any(|it| path.starts_with(it));
            assert!(!used || is_allowed, "{path} uses {name}");
        }
        let formats = code.contains("println!") || code.contains("stdout().write");
        assert!(!formats, "{path} prints");
    }
}

/// Words of formats that some agents use, too.
const OF_FORMATS: [(&str, &str); 7] = [
    ("formats/convert/atif.rs", "system"),
    ("formats/convert/atif.rs", "total_cost_usd"),
    ("formats/convert/otlp.rs", "cache_creation"),
    ("formats/convert/otlp.rs", "cache_read"),
    ("formats/convert/otlp.rs", "invoke_agent"),
    ("core/run/windows/system.rs", "system"),
    // A program that models call in a shell.
    ("shell/edits.rs", "apply_patch"),
];

/// Goal: a producer's words are data in `profiles`, never code.
/// Method: no string literal of the sources has a word that only a profile or its schema knows.
#[test]
fn no_producer_is_known_outside_its_profile() {
    let mut own = BTreeSet::new();
    for file in [
        "crates/formats/src/report.schema.json",
        "crates/core/src/profile/profile.schema.json",
        "crates/core/src/profile/builtin/events/schema.json",
    ] {
        let schema: Value = serde_json::from_slice(&fs::read(root().join(file)).unwrap()).unwrap();
        words(&schema, &mut own);
    }
    let mut vendor = BTreeSet::new();
    for file in files(&root().join("crates/core/src/profile/builtin"), "json") {
        words(&serde_json::from_slice(&fs::read(&file).unwrap()).unwrap(), &mut vendor);
    }
    // Words of everyday English are not evidence; the tags of events are.
    let compound = |word: &str| word.contains('_') || word.contains(char::is_uppercase);
    let ordinary = [
        "result",
        "user",
        "delta",
        "request",
        "error",
        "response",
        "retry",
        "started",
        "completed",
        "PowerShell",
        "Agent",
        // Keywords of JSON Schema.
        "allOf",
        "patternProperties",
        "dependentSchemas",
        // Names of SARIF.
        "startLine",
        "exitCode",
    ];
    vendor.retain(|word| !ordinary.contains(&&**word));
    let tags = tags(&root().join("crates/core/src/profile/builtin/cursor/profile.json"));
    vendor.retain(|word| compound(word) || tags.contains(word));
    vendor.retain(|word| !own.contains(word));
    for word in
        ["permissionMode", "timestamp_ms", "assistant", "background_shell_timeout", "ToolCall"]
    {
        assert!(vendor.contains(word), "{vendor:?}");
    }
    let mut found = Vec::new();
    for (path, code) in sources() {
        for literal in literals(&code) {
            for word in literal.split(|it: char| !it.is_alphanumeric() && it != '_') {
                let known = vendor.contains(word) && (compound(word) || word == literal);
                if known && !OF_FORMATS.contains(&(&path, word)) {
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

pub(crate) fn literals(code: &str) -> Vec<&str> {
    let code_lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    code_lines.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

#[test]
fn files_and_functions_fit_the_head() {
    let mut all = files(&root().join("src"), "rs");
    all.extend(files(&root().join("crates"), "rs"));
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
    for name in ["reqwest", "hyper", "rustls", "mio", "ureq", "curl", "native-tls", "socket2"] {
        assert!(!names.contains(&format!("\"{name}\"").as_str()), "{name}");
    }
    // An async runtime, for an example: it cannot open a connection without mio and socket2.
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (dependencies, _) = manifest.split_once("[dev-dependencies]").unwrap();
    assert!(!dependencies.contains("tokio"));
    let manifest = fs::read_to_string(root().join("crates/core/Cargo.toml")).unwrap();
    let validator =
        r#"jsonschema = { optional = true, version = "~0.60", default-features = false }"#;
    assert!(manifest.contains(validator));
}

/// Goal: what the compiler does not check is in three small modules, with its argument.
#[test]
fn unsafe_code_is_in_three_modules() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
    for (path, code) in sources() {
        let counts = match &*path {
            "core/json/tape/avx2.rs" => [2, 0],
            "cli/at_start.rs" => [0, 1],
            "core/run/windows/system.rs" => [21, 0],
            _ => [0, 0],
        };
        let own = counts != [0, 0];
        assert_eq!(code.contains("unsafe_code"), own, "{path}");
        assert_eq!(["unsafe {", "#[unsafe("].map(|it| code.matches(it).count()), counts, "{path}");
        assert!(!own || (code.contains("SAFETY:") && code.lines().count() < 260), "{path}");
    }
}
