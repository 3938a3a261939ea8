//! Stage: defects that events report, of the stream that this one was made from.

use crate::facts::Facts;
use crate::rules::diagnostic::Diagnostic;
use crate::rules::escape::visible;

pub(crate) fn reported(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let defects = facts.rare.iter().flat_map(|rare| &rare.defects);
    found.extend(defects.map(|defect| {
        let place = match &defect.line {
            Some(line) => format!("line {} of the original stream", visible(line)),
            None => "the original stream".to_owned(),
        };
        let message = match &defect.message {
            Some(message) => format!("{place}: {}", visible(message)),
            None => format!("{place} has this defect"),
        };
        Diagnostic::new(defect.rule, message).at(facts.line, facts.offset)
    }));
}
