//! A draft of a profile and a schema, from recordings of an agent that nobody has described yet.
//!
//! Recordings are read several times: first to find out what names an event, one round for each
//! part of the tag, then once more to count what stands where. Nothing is known of any producer:
//! what is found rests on numbers, and the numbers are told. A draft is where a person begins.

mod draft;
mod ends;
mod fields;
mod finish;
mod ids;
mod last;
mod leaves;
mod outcomes;
mod prose;
mod survey;
mod texts;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
use crate::stream::event::{self, JsonRef};
use crate::cli::inputs::{Input, STDIN, inputs};
use crate::limits::{INFER_TAG_PARTS_MAX, LINE_BYTES_MAX};
use crate::stream::line::LineReader;
use crate::rules::escape::{escaped_json, shown};

use draft::Study;
use survey::Survey;

/// A profile as it may be, and why.
#[derive(Debug)]
pub struct Draft {
    /// The members of the profile, in the order in which a person reads them.
    members: Vec<(&'static str, Value)>,
    /// What it rests on, one sentence each, with numbers.
    pub evidence: Vec<String>,
}

impl Draft {
    /// The profile, its schema in it: a file that `--profile` takes.
    pub fn profile(&self) -> String {
        let mut json = "{".to_owned();
        for (index, (key, value)) in self.members.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let value = format!("{value:#}").lines().collect::<Vec<_>>().join("\n  ");
            let _ = write!(json, "{comma}\n  \"{key}\": {value}");
        }
        json.push_str("\n}\n");
        // Line by line: to the escape a line break is misleading too.
        json.lines().map(|line| escaped_json(line) + "\n").collect()
    }
}

/// Drafts a profile from these recordings: files, or directories of `*.ndjson` and `*.jsonl`.
///
/// # Errors
///
/// When one cannot be read, or is no file, since it is read several times; and when none holds an
/// event.
pub fn infer(arguments: &[PathBuf]) -> Result<Draft, Error> {
    let recordings = Recordings::new(arguments)?;
    let mut tag = Vec::new();
    let mut evidence = Vec::new();
    while tag.len() < INFER_TAG_PARTS_MAX {
        let mut survey = Survey::new(&tag);
        recordings.read(&mut survey)?;
        if survey.events() == 0 {
            return Err(Error::NothingToCheck {
                origin: arguments[0].display().to_string(),
                message: "no line is a JSON object".to_owned(),
            });
        }
        let Some((path, reason)) = survey.choice() else { break };
        evidence.push(reason);
        tag.push(path);
    }
    let mut study = Study::new(&tag);
    let read = recordings.read(&mut study)?;
    evidence.insert(0, read.told(recordings.0.len(), study.events()));
    let written = study.draft();
    evidence.extend(written.evidence);
    Ok(Draft { members: written.members, evidence })
}

/// Somebody who looks at the events of recordings.
trait Look {
    /// An event.
    fn event(&mut self, root: JsonRef<'_>);

    /// The end of a recording.
    fn end(&mut self);
}

/// The recordings, in order.
struct Recordings(Vec<PathBuf>);

impl Recordings {
    fn new(arguments: &[PathBuf]) -> Result<Self, Error> {
        let file = |input: Result<Input, Error>| match input? {
            Input::Path(path) if path.is_file() || !path.exists() => Ok(path),
            input @ (Input::Stdin | Input::Path(_)) => Err(Error::NothingToCheck {
                origin: input.name(),
                message: "recordings are read several times, and must be files".to_owned(),
            }),
        };
        let named = if arguments.is_empty() { vec![STDIN.into()] } else { arguments.to_vec() };
        inputs(named).into_iter().map(file).collect::<Result<_, _>>().map(Self)
    }

    fn read(&self, look: &mut dyn Look) -> Result<Read, Error> {
        let mut read = Read::default();
        for path in &self.0 {
            read.recording(path, look)?;
            look.end();
        }
        Ok(read)
    }
}

/// What the reading itself has shown.
#[derive(Debug, Default)]
struct Read {
    /// Lines that are no event, and where the first of them is.
    others: u64,
    first_other: Option<(PathBuf, u64)>,
}

impl Read {
    fn recording(&mut self, path: &Path, look: &mut dyn Look) -> Result<(), Error> {
        let input = Input::Path(path.to_owned());
        let mut lines = LineReader::new(input.open()?, LINE_BYTES_MAX);
        let mut found = Vec::new();
        while let Some(block) = lines.next_lines().map_err(|it| input.failed(it))? {
            for line in block {
                if let Some(event) = event::parse(&line, &mut found) {
                    look.event(event.root());
                } else {
                    self.others += 1;
                    self.first_other.get_or_insert((path.to_owned(), line.number));
                }
                found.clear();
            }
        }
        Ok(())
    }

    fn told(&self, recordings: usize, events: u64) -> String {
        let mut told =
            format!("{} and {}", counted(recordings as u64, "recording"), counted(events, "event"));
        if let Some((path, line)) = &self.first_other {
            let place = shown(&path.display().to_string());
            let lines = counted(self.others, "line");
            let _ = write!(told, "; {lines} beside them, the first is line {line} of {place}");
        }
        told
    }
}

/// A number of things.
fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}
