//! What the tests of this target share, next to what all targets share.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use ndjson_check::internals::profile_text;
use ndjson_check::{Checker, Converter, Form, FormStyle, JsonReport, Written};
use serde_json::Value;

pub(crate) use crate::support::{
    Case, PROGRAM, cases, check, checker, files, judge, program, root, run_on, shared, text,
};

/// Whether tests take all cases, and not some.
pub(crate) fn takes_all_cases() -> bool {
    std::env::var_os("NDJSON_CHECK_ALL_CASES").is_some()
}

/// One case in `every` of each folder, and its first; all of them if tests take all.
pub(crate) fn some_cases(every: usize) -> impl Iterator<Item = Case> {
    let every = if takes_all_cases() { 1 } else { every };
    let mut seen: BTreeMap<PathBuf, usize> = BTreeMap::new();
    cases().into_iter().filter(move |case| {
        let count = seen.entry(case.path.parent().unwrap().to_owned()).or_default();
        *count += 1;
        (*count - 1).is_multiple_of(every)
    })
}

/// Cases that have the same flags, so that one checker, or one process, takes them all.
pub(crate) fn by_flags(cases: impl IntoIterator<Item = Case>) -> BTreeMap<Vec<String>, Vec<Case>> {
    let mut groups: BTreeMap<Vec<String>, Vec<Case>> = BTreeMap::new();
    for case in cases {
        groups.entry(case.flags.clone()).or_default().push(case);
    }
    groups
}

/// Whether a terminal, or its reader, may be misled by a character. The program has a function of
/// its own for this: a mistake in it must not be a mistake of the tests, too.
pub(crate) fn misleads(character: char) -> bool {
    const ONE_BY_ONE: &str = "\u{ad}\u{61c}\u{180e}\u{feff}\u{fff9}\u{fffa}\u{fffb}";
    const RANGES: [(char, char); 4] = [
        ('\u{200b}', '\u{200f}'),
        ('\u{2028}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{e0000}', '\u{e007f}'),
    ];
    let is_in = |(first, last): &(char, char)| (*first..=*last).contains(&character);
    character.is_control() || ONE_BY_ONE.contains(character) || RANGES.iter().any(is_in)
}

impl Case {
    /// The name of the folder: an agent, a rule or a profile.
    pub(crate) fn folder(&self) -> &str {
        self.path.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap()
    }

    pub(crate) fn checker(&self) -> Checker {
        checker(self.flags.iter().map(String::as_str))
    }

    /// A stream of Cursor's that raises nothing, of a run that succeeded.
    pub(crate) fn is_good_run(&self) -> bool {
        self.folder() == "cursor" && !self.path.ends_with("is-error.ndjson")
    }
}

/// The json report of a stream, without its last line.
pub(crate) fn json_report(stream: impl Read, checker: &mut Checker) -> String {
    let mut report = Written::new(Vec::new(), Box::new(JsonReport::default()));
    checker.check("-", stream, &mut report).unwrap();
    text(report.writer().unwrap())
}

/// A member of a built-in profile, merged with that of the profile which it extends.
pub(crate) fn inherited(profile: &str, key: &str) -> Value {
    let own: Value = serde_json::from_str(profile_text(profile).unwrap()).unwrap();
    let mut value = own["extends"].as_str().map_or(Value::Null, |base| inherited(base, key));
    match (&mut value, own.get(key)) {
        (Value::Object(inherited), Some(Value::Object(own))) => inherited.extend(own.clone()),
        (value, Some(own)) => *value = own.clone(),
        (_, None) => {}
    }
    value
}

/// A stream in another form.
pub(crate) fn converted(stream: &[u8], checker: &mut Checker, to: Form) -> String {
    let mut output = Written::new(
        Vec::new(),
        Box::new(Converter::new(to, FormStyle { is_raw: true, ..FormStyle::default() })),
    );
    checker.check("-", stream, &mut output).unwrap();
    text(output.writer().unwrap())
}

/// What this system says of a file that is not there.
pub(crate) fn no_such_file() -> String {
    let error = std::fs::File::open(root().join("no such file")).unwrap_err().to_string();
    error.split(" (os error").next().unwrap().to_owned()
}

/// A program that a test needs is absent. With `REQUIRE_TOOLS` set that is a failure; any other run
/// says so on the real standard error.
pub(crate) fn is_absent(program: &str) {
    assert!(std::env::var_os("REQUIRE_TOOLS").is_none(), "there is no {program}");
    let _ = writeln!(std::io::stderr(), "\nNOT CHECKED: there is no {program}");
}
