//! Writes the corpora of the benchmarks into a folder.

mod sessions;

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: corpus FOLDER MIB [deltas|tools|sessions|huge|tiny|claude]...\n";

const ALL: [&str; 6] = ["deltas", "tools", "sessions", "huge", "tiny", "claude"];

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, mib, names @ ..] = &arguments[..] else { return misused() };
    let Ok(mib) = mib.parse::<usize>() else { return misused() };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.iter().any(|name| !ALL.contains(name)) {
        return misused();
    }
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    for name in if names.is_empty() { &ALL[..] } else { &names[..] } {
        write(folder, name, mib << 20)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn misused() -> io::Result<ExitCode> {
    io::stderr().write_all(USAGE.as_bytes())?;
    Ok(ExitCode::from(2))
}

/// Writes one corpus of about `bytes`; the huge one is half of that.
fn write(folder: &Path, name: &str, bytes: usize) -> io::Result<()> {
    let stream = match name {
        "deltas" => sessions::deltas(1, bytes),
        "tools" => sessions::tools(2, bytes),
        "huge" => sessions::huge(4, bytes / 2),
        "tiny" => sessions::tiny(5),
        "claude" => sessions::claude(6, bytes),
        _ => return write_many(&folder.join(name), bytes),
    };
    fs::write(folder.join(format!("{name}.ndjson")), stream)
}

fn write_many(folder: &Path, bytes: usize) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, session) in sessions::many(3, bytes).iter().enumerate() {
        fs::write(folder.join(format!("{number:04}.ndjson")), session)?;
    }
    Ok(())
}
