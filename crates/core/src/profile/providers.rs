//! What providers of models answer where a request fails. Agents of many providers pass it on, so
//! it counts for every agent, after the agent's own reasons.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{EndReason, ReasonText};
use crate::profile::pattern::LazyRegex;

/// Read only for a failed run whose profile does not know why, or not when to try again, and to
/// redact content.
static PROVIDERS: LazyLock<Providers> = LazyLock::new(|| {
    let file: File = serde_json::from_str(include_str!("providers.json")).expect("JSON");
    let reasons = file.reasons.iter().map(|rule| ReasonText {
        matches: LazyRegex::from(rule.pattern(&file.forms)),
        reason: rule.reason,
    });
    Providers { reasons: reasons.collect(), lead: file.lead, after: file.after }
});

struct Providers {
    lead: LazyRegex,
    reasons: Vec<ReasonText>,
    after: Vec<LazyRegex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// What agents write before the text of a provider.
    lead: LazyRegex,
    /// Where in a text the texts of a rule may be; `{}` is one of them.
    forms: BTreeMap<String, String>,
    /// The group `after` says when a retry is worth it; the first that matches.
    after: Vec<LazyRegex>,
    /// The first that matches.
    reasons: Vec<ProviderRule>,
}

#[derive(Deserialize)]
struct ProviderRule {
    reason: EndReason,
    /// Texts by their form.
    #[serde(flatten)]
    texts: BTreeMap<String, Vec<String>>,
}

impl ProviderRule {
    fn pattern(&self, forms: &BTreeMap<String, String>) -> String {
        let of_form = |(form, texts): (&String, &Vec<String>)| {
            format!("(?:{})", forms[form].replace("{}", &format!("(?:{})", texts.join("|"))))
        };
        self.texts.iter().map(of_form).collect::<Vec<_>>().join("|")
    }
}

/// The reason in what a provider answers, and when a retry is worth it, in its words.
pub(crate) fn reason_of_provider(text: &str) -> Option<(EndReason, Option<&str>)> {
    let begin = PROVIDERS.lead.find(text).map_or(0, |lead| lead.end);
    let answer = &text[begin..];
    let reason = PROVIDERS.reasons.iter().find(|rule| rule.matches.is_in(answer))?.reason;
    Some((reason, time_of_provider(answer)))
}

/// When a retry is worth it, in the provider's words.
pub(crate) fn time_of_provider(text: &str) -> Option<&str> {
    PROVIDERS.after.iter().find_map(|it| it.group(text, "after"))
}

/// The same patterns, for whole texts.
pub(super) fn patterns_of_providers() -> impl Iterator<Item = String> {
    let lead = format!("{}(?:", PROVIDERS.lead.as_str());
    PROVIDERS.reasons.iter().map(move |rule| rule.matches.as_str().replace("^(?:", &lead))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::pattern::pattern_error;

    #[test]
    fn every_pattern_is_one() {
        let patterns = PROVIDERS.reasons.iter().map(|rule| &rule.matches);
        for pattern in patterns.chain(&PROVIDERS.after).chain([&PROVIDERS.lead]) {
            assert_eq!(pattern_error(pattern.as_str()), None, "{pattern:?}");
        }
    }

    /// Goal: a file of settings with a conflict of git is not a web page in place of JSON.
    #[test]
    fn only_a_tag_begins_a_page() {
        let reason = |page: &str| {
            let text =
                format!("SyntaxError: Unexpected token '<', \"{page}\"... is not valid JSON");
            reason_of_provider(&text).map(|(reason, _)| reason)
        };
        assert_eq!(reason("<!DOCTYPE "), Some(EndReason::Network));
        assert_eq!(reason("<html><hea"), Some(EndReason::Network));
        assert_eq!(reason("<<<<<<< HE"), None);
    }
}
