//! Derives the table of built-in profiles from the folders of `src/profile/builtin`, and one small
//! file with what their `detect` says and with the formats that no profile reads: the program finds out
//! whose stream it reads without parsing every profile.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value, json};

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
        writeln!(
            table,
            "BuiltInProfile {{ name: {name:?}, profile: {profile}, schema: {schema} }},"
        )?;
    }
    table.push(']');
    let unread = fs::read(UNREAD).map_err(|error| format!("{UNREAD}: {error}"))?;
    let unread: Map<String, Value> =
        serde_json::from_slice(&unread).map_err(|error| format!("{UNREAD}: {error}"))?;
    let detect = json!({ "profiles": detect, "unread": unread });
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    fs::write(Path::new(&out).join("builtin.rs"), table)?;
    fs::write(Path::new(&out).join("detect.json"), detect.to_string())?;
    Ok(())
}
