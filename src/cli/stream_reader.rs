//! Recordings that a subcommand compares, and does not judge.

use ndjson_check_core::{Checker, Error, Observer, ProducerExit};

use super::args::{RedactArgs, in_shell};
use super::check_stream::{StreamJob, check_stream};
use super::config;
use super::error::CliError;
use super::inputs::Input;
use super::inputs::contents::{FoundStream, each_stream};
use super::redaction::Redaction;

/// Reads the figures of recordings, redacted if they must be. It judges nothing.
pub(super) struct StreamReader {
    checker: Checker,
    redaction: Option<Redaction>,
}

impl StreamReader {
    /// Without a named profile, that of the nearest configuration file is used. `hashes` says
    /// whether the summaries need the SHA-256 of the streams.
    pub(super) fn new(
        profile: Option<&str>,
        redact: &RedactArgs,
        hashes: bool,
    ) -> Result<Self, CliError> {
        let redaction = Redaction::of(redact)?;
        let profile = match profile {
            Some(profile) => profile.to_owned(),
            None => config::nearest()?.profile().to_owned(),
        };
        let checker = Checker::builder().profile(&profile).stats(true).sha256(hashes).build()?;
        Ok(Self { checker, redaction })
    }

    /// Reads the recordings in a file, of which there must be `only_one` if so. `each` gets the
    /// name of each, and what observed it.
    pub(super) fn read<O: Observer + Default>(
        &mut self,
        input: &Input,
        only_one: bool,
        mut each: impl FnMut(Result<(String, O), Error>),
    ) {
        let source = match input.open() {
            Ok(source) => source,
            Err(error) => return each(Err(error)),
        };
        each_stream(&input.name(), source, only_one.then_some("diff"), |stream| {
            each(stream.and_then(|FoundStream { name, source, .. }| {
                let mut observer = O::default();
                let redaction = self.redaction.as_ref();
                let (copies, out, supervisor) = (&mut [], &mut observer, &mut ());
                let job = StreamJob { name, redaction, copies, out, supervisor };
                check_stream(&mut self.checker, job, source, ProducerExit::default)?;
                Ok((name.to_owned(), observer))
            }));
        });
    }

    /// How secrets are replaced in what is shown.
    pub(super) fn redaction(&self) -> Option<&Redaction> {
        self.redaction.as_ref()
    }
}

/// Why a recording is of no use, and the command that says more.
pub(super) fn no_event(input: &Input) -> String {
    match input {
        Input::Stdin => "it has no event".to_owned(),
        Input::Path(path) => {
            let name = in_shell(&path.to_string_lossy()).into_owned();
            format!("it has no event; `ndjson-check {name}` says why")
        }
    }
}
