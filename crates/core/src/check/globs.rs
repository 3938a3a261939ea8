//! Globs for paths: `*` does not match `/`, `**` does. Globs for names: `*` matches all characters.

use std::fmt;
use std::path::Path;

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

use crate::rules::escape::shown;

/// Several globs; a path matches if it matches one of them.
#[derive(Debug, Clone)]
pub struct Globs(GlobSet);

impl Globs {
    /// # Errors
    ///
    /// What is wrong with the first glob that does not compile, or cannot match.
    pub fn new(globs: &[String]) -> Result<Self, String> {
        Self::compiled(globs, false)
    }

    /// The case of letters does not count. A glob that matches a directory matches all that is in
    /// it. One without `/` matches at every level, one that begins with `/` also from the agent's
    /// directory.
    ///
    /// # Errors
    ///
    /// When one of them is not a glob.
    pub fn in_any_reading(globs: &[String]) -> Result<Self, String> {
        let mut readings = Vec::new();
        for glob in globs {
            let below = format!("{glob}/**");
            let names_all = glob.ends_with("**") || glob.ends_with('/');
            for reading in [Some(glob), (!names_all).then_some(&below)].into_iter().flatten() {
                // What is wrong with a glob is said of it as it was written.
                readings.push(reading.clone());
                readings.extend(reading.strip_prefix('/').map(str::to_owned));
                readings.extend((!glob.contains('/')).then(|| format!("**/{reading}")));
            }
        }
        Self::compiled(&readings, true)
    }

    fn compiled(globs: &[String], in_any_case: bool) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            if matches_nothing(glob) {
                return Err(format!("{} matches no path: {}", shown(glob), advice(glob)));
            }
            let mut glob_builder = GlobBuilder::new(glob);
            glob_builder.literal_separator(true).case_insensitive(in_any_case);
            let parsed = glob_builder.build();
            let wrong =
                |error: globset::Error| format!("{} is not a glob: {}", shown(glob), error.kind());
            set.add(parsed.map_err(wrong)?);
        }
        let set =
            set.build().map_err(|error| format!("the globs are too large: {}", error.kind()))?;
        Ok(Self(set))
    }

    /// Whether one of the globs matches.
    pub fn match_path(&self, path: &str) -> bool {
        self.0.is_match(Path::new(path))
    }
}

/// Whether a glob cannot match a path, which has no `.` and no `..` in it, and names a file.
fn matches_nothing(glob: &str) -> bool {
    let parts = glob.strip_prefix('/').unwrap_or(glob).split('/');
    let is_impossible = |part: &str| ["", ".", "..", "~"].contains(&part);
    glob != glob.trim()
        || glob.starts_with('!')
        || glob.contains('\\')
        || parts.into_iter().any(is_impossible)
}

/// What to write for a glob that matches nothing.
fn advice(glob: &str) -> String {
    let glob = glob.trim();
    let glob = &*glob.replace('\\', "/");
    let parts = || glob.split('/');
    if glob.starts_with('!') {
        return "`!` does not negate a glob".to_owned();
    }
    if parts().any(|part| part == ".." || part == "~") {
        return "outside the agent's directory, write an absolute path".to_owned();
    }
    let names: Vec<&str> = parts().filter(|part| !["", "."].contains(part)).collect();
    if names.is_empty() {
        return "write `**` for all files".to_owned();
    }
    let root = if glob.starts_with('/') { "/" } else { "" };
    let is_directory = parts().next_back().is_some_and(|part| ["", "."].contains(&part));
    let below = if is_directory && !names.ends_with(&["**"]) { "/**" } else { "" };
    format!("write it as {}", shown(&format!("{root}{}{below}", names.join("/"))))
}

/// A glob for a name.
#[derive(Debug, Clone)]
pub struct NameGlob {
    text: String,
    matcher: GlobMatcher,
    in_any_case: GlobMatcher,
}

impl NameGlob {
    /// # Errors
    ///
    /// When it is empty, or does not compile.
    pub fn new(glob: &str) -> Result<Self, String> {
        if glob.is_empty() {
            return Err("a name is empty".to_owned());
        }
        let matcher = |in_any_case: bool| {
            let mut builder = GlobBuilder::new(glob);
            let built = builder.literal_separator(false).case_insensitive(in_any_case).build();
            let wrong =
                |error: globset::Error| format!("{} is not a glob: {}", shown(glob), error.kind());
            built.map(|glob| glob.compile_matcher()).map_err(wrong)
        };
        let (matcher, in_any_case) = (matcher(false)?, matcher(true)?);
        Ok(Self { text: glob.to_owned(), matcher, in_any_case })
    }

    pub(crate) fn is_for(&self, name: &str) -> bool {
        // A name may have brackets: `model[1m]`.
        self.text == name || self.matcher.is_match(Path::new(name))
    }

    /// Whether it is this name, and no other.
    pub(crate) fn is_only(&self, name: &str) -> bool {
        self.text == name
    }

    /// The same, whatever the case of the letters.
    pub(crate) fn is_like(&self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name) || self.in_any_case.is_match(Path::new(name))
    }
}

impl fmt::Display for NameGlob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&shown(&self.text))
    }
}
