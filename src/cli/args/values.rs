//! The syntax of option values.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use ndjson_check_core::internals::similar;
use ndjson_check_core::{CallKind, EndReason};
use ndjson_check_formats::Form;

use super::duration::duration;
use crate::cli::stdio::names_stdout;

/// Most files that are checked at a time, for each core.
const JOBS_PER_CORE_MAX: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// A report and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportTo {
    pub(crate) format: ReportFormat,
    /// None is standard output.
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum ReportFormat {
    Human,
    Json,
    Github,
    Markdown,
    Junit,
    Sarif,
    Html,
}

impl ReportTo {
    /// Whether it is written to standard output; `is_quiet` leaves out what a person reads.
    pub(crate) fn is_on_stdout(&self, is_quiet: bool) -> bool {
        let is_for_people = matches!(self.format, ReportFormat::Human | ReportFormat::Github);
        self.file.is_none() && !(is_quiet && is_for_people)
    }

    /// The name of the file, and a line about it.
    pub(crate) fn described(&self) -> Option<(String, String)> {
        let file = self.file.as_ref()?.display().to_string();
        let line = format!("{} report: {file}", self.format.to_possible_value()?.get_name());
        Some((file, line))
    }
}

/// The arguments with each report on its own, where several are listed with commas. A comma in the
/// name of a file stays.
pub(super) fn reports_apart(arguments: &[OsString]) -> Vec<OsString> {
    let mut apart: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut is_ours = true;
    for argument in arguments {
        is_ours &= argument != "--";
        let follows = apart.last().is_some_and(|last| last == "--report");
        let list = argument.to_str().filter(|_| is_ours);
        let (begin, list) = match list {
            Some(list) if follows => ("", list),
            Some(option) if option.starts_with("--report=") => option.split_at("--report=".len()),
            _ => ("", ""),
        };
        let mut reports: Vec<String> = Vec::new();
        for part in list.split(',') {
            match reports.last_mut() {
                Some(report) if ReportFormat::of(part).is_none() => {
                    report.push(',');
                    report.push_str(part);
                }
                _ => reports.push(part.to_owned()),
            }
        }
        if reports.len() < 2 {
            apart.push(argument.clone());
            continue;
        }
        apart.push(format!("{begin}{}", reports[0]).into());
        apart.extend(reports[1..].iter().map(|report| format!("--report={report}").into()));
    }
    apart
}

impl ReportFormat {
    /// The format of `FORMAT` or `FORMAT=FILE`.
    fn of(text: &str) -> Option<Self> {
        Self::from_str(text.split('=').next()?, false).ok()
    }
}

impl FromStr for ReportTo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let file = match text.split_once('=') {
            Some((_, "")) => return Err("the file name is empty".to_owned()),
            None | Some((_, "-")) => None,
            Some((_, file)) if names_stdout(Path::new(file)) => None,
            Some((_, file)) => Some(PathBuf::from(file)),
        };
        let format = ReportFormat::of(text).ok_or_else(|| {
            let formats = ReportFormat::value_variants().iter();
            let formats = formats.filter_map(ReportFormat::to_possible_value);
            let names: Vec<String> = formats.map(|it| it.get_name().to_owned()).collect();
            format!("the formats are {}", names.join(", "))
        })?;
        Ok(Self { format, file })
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::fmt::Display for Size {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(bytes) = self;
        if *bytes > 0 && bytes.is_multiple_of(1 << 20) {
            write!(out, "{}MiB", bytes >> 20)
        } else {
            write!(out, "{bytes}")
        }
    }
}

pub(super) fn count<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "must be a whole number of 0 or more".to_owned())
}

pub(super) fn repeats(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number >= 2);
    number.ok_or_else(|| "must be a whole number of 2 or more".to_owned())
}

pub(super) fn exit_status(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "must be a whole number from 0 to 255".to_owned())
}

pub(super) fn retries(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "must be a whole number above 0".to_owned())
}

/// The forms that `--to` knows.
pub(super) fn forms() -> impl TypedValueParser<Value = Form> {
    let names = PossibleValuesParser::new(Form::ALL.map(Form::name));
    names.try_map(|name| Form::named(&name).ok_or("there is no such form"))
}

