//! The text of the configuration file, and places in it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use ndjson_check_core::internals::{nearest, read_bounded, without_error_numbers};

/// An endless file ends here, too.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct ConfigText {
    file: PathBuf,
    text: String,
}

impl ConfigText {
    pub(crate) fn new(name: &str, text: String) -> Self {
        Self { file: PathBuf::from(name), text }
    }

    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let failed = |message: String| {
            format!("failed to read the configuration {}: {message}", file.display())
        };
        let bytes = read_bounded(file, CONFIG_BYTES_MAX);
        let bytes = bytes.map_err(|message| failed(without_error_numbers(&message)))?;
        let file = file.to_owned();
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { file, text }),
            Err(error) => {
                let end = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&error.as_bytes()[..end]).into_owned();
                Err(Self { file, text }.fault(&(end..end), "not valid UTF-8"))
            }
        }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A path in the file is relative to the file.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// `file:line:column`, both from 1.
    pub(crate) fn place(&self, span: &Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.file.display())
    }

    pub(crate) fn fault(&self, span: &Range<usize>, message: &str) -> String {
        format!("{}: {message}", self.place(span))
    }

    pub(crate) fn syntax_fault(&self, error: &toml::de::Error) -> String {
        let message: Vec<&str> = error.message().lines().map(str::trim).collect();
        self.fault(&error.span().unwrap_or_default(), &plain(&message.join("; ")))
    }
}

/// The keys of the sections.
const SECTIONS: [(&str, &[&str]); 2] = [
    ("limits", &["cost", "tokens", "turns", "failed-calls", "estimates"]),
    ("expect", &["presets", "model", "session", "servers", "tools", "answer", "writes"]),
];

/// The section that has such a key.
fn section_of(key: &str) -> Option<&'static str> {
    SECTIONS.iter().find(|(_, keys)| keys.contains(&key)).map(|(section, _)| *section)
}

/// Options of the command line that the file does not have.
const OPTIONS: [&str; 13] = [
    "call-timeout",
    "exit-grace",
    "exit-status",
    "idle-timeout",
    "jobs",
    "no-stdin",
    "redact",
    "report",
    "retries",
    "retry-after-writes",
    "retry-on",
    "tee",
    "timeout",
];

/// What the parser says of a pattern such as `"\d"`, and of a word without quotes.
const WRONG_ESCAPE: &str = "missing escaped value";
const UNQUOTED: &str = "string values must be quoted";

/// A message about a value of the wrong type in the words of TOML.
fn typed(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let found = match found {
        "invalid type: map" => "invalid type: table",
        "invalid type: sequence" => "invalid type: array",
        _ => found,
    };
    let expected = match expected {
        "a map" => "a table",
        "a sequence" => "an array",
        _ => expected,
    };
    format!("{found}, expected {expected}")
}

/// The parser's message in the words of TOML; for an unknown name, with the known name that is most
/// similar.
fn plain(message: &str) -> String {
    if message.starts_with(WRONG_ESCAPE) {
        return "in double quotes a backslash begins an escape; put the text in single quotes: \
                'a\\d'"
            .to_owned();
    }
    if message.starts_with(UNQUOTED) {
        return UNQUOTED.to_owned();
    }
    let what = match message.split('`').next() {
        Some("unknown field ") => "key",
        Some("unknown variant ") => "value",
        _ => return typed(message),
    };
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().unwrap_or_default();
    let known: Vec<&str> = names.collect();
    let option = unknown.replace('_', "-");
    let limit = option.strip_prefix("max-").filter(|limit| known.contains(limit));
    if let Some(section) = section_of(unknown).filter(|section| known.contains(section)) {
        return format!("unknown {what} `{unknown}`; it belongs below `[{section}]`");
    }
    let hint = match limit.or_else(|| nearest(unknown, known.iter().copied())) {
        _ if what == "key" && OPTIONS.contains(&&*option) => {
            format!("`--{option}` is an option of the command line only")
        }
        Some(near) => format!("a similar one is `{near}`"),
        None if known.len() == 1 => format!("the only one is `{}`", known[0]),
        None => format!("known are {}", known.join(", ")),
    };
    format!("unknown {what} `{unknown}`; {hint}")
}
