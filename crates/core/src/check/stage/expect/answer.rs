//! What the answer must be.

use serde_json::Value;

use super::compiled;
use super::truth::Truth;
use super::verdict::{Answered, Context};
use crate::check::answer::Answer;
use crate::facts::RunFacts;
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
        Schema::compile(place, &json).map(Self::Satisfies)
    }

    /// Asked only if the run succeeded.
    pub(super) fn answer(
        &self,
        answer: &Answer,
        facts: &RunFacts,
        context: Context,
    ) -> Option<Answered> {
        let structured = facts.structured.as_ref();
        let defect = self.defect(answer.text(), structured);
        let is_shown = context.shows_text || structured.is_some();
        let is_clipped = answer.is_clipped() || facts.has_long_structured;
        let is_whole = is_shown && !context.has_lost_line && !is_clipped;
        // The schema is for the structured answer, not for the text next to it.
        let is_judged = !(matches!(self, Self::Satisfies(_)) && facts.has_long_structured);
        let truth = match defect {
            None if is_shown && is_judged => Truth::Yes,
            Some(_) if is_whole => Truth::No,
            None | Some(_) => Truth::Unknown,
        };
        let fact = defect.unwrap_or_default();
        context.has_succeeded.then(|| Answered { truth, fact, ..Answered::default() })
    }

    /// What is wrong with the answer; does not show it. A schema judges the value, where the agent
    /// gives one; a pattern does so if there is no text.
    fn defect(&self, text: &str, structured: Option<&Value>) -> Option<String> {
        match self {
            Self::Matches(pattern) => {
                let is_empty = text.trim().is_empty() && structured.is_none();
                let empty = if is_empty { "is empty, and " } else { "" };
                let pattern_text = shown(pattern.as_str());
                let message = || format!("the answer {empty}does not match {pattern_text}");
                let is_met = match structured.filter(|_| text.trim().is_empty()) {
                    Some(value) => pattern.is_in(&value.to_string()),
                    None => pattern.is_in(text),
                };
                (!is_met).then(message)
            }
            Self::Satisfies(schema) => {
                let json = match structured {
                    Some(value) => value.clone(),
                    None => match serde_json::from_str::<Value>(text) {
                        Ok(json) => json,
                        Err(_) if text.trim_start().starts_with("```") => {
                            return Some(
                                "the answer is not JSON: it begins with a code fence".to_owned(),
                            );
                        }
                        Err(_) => return Some("the answer is not JSON".to_owned()),
                    },
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
