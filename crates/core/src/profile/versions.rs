//! The versions of a producer that a profile is for.

use serde::Deserialize;

use crate::profile::path::Path;

/// Versions are numbers separated by dots, and are compared number by number.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Versions {
    /// Where the stream names the version.
    pub at: Option<Path>,
    /// Those with known streams.
    pub seen: Vec<String>,
    pub from: Option<String>,
    /// The first version after the range.
    pub before: Option<String>,
}

impl Versions {
    /// The range of the profile, if the version is outside it; `None` for text without a version.
    pub(crate) fn range_excluding(&self, version: &str) -> Option<String> {
        let version = numbers(version)?;
        let too_old = self.from.as_deref().and_then(numbers).is_some_and(|from| version < from);
        let too_new =
            self.before.as_deref().and_then(numbers).is_some_and(|before| version >= before);
        let from = self.from.as_ref().map(|version| format!("from {version}"));
        let before = self.before.as_ref().map(|version| format!("before {version}"));
        let range: Vec<String> = from.into_iter().chain(before).collect();
        (too_old || too_new).then(|| range.join(" and "))
    }
}

pub(super) fn is_below(version: &str, other: &str) -> bool {
    numbers(version) < numbers(other)
}

/// The numbers of a version without zeros at the end: of the first number with dots in the text,
/// as in `codex-cli 0.1-beta`, or of the number at its start.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let words = || version.split(|letter: char| letter != '.' && !letter.is_ascii_digit());
    let read = |word: &str| -> Option<Vec<u64>> {
        let numbers: Vec<u64> = word.split('.').map_while(|part| part.parse().ok()).collect();
        (!numbers.is_empty()).then_some(numbers)
    };
    let mut numbers = words()
        .filter_map(read)
        .find(|numbers| numbers.len() > 1)
        .or_else(|| read(words().next()?))?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        let versions = |from: &str, before: &str| Versions {
            from: (!from.is_empty()).then(|| from.to_owned()),
            before: (!before.is_empty()).then(|| before.to_owned()),
            ..Versions::default()
        };
        let within = [
            ("2.1", "3.0", "2.1.0"),
            ("2.1", "3.0", "2.10.233"),
            ("2.1", "3.0", "v2.1.1-beta.4"),
            ("0.9", "", "0.10"),
            ("", "", "7"),
            ("2", "3", "nightly"),
            ("2", "3", "nightly-20260101"),
            ("2", "3", "gpt-5 in agent-cli 2.1-beta"),
        ];
        for (from, before, version) in within {
            assert_eq!(versions(from, before).range_excluding(version), None, "{version}");
        }
        let outside = [
            ("2.1", "3.0", "2.0.99", "from 2.1 and before 3.0"),
            ("2.1", "3.0", "3", "from 2.1 and before 3.0"),
            ("2.1", "3.0", "10.0", "from 2.1 and before 3.0"),
            ("0.40", "", "0.9", "from 0.40"),
            ("0.40", "", "agent-cli 0.9", "from 0.40"),
            ("2", "3", "v3-beta", "from 2 and before 3"),
            ("", "2.24", "2.24.0", "before 2.24"),
        ];
        for (from, before, version, range) in outside {
            assert_eq!(versions(from, before).range_excluding(version).as_deref(), Some(range));
        }
    }
}