/// A reason after which a run may be tried again.
pub(super) fn retry_reason(name: &str) -> Result<EndReason, String> {
    let never =
        [EndReason::Completed, EndReason::Interrupted, EndReason::Killed, EndReason::Timeout];
    match EndReason::named(name) {
        Some(reason) if never.contains(&reason) => {
            Err("a run that ended for this reason is never tried again".to_owned())
        }
        Some(reason) => Ok(reason),
        None => {
            let reasons = EndReason::ALL.iter().filter(|reason| !never.contains(reason));
            let names: Vec<&str> = reasons.map(|reason| reason.name()).collect();
            let similar = similar(name, names.iter().copied());
            Err(format!("the reasons are {}{similar}", names.join(", ")))
        }
    }
}

/// The number of files to check at a time, lowered to what helps: a check keeps a core busy, and
/// many threads only wait for each other.
pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number: NonZeroUsize = text.parse().map_err(|_| "must be a whole number above 0")?;
    let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(number.min(cores.saturating_mul(JOBS_PER_CORE_MAX)))
}

/// How long a tool call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallTimeout {
    /// None: any kind without an own limit.
    pub(crate) kind: Option<CallKind>,
    pub(crate) limit: Duration,
}

impl FromStr for CallTimeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, time) = match text.split_once('=') {
            Some((kind, time)) => (Some(call_kind(kind)?), time),
            None => (None, text),
        };
        Ok(Self { kind, limit: duration(time)? })
    }
}

fn call_kind(name: &str) -> Result<CallKind, String> {
    CallKind::named(name).ok_or_else(|| {
        let kinds: Vec<&str> = CallKind::ALL.iter().map(|kind| kind.name()).collect();
        format!("the kinds of calls are {}", kinds.join(", "))
    })
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let shift = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kib" => 10,
            "m" | "mib" => 20,
            "g" | "gib" => 30,
            _ => return Err("the units are KiB, MiB and GiB".to_owned()),
        };
        let number: u64 = number.parse().map_err(|_| "must be a number of bytes".to_owned())?;
        let size = number.checked_mul(1 << shift).filter(|size| *size > 0);
        size.map(Self).ok_or_else(|| "the size is out of range".to_owned())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    Auto,
    StreamJson,
    Json,
    Array,
}

impl InputFormat {
    /// Whether the stream is one array; `None` if its first bytes show it.
    pub(crate) fn is_array(self) -> Option<bool> {
        match self {
            Self::Auto => None,
            Self::StreamJson | Self::Json => Some(false),
            Self::Array => Some(true),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SessionCount {
    One,
    Many,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    Fast,
    Reference,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndjson_check_core::LINE_BYTES_MAX;

    #[test]
    fn reports_may_be_listed_with_commas() {
        let apart = |arguments: &[&str]| -> Vec<String> {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let apart = reports_apart(&arguments).into_iter();
            apart.map(|argument| argument.into_string().expect("text")).collect()
        };
        let several = ["--report=json", "--report=junit=a,b.xml", "--report=html=x"];
        assert_eq!(apart(&["--report=json,junit=a,b.xml,html=x"]), several);
        assert_eq!(apart(&["--report", "json,github"]), ["--report", "json", "--report=github"]);
        for same in [
            &["--report", "json=a,b", "c,json"][..],
            &["--report=json", "x"],
            &["--report=no,json", "x"][1..],
            &["--", "--report=json,github"],
            &["--report"],
        ] {
            assert_eq!(apart(same), same);
        }
    }

    #[test]
    fn jobs_are_capped() {
        let cores = thread::available_parallelism().expect("the system knows its cores");
        assert_eq!(jobs("1"), Ok(NonZeroUsize::MIN));
        assert_eq!(jobs("100000").map(NonZeroUsize::get), Ok(cores.get() * 4));
        assert!(jobs("0").is_err() && jobs("-1").is_err() && jobs("many").is_err());
    }

    #[test]
    fn sizes_have_units() {
        let of = |text: &str| text.parse::<Size>().ok().map(|size| size.0);
        assert_eq!(of("100"), Some(100));
        assert_eq!(of("64MiB"), Some(64 << 20));
        assert_eq!(of("2k"), Some(2048));
        assert_eq!(of("1G"), Some(1 << 30));
        for wrong in ["", "0", "x", "-1", "1.5M", "1TB", "99999999999999999999", "99999999999G"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(Size(LINE_BYTES_MAX).to_string(), "64MiB");
    }
}
