//! Derives the table of built-in profiles from the folders of `src/profile/builtin`, and a table of
//! what their `detect` says and of the formats that no profile reads: the program finds out whose
//! stream it reads without parsing any profile.

#[path = "src/profile/detect"]
mod detect {
    pub(crate) mod table;
    mod write;

    use super::words::PackedTexts;
}
#[path = "src/json/schema"]
#[expect(dead_code, reason = "a table is written, and not read")]
mod schema {
    pub(crate) mod table;
    mod table_write;

    use super::words::PackedTexts;
}
#[path = "src/json"]
mod json {
    #[expect(dead_code, unreachable_pub, reason = "only the library reads pointers")]
    pub(crate) mod pointer;
}
#[path = "src/profile/merge.rs"]
mod merge;
#[path = "src/json/words.rs"]
mod words;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use detect::table::DetectTable;
use schema::table::SchemaTable;
use serde_json::{Map, Value};
use words::PackedTexts;

const FOLDER: &str = "src/profile/builtin";

/// Formats that are recognised and not read.
const UNREAD: &str = "src/profile/unread.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed={UNREAD}");
    let mut profiles = BTreeMap::new();
    for entry in fs::read_dir(FOLDER)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let name = entry.file_name().into_string().map_err(|it| it.display().to_string())?;
            profiles.insert(name.clone(), json_file(&format!("{FOLDER}/{name}/profile.json"))?);
        }
    }
    let (mut table, mut texts) = ("&[\n".to_owned(), "&[\n".to_owned());
    let mut detect = Map::new();
    for (name, profile) in &profiles {
        detect.insert(name.clone(), profile["detect"].clone());
        let resolved = resolved(profile, &profiles).map_err(|error| format!("{name}: {error}"))?;
        let resolved = resolved.to_string();
        let file = |file: &str| {
            let path = format!("/{FOLDER}/{name}/{file}.json");
            format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?}))")
        };
        writeln!(texts, "{},", file("profile"))?;
        let schema = file("schema");
        let path = format!("{FOLDER}/{name}/schema.json");
        let nodes = SchemaTable::new(&json_file(&path)?);
        let nodes = rust_of_schema(&nodes.map_err(|error| format!("{path}: {error}"))?);
        writeln!(
            table,
            "BuiltInProfile {{ name: {name:?}, command: {:?}, resolved: {resolved:?}, \
             schema: {schema}, table: {nodes} }},",
            profile["command"].as_str()
        )?;
    }
    table.push(']');
    texts.push(']');
    let detect = DetectTable::new(detect.into(), json_file(UNREAD)?)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("builtin.rs"), table)?;
    fs::write(Path::new(&out).join("texts.rs"), texts)?;
    fs::write(Path::new(&out).join("detect.rs"), rust_of_detect(&detect))?;
    Ok(())
}

fn json_file(path: &str) -> Result<Value, String> {
    let text = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))
}

/// A profile with everything that it inherits.
fn resolved(profile: &Value, profiles: &BTreeMap<String, Value>) -> Result<Value, String> {
    let mut profile = profile.clone();
    let Some(base) = profile.as_object_mut().and_then(|members| members.remove("extends")) else {
        return Ok(profile);
    };
    let base = base.as_str().and_then(|base| profiles.get(base));
    let base = base.ok_or("it extends a profile that is not built in")?;
    merge::extended(resolved(base, profiles)?, profile)
        .map_err(|place| format!("{place}: null removes a key that the base does not have"))
}

fn rust_of_words(PackedTexts { text, ends }: &PackedTexts) -> String {
    format!("PackedTexts {{ text: Cow::Borrowed({text:?}), ends: Cow::Borrowed(&{ends:?}) }}")
}

fn rust_of_detect(table: &DetectTable) -> String {
    let DetectTable { words, tokens, paths, choices, patterns, tests, groups, profiles, unread } =
        table;
    let words = rust_of_words(words);
    format!(
        "DetectTable {{ words: {words}, tokens: Cow::Borrowed(&{tokens:?}), \
         paths: Cow::Borrowed(&{paths:?}), choices: Cow::Borrowed(&{choices:?}), \
         patterns: Cow::Borrowed(&{patterns:?}), tests: Cow::Borrowed(&{tests:?}), \
         groups: Cow::Borrowed(&{groups:?}), profiles: Cow::Borrowed(&{profiles:?}), \
         unread: Cow::Borrowed(&{unread:?}) }}"
    )
}

fn rust_of_schema(table: &SchemaTable) -> String {
    let SchemaTable { words, keywords, nodes, numbers, scalars, bounds, parts, patterns } = table;
    let words = rust_of_words(words);
    format!(
        "SchemaTable {{ words: {words}, keywords: Cow::Borrowed(&{keywords:?}), \
         nodes: Cow::Borrowed(&{nodes:?}), numbers: Cow::Borrowed(&{numbers:?}), \
         scalars: Cow::Borrowed(&{scalars:?}), bounds: Cow::Borrowed(&{bounds:?}), \
         parts: Cow::Borrowed(&{parts:?}), \
         patterns: Cow::Borrowed(&{patterns:?}) }}"
    )
}
