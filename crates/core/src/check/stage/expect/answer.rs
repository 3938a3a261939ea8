//! What the answer must be.

use serde_json::Value;

use super::compiled;
use super::truth::{Tally, Truth};
use super::verdict::{Answered, Context};
use crate::check::answer::Answer;
use crate::error::Error;
use crate::json::{ParsedJson, Schema};
use crate::profile::pattern::LazyRegex;
use crate::rules::escape::{shown, visible};

#[derive(Debug)]
pub(super) enum AnswerPattern {
    Matches(LazyRegex),
    Satisfies(Schema),
}

impl AnswerPattern {
    pub(super) fn matches(pattern: &str) -> Result<Self, String> {
        compiled(pattern).map(Self::Matches)
    }

    /// `schema` is JSON text.
    pub(super) fn satisfies(place: &str, schema: &str) -> Result<Self, String> {
        let json = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        match Schema::compile(place, &json) {
            Ok(schema) => Ok(Self::Satisfies(schema)),
            Err(Error::Schema { message, .. }) => Err(message),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asked only if the run succeeded.
    pub(super) fn answer(&self, answer: &Answer, context: Context) -> Option<Answered> {
        let defect = self.defect(answer.text());
        let is_whole = context.shows_text && !context.has_lost_line && !answer.is_clipped();
        let truth = match defect {
            None if context.shows_text => Truth::Yes,
            Some(_) if is_whole => Truth::No,
            None | Some(_) => Truth::Unknown,
        };
        let question = match self {
            Self::Matches(_) => "the answer matches",
            Self::Satisfies(_) => "the answer satisfies the schema",
        };
        context.has_succeeded.then(|| Answered {
            truth,
            fact: defect.unwrap_or_default(),
            question: question.to_owned(),
            tally: Tally::default(),
        })
    }

    /// What is wrong with the answer; does not show it.
    fn defect(&self, text: &str) -> Option<String> {
        match self {
            Self::Matches(pattern) => {
                let message = || format!("the answer does not match {}", shown(pattern.as_str()));
                (!pattern.is_in(text)).then(message)
            }
            Self::Satisfies(schema) => {
                let Ok(json) = serde_json::from_str::<Value>(text) else {
                    return Some("the answer is not JSON".to_owned());
                };
                match schema.violations(&ParsedJson::Tree(json)) {
                    Ok(violations) => violations.first().map(|violation| {
                        let at = visible(&violation.instance).into_owned();
                        let at = if at.is_empty() { at } else { format!(" at {at}") };
                        format!("the answer does not satisfy its schema{at}: {}", violation.message)
                    }),
                    Err(error) => Some(error.to_string()),
                }
            }
        }
    }
}
