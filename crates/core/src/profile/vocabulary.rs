//! The words of a profile: what it and its schemas compare texts with.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;

use super::detect::DetectRules;
use super::pattern::{LazyRegex, PatternSet, escaped, pattern_error};
use super::providers::patterns_of_providers;

/// The texts and patterns with which values of events are compared.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    texts: HashSet<String>,
    /// Keys with `/` in the paths of the profile: `_claude/origin`.
    keys: HashSet<String>,
    patterns: Vec<WordPattern>,
    /// The same, to find those that match.
    set: PatternSet,
}

/// A pattern, and the words in it.
#[derive(Debug)]
struct WordPattern {
    regex: LazyRegex,
    words: HashSet<String>,
}

impl Vocabulary {
    /// The words of a profile, of its schemas, and of all detection rules.
    pub(crate) fn new<'s>(profile: &Value, schemas: impl Iterator<Item = &'s Value>) -> Self {
        let mut vocabulary = Self::default();
        vocabulary.profile(profile, "");
        let detect = DetectRules::built_in();
        vocabulary.texts.extend(detect.texts().map(str::to_owned));
        detect.beginnings().for_each(|text| vocabulary.pattern(&format!("^{}", escaped(text))));
        detect.patterns().for_each(|pattern| vocabulary.pattern(pattern));
        patterns_of_providers().for_each(|pattern| vocabulary.pattern(&pattern));
        schemas.for_each(|schema| vocabulary.schema(schema, ""));
        vocabulary
    }

    fn profile(&mut self, value: &Value, key: &str) {
        match value {
            Value::String(text) if key == "matches" => self.pattern(text),
            Value::String(text) if key == "starts_with" => {
                self.pattern(&format!("^{}", escaped(text)));
            }
            Value::String(text) => {
                self.path(text);
                self.texts.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| self.profile(item, key)),
            Value::Object(members) => {
                members.iter().filter(|(key, _)| *key != "schema").for_each(|(key, value)| {
                    self.path(key);
                    self.profile(value, key);
                });
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn path(&mut self, path: &str) {
        let tokens = path.split('/').filter(|token| token.contains("~1"));
        self.keys.extend(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")));
    }

    fn schema(&mut self, value: &Value, key: &str) {
        match value {
            // A schema may have patterns in another syntax.
            Value::String(text) if key == "pattern" && pattern_error(text).is_none() => {
                self.pattern(text);
            }
            Value::String(text) if ["const", "enum"].contains(&key) => {
                self.texts.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| self.schema(item, key)),
            Value::Object(members) => members.iter().for_each(|(key, it)| self.schema(it, key)),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn pattern(&mut self, text: &str) {
        let words = words(text).map(|range| text[range].to_owned()).collect();
        self.set.push(text);
        self.patterns.push(WordPattern { regex: LazyRegex::from(text.to_owned()), words });
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.texts.contains(text)
    }

    /// Whether a path of the profile has this key with `/`.
    pub(crate) fn has_key(&self, key: &[u8]) -> bool {
        str::from_utf8(key).is_ok_and(|key| self.keys.contains(key))
    }

    /// What of a text has to stay so that each pattern that matches it still does where `fill`
    /// replaces all but these parts.
    pub(crate) fn matched(
        &self,
        text: &str,
        fill: impl Fn(&[Range<usize>]) -> String,
    ) -> Vec<Range<usize>> {
        let mut kept = Vec::new();
        for number in self.set.matching(text) {
            let WordPattern { regex, words: of_pattern } = &self.patterns[number];
            let Some(found) = regex.find(text) else { continue };
            if regex.is_in(&fill(&kept)) {
                continue;
            }
            let words = words(&text[found.clone()]);
            let words = words.map(|it| found.start + it.start..found.start + it.end);
            let (named, others): (Vec<_>, Vec<_>) =
                words.partition(|it| of_pattern.contains(&text[it.clone()]));
            let is_enough = |parts: &[Range<usize>]| regex.is_in(&fill(parts));
            kept.extend(named);
            if is_enough(&kept) {
                continue;
            }
            // A class of characters matches the other words. What a group reads, such as a time,
            // stays.
            let groups = regex.named_groups(text);
            let is_read = |it: &Range<usize>| {
                groups.iter().any(|group| group.start <= it.start && it.end <= group.end)
            };
            let (read, others): (Vec<_>, Vec<_>) = others.into_iter().partition(is_read);
            kept.extend(read);
            if text.len() > SEARCHED_BYTES_MAX {
                continue;
            }
            let more = if is_enough(&[&kept[..], &others].concat()) {
                needed(&kept, &others, &is_enough)
            } else {
                vec![found]
            };
            kept.extend(more);
        }
        kept
    }
}

/// In a longer text only the words of a pattern stay: to try which others are needed takes long, to
/// keep them all would show what must be hidden. The copy may lose the reason of a failure.
const SEARCHED_BYTES_MAX: usize = 16 << 10;

/// As few of these parts as are enough together with those that are kept. All of them are enough.
fn needed(
    kept: &[Range<usize>],
    parts: &[Range<usize>],
    is_enough: &impl Fn(&[Range<usize>]) -> bool,
) -> Vec<Range<usize>> {
    if is_enough(kept) {
        return Vec::new();
    }
    if parts.len() < 2 {
        return parts.to_vec();
    }
    let (left, right) = parts.split_at(parts.len() / 2);
    let right = needed(&[kept, left].concat(), right, is_enough);
    let left = needed(&[kept, &right].concat(), left, is_enough);
    [left, right].concat()
}

/// Where the words of a text are: runs of ASCII letters and digits.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(u8::is_ascii_alphanumeric)?;
        let length = bytes[start..].iter().take_while(|it| it.is_ascii_alphanumeric()).count();
        at = start + length;
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_words_of_a_pattern_stay() {
        let of_profile = r#"^\{.*"statusCode": ?40[13]\b"#;
        let with_time = "resets .*[Ii]n (?<after>[0-9]+ [a-z]+)";
        let profile = json!({ "rules": [{ "matches": of_profile }, { "matches": with_time }] });
        let vocabulary = Vocabulary::new(&profile, std::iter::empty());
        let redacted = |text: &str| {
            let fill = |kept: &[Range<usize>]| {
                let filler = |(at, it): (usize, char)| match it {
                    _ if kept.iter().any(|range| range.contains(&at)) => it,
                    '0'..='9' => '0',
                    _ if it.is_ascii_alphabetic() => 'x',
                    _ => it,
                };
                text.char_indices().map(filler).collect::<String>()
            };
            fill(&vocabulary.matched(text, fill))
        };
        for (text, expected) in [
            (
                "dial tcp: lookup ward.corp on port 53: no such host",
                "dial tcp: xxxxxx xxxx.xxxx xx xxxx 00: no such host",
            ),
            (
                "<html><p class='ward'><title>502 Bad Gateway",
                "<html><x xxxxx='xxxx'><title>502 xxx xxxxxxx",
            ),
            (
                r#"{"details":"the key of a ward","statusCode":401}"#,
                r#"{"xxxxxxx":"xxx xxx xx x xxxx","statusCode":401}"#,
            ),
            ("resets for the ward in 5 minutes", "resets xxx xxx xxxx in 5 minutes"),
        ] {
            assert_eq!(redacted(text), expected);
        }
        let long = format!("dial tcp: lookup {}: no such host", "ward ".repeat(4_000));
        assert!(!redacted(&long).contains("ward"));
    }
}
