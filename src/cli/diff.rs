//! `diff`: what changed between two runs.

use std::path::Path;

use ndjson_check_core::Error;
use ndjson_check_formats::compare::{Outline, RunComparison};

use super::args::{CompareFormat, DiffArgs};
use super::error::CliError;
use super::inputs::inputs;
use super::stream_reader::{StreamReader, no_event};
use super::{exit, print};

/// Returns the exit code.
pub(super) fn run(arguments: &DiffArgs) -> Result<u8, CliError> {
    if arguments.a == arguments.b && arguments.a == Path::new("-") {
        return Err(CliError::usage("only one of the recordings can be standard input"));
    }
    let mut source = StreamReader::new(arguments.profile.as_deref(), &arguments.redact, true)?;
    let mut outline =
        |file| outline(file, &mut source).map_err(|error| error.redacted(source.redaction()));
    let (a, b) = (outline(&arguments.a)?, outline(&arguments.b)?);
    let Some(comparison) = RunComparison::new(&a, &b) else { return Ok(exit::NOT_CHECKED) };
    print(&match arguments.report {
        CompareFormat::Human => comparison.text(),
        CompareFormat::Json => comparison.json(),
        CompareFormat::Markdown => comparison.markdown(),
    })?;
    Ok(if comparison.is_same() { exit::SUCCEEDED } else { exit::DIFFERS })
}

fn outline(file: &Path, source: &mut StreamReader) -> Result<Outline, CliError> {
    let mut streams = inputs(vec![file.to_owned()]);
    if streams.len() > 1 {
        let message = format!(
            "{} has several recordings, but `diff` compares one with another; `--stats` shows the \
             figures of a directory",
            file.display()
        );
        return Err(CliError::Usage(message));
    }
    let none = || Error::NothingToCheck {
        origin: file.display().to_string(),
        message: "name a recording".to_owned(),
    };
    let input = streams.pop().ok_or_else(none)??;
    let mut outline = None;
    source.read(&input, true, |read| outline = Some(read));
    let (origin, outline): (String, Outline) = outline.ok_or_else(none)??;
    if outline.events() == 0 {
        let message = no_event(&input);
        return Err(Error::NothingToCheck { origin, message }.into());
    }
    Ok(outline)
}
