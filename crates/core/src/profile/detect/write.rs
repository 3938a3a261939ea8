//! Writes detection rules as a table. `build.rs` compiles this file and does so for the built-in
//! profiles: nothing is parsed when the program starts.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::table::{DetectTable, DetectTest, part};

/// Rules as JSON, by the name of a profile or the description of a format.
type Rules = BTreeMap<String, Vec<Rule>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    when: Value,
}

impl DetectTable {
    /// Writes rules. What no built-in rule needs is an error.
    pub(crate) fn new(profiles: Value, unread: Value) -> Result<Self, String> {
        let mut table = Self::default();
        let profiles = table.authors(profiles)?;
        let unread = table.authors(unread)?;
        Ok(Self { profiles: profiles.into(), unread: unread.into(), ..table })
    }

    fn authors(&mut self, rules: Value) -> Result<Vec<(u16, u16)>, String> {
        let rules: Rules = serde_json::from_value(rules).map_err(|error| error.to_string())?;
        let mut authors = Vec::new();
        for (author, rules) in rules {
            for Rule { when } in rules {
                let groups = if let Value::Array(groups) = when { groups } else { vec![when] };
                for group in groups {
                    self.group(&group).map_err(|error| format!("{author}: {error}"))?;
                }
            }
            authors.push((self.words.number(&author)?, place(self.groups.len())?));
        }
        Ok(authors)
    }

    fn group(&mut self, tests: &Value) -> Result<(), String> {
        let mut written = Vec::new();
        for (path, test) in tests.as_object().ok_or("conditions are an object")? {
            let number = self.path(path)?;
            let tests = self.tests(test).map_err(|error| format!("{path}: {error}"))?;
            written.extend(tests.into_iter().map(|test| (number, test)));
        }
        written.sort_by_key(|(_, test)| *test);
        self.tests.to_mut().extend(written);
        let end = place(self.tests.len())?;
        self.groups.to_mut().push(end);
        Ok(())
    }

    fn path(&mut self, path: &str) -> Result<u16, String> {
        let tokens = path.strip_prefix('/').filter(|tokens| !tokens.contains(['*', '~']));
        let tokens = tokens.ok_or_else(|| format!("a detection rule has no path {path}"))?;
        let tokens: Result<Vec<u16>, String> =
            tokens.split('/').map(|token| self.words.number(token)).collect();
        let tokens = tokens?;
        let known = (0..self.paths.len()).find(|path| {
            let path = u16::try_from(*path).unwrap_or(u16::MAX);
            part(&self.tokens, &self.paths, path) == tokens
        });
        if let Some(known) = known {
            return place(known);
        }
        self.tokens.to_mut().extend(tokens);
        let end = place(self.tokens.len())?;
        self.paths.to_mut().push(end);
        place(self.paths.len() - 1)
    }

    fn tests(&mut self, written: &Value) -> Result<Vec<DetectTest>, String> {
        let Value::Object(parts) = written else {
            let (from, to) = self.choices(written)?;
            return Ok(vec![DetectTest::OneOf(from, to)]);
        };
        let tests = parts.iter().map(|(keyword, value)| {
            Ok(match (keyword.as_str(), value) {
                ("exists", Value::Bool(true)) => DetectTest::Exists,
                ("exists", Value::Bool(false)) => DetectTest::Absent,
                ("empty", Value::Bool(empty)) => DetectTest::Empty(*empty),
                ("starts_with", Value::String(text)) => {
                    DetectTest::StartsWith(self.words.number(text)?)
                }
                ("matches", Value::String(text)) => {
                    let word = self.words.number(text)?;
                    self.patterns.to_mut().push(word);
                    DetectTest::Matches(place(self.patterns.len() - 1)?)
                }
                ("not", value) => {
                    let (from, to) = self.choices(value)?;
                    DetectTest::NoneOf(from, to)
                }
                (keyword, value) => {
                    return Err(format!("a detection rule has no test {keyword}: {value}"));
                }
            })
        });
        tests.collect()
    }

    fn choices(&mut self, values: &Value) -> Result<(u16, u16), String> {
        let from = place(self.choices.len())?;
        for value in values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice) {
            let text = value.as_str();
            let text = text.ok_or_else(|| format!("a detection rule has no value {value}"))?;
            let word = self.words.number(text)?;
            self.choices.to_mut().push(word);
        }
        Ok((from, place(self.choices.len())?))
    }
}

fn place(place: usize) -> Result<u16, String> {
    u16::try_from(place).map_err(|_| "too many detection rules".to_owned())
}
