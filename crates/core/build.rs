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
#[path = "src/json/words.rs"]
mod words;

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
    let mut names = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().into_string().map_err(|it| it.display().to_string())?);
        }
    }
    names.sort();
    let mut table = "&[\n".to_owned();
    let mut detect = Map::new();
    for name in &names {
        let path = format!("{FOLDER}/{name}/profile.json");
        let text = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        let mut profile: Value =
            serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))?;
        detect.insert(name.clone(), profile["detect"].take());
        let file =
            |name: &str| format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {name:?}))");
        let profile = file(&format!("/{FOLDER}/{name}/profile.json"));
        let schema = file(&format!("/{FOLDER}/{name}/schema.json"));
        let path = format!("{FOLDER}/{name}/schema.json");
        let text = fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        let document: Value =
            serde_json::from_slice(&text).map_err(|error| format!("{path}: {error}"))?;
        let nodes = SchemaTable::new(&document).map_err(|error| format!("{path}: {error}"))?;
        let nodes = rust_of_schema(&nodes);
        writeln!(
            table,
            "BuiltInProfile {{ name: {name:?}, profile: {profile}, schema: {schema}, \
             table: {nodes} }},"
        )?;
    }
    table.push(']');
    let unread = fs::read(UNREAD).map_err(|error| format!("{UNREAD}: {error}"))?;
    let unread: Value =
        serde_json::from_slice(&unread).map_err(|error| format!("{UNREAD}: {error}"))?;
    let detect = DetectTable::new(detect.into(), unread)?;
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("builtin.rs"), table)?;
    fs::write(Path::new(&out).join("detect.rs"), rust_of_detect(&detect))?;
    Ok(())
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
