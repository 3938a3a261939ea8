//! The subcommands, which give no verdict on a run: `rules`, `profiles`, `schema`, `merge`, `diff`,
//! `drift`, `replay`, `completions` and `man`.

use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use ndjson_check_core::Error;
use ndjson_check_core::internals::{
    self, DEFAULT, LANGUAGE, ProfileEntry, events_schema, profile_entry, profile_names,
};
use ndjson_check_draft::draft_profile;
use ndjson_check_formats::REPORT_SCHEMA;
use ndjson_check_formats::baseline;
use ndjson_check_formats::report::MergedReports;

use super::args::{
    ProfileDraft, RedactArgs, RedactMode, SchemaOf, Subcommand, completions, manual_page,
};
use super::error::CliError;
use super::exit;
use super::inputs::contents::one_stream;
use super::inputs::{Input, STDIN, inputs};
use super::outputs::stdout;
use super::redaction::Redaction;
use super::workflow_commands::escape_commands;
use super::{diff, drift, replay, rule_pages};
use super::{print, print_stderr};

/// Returns the exit code.
pub(super) fn run(subcommand: &Subcommand) -> Result<u8, CliError> {
    match subcommand {
        Subcommand::Merge { reports, redact } => return merge(reports, redact),
        Subcommand::Diff(arguments) => return diff::run(arguments),
        Subcommand::Drift(arguments) => return drift::run(arguments),
        Subcommand::Replay(arguments) => return replay::run(arguments),
        Subcommand::Rules { name: None } => print(&rule_pages::list())?,
        Subcommand::Rules { name: Some(rule) } => print(&rule_pages::page(*rule))?,
        Subcommand::Profiles { draft: Some(ProfileDraft::Draft { files }), .. } => {
            print_draft(files)?;
        }
        Subcommand::Profiles { name: None, .. } => print(&profile_list()?)?,
        Subcommand::Profiles { name: Some(name), .. } => {
            print(&internals::whole_profile_text(name)?)?;
        }
        Subcommand::Schema { of, profile } => print(&schema(*of, profile.as_deref())?)?,
        Subcommand::Completions { shell } => print(&completions(*shell))?,
        Subcommand::Man => {
            let page = manual_page();
            print(&page.map_err(|error| CliError::output("the manual page", error))?)?;
        }
    }
    Ok(exit::SUCCEEDED)
}

/// Joins reports into one on standard output. Returns the exit code of all.
fn merge(reports: &[PathBuf], redact: &RedactArgs) -> Result<u8, CliError> {
    let redaction = Redaction::of(redact)?;
    if redact.modes.contains(&RedactMode::Content) {
        let message = "a report does not show which of its parts are content: use --redact secrets";
        return Err(CliError::usage(message));
    }
    let merged = merge_redacted(reports, redaction.as_ref());
    merged.map_err(|error| error.redacted(redaction.as_ref()))
}

fn merge_redacted(reports: &[PathBuf], redaction: Option<&Redaction>) -> Result<u8, CliError> {
    let mut merged = MergedReports::default().spilling_to(tempfile::tempfile);
    // The same file may have two names.
    let files = reports.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    let files: Vec<PathBuf> = files.collect();
    if let Some(twice) = (0..files.len()).find(|at| files[..*at].contains(&files[*at])) {
        return Err(CliError::Usage(format!("{} is named twice", reports[twice].display())));
    }
    for path in reports {
        let input =
            if path.as_os_str() == STDIN { Input::Stdin } else { Input::Path(path.clone()) };
        let report = BufReader::new(input.open()?);
        let added = match redaction {
            None => merged.add(report),
            Some(redaction) => merged.add(BufReader::new(redaction.of_lines(report))),
        };
        added.map_err(|message| Error::Report { origin: input.name(), message })?;
    }
    let code = exit::first(merged.exit_codes());
    let mut writer = BufWriter::new(escape_commands(stdout()?));
    let written = merged.write(&mut writer, code);
    // After a failure nothing more is written, which would look like a whole report.
    let _ = writer.into_parts();
    CliError::of_stdout(written)?;
    Ok(code)
}

fn profile_list() -> Result<String, Error> {
    let width = profile_names().map(str::len).max().unwrap_or_default();
    let mut text = format!("{:<width$} AGENT, AND THE VERSIONS SEEN\n", "PROFILE");
    for name in profile_names() {
        let ProfileEntry { title, command, versions, .. } = profile_entry(name)?;
        let agent: Vec<String> = [title].into_iter().chain(command).collect();
        let seen = versions.join(", ");
        let seen = if seen.is_empty() { seen } else { format!("\n{:width$} {seen}", "") };
        text.extend([format!("{name:<width$} {}{seen}\n", agent.join(": "))]);
    }
    Ok(text)
}

fn schema(of: SchemaOf, profile: Option<&str>) -> Result<String, CliError> {
    match (of, profile) {
        (SchemaOf::Events, _) => Ok(format!("{:#}\n", events_schema(profile.unwrap_or(DEFAULT))?)),
        (_, Some(_)) => Err(CliError::usage("--profile works with `schema events` only")),
        (SchemaOf::Report, None) => Ok(REPORT_SCHEMA.to_owned()),
        (SchemaOf::Profile, None) => Ok(LANGUAGE.to_owned()),
        (SchemaOf::Config, None) => Ok(ndjson_check_config::SCHEMA.to_owned()),
        (SchemaOf::Baseline, None) => Ok(baseline::SCHEMA.to_owned()),
    }
}

/// Prints the draft of a profile, and the reasons for it on standard error. Both quote recordings.
fn print_draft(arguments: &[PathBuf]) -> Result<(), CliError> {
    let recordings = recordings(arguments)?;
    let draft = draft_profile(&recordings, &|path: &Path| {
        let input = Input::Path(path.to_owned());
        Ok(Box::new(one_stream(&input.name(), input.open()?, "profiles draft")?))
    })?;
    for reason in &draft.evidence {
        print_stderr(reason);
    }
    print(&draft.profile())
}

/// The files to draft from: those that are named, and the streams below directories.
fn recordings(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let file = |input: Result<Input, Error>| match input? {
        Input::Path(path) if path.is_file() || !path.exists() => Ok(path),
        input @ (Input::Stdin | Input::Path(_)) => Err(Error::NothingToCheck {
            origin: input.name(),
            message: "recordings are read several times and must be regular files".to_owned(),
        }),
    };
    let named = if arguments.is_empty() { vec![STDIN.into()] } else { arguments.to_vec() };
    inputs(named).into_iter().map(file).collect()
}
