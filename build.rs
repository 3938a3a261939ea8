//! Packs the recordings that `replay` plays: the good fixtures of the profiles, and those of the lab.

#[cfg(feature = "cli")]
mod catalogue {
    use std::error::Error;
    use std::fmt::Write as _;
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::Value;

    /// The names of fixtures that show a complete run.
    const GOOD: [&str; 3] = ["good", "plain", "tools"];

    /// Others of the agents that most harnesses run: the agent, the name of the recording, the file in
    /// `fixtures`, and the exit status of the agent.
    const MORE: [(&str, &str, &str, u8); 10] = [
        ("claude", "not-logged-in", "agents/claude/not-logged-in", 1),
        ("claude", "overloaded", "agents/claude/overloaded", 1),
        ("claude", "parallel", "agents/claude/parallel-calls", 0),
        ("claude", "partial", "agents/claude/partial", 0),
        ("claude", "denied", "agents/claude/permission-denied", 0),
        ("claude", "subagent", "agents/claude/subagent", 0),
        ("claude", "truncated", "agents/claude/truncated", 143),
        ("cursor", "failed", "agents/cursor/is-error", 1),
        ("cursor", "partial", "agents/cursor/partial", 0),
        ("cursor", "truncated", "rules/truncated-line/open-calls", 143),
    ];

    /// One recording: its agent, its name, the exit status of its agent, and its bytes.
    type Scenario = (String, String, u8, Vec<u8>);

    pub(super) fn write() -> Result<(), Box<dyn Error>> {
        let mut recordings = Vec::new();
        for folder in entries(Path::new("fixtures/agents"))? {
            recordings.extend(fixtures(&folder)?);
        }
        for folder in entries(Path::new("lab/recordings"))? {
            recordings.extend(of_lab(&folder)?);
        }
        let (mut table, mut start) = ("&[".to_owned(), 0);
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        for (agent, name, status, bytes) in recordings {
            let end = start + bytes.len();
            writeln!(
                table,
                "Scenario {{ agent: {agent:?}, name: {name:?}, status: {status}, bytes: {start}..{end} }},"
            )?;
            packed.write_all(&bytes)?;
            start = end;
        }
        table.push(']');
        let out = PathBuf::from(env::var("OUT_DIR")?);
        fs::write(out.join("recordings.rs"), table)?;
        fs::write(out.join("recordings.gz"), packed.finish()?)?;
        Ok(())
    }

    fn fixtures(folder: &Path) -> Result<Vec<Scenario>, Box<dyn Error>> {
        let files = entries(folder)?.into_iter().filter(|path| is_stream(path));
        let good = files.filter(|path| GOOD.contains(&&*stem(path)));
        let good = good.map(|path| (stem(&path), path, 0));
        let more = MORE.iter().filter(|(agent, ..)| *agent == last(folder));
        let more = more.map(|(_, name, file, status)| {
            ((*name).to_owned(), Path::new("fixtures").join(file).with_extension("ndjson"), *status)
        });
        let recordings = good.chain(more);
        recordings
            .map(|(name, path, status)| Ok((last(folder), name, status, fs::read(&path)?)))
            .collect()
    }

    fn of_lab(folder: &Path) -> Result<Vec<Scenario>, Box<dyn Error>> {
        let truth: Value = serde_json::from_slice(&fs::read(folder.join("truth.json"))?)?;
        let files = entries(folder)?.into_iter().filter(|path| is_stream(path));
        let recording = |path: PathBuf| {
            let status = truth[stem(&path)]["exit_status"].as_u64().unwrap_or_default();
            Ok((last(folder), stem(&path), u8::try_from(status)?, fs::read(&path)?))
        };
        files.map(recording).collect()
    }

    /// What is in a folder, in order.
    fn entries(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() || is_stream(&path) {
                paths.push(path);
            }
        }
        paths.sort_by_key(|path| stem(path));
        Ok(paths)
    }

    fn is_stream(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == "ndjson")
    }

    fn stem(path: &Path) -> String {
        path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn last(folder: &Path) -> String {
        folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "cli")]
    catalogue::write()?;
    Ok(())
}
