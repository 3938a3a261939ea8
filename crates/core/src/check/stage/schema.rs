//! Stage: whether an event satisfies the schemas.

use crate::check::contract::Contract;
use crate::error::Error;
use crate::json::Violation;
use crate::limits::{MESSAGE_BYTES_MAX, VIOLATION_DETAIL_BYTES_MAX};
use crate::rules::Rule;
use crate::rules::diagnostic::{Diagnostic, SchemaLocation};
use crate::rules::escape::clipped;
use crate::stream::ParsedEvent;

pub(crate) fn is_valid_later_event(
    contract: &Contract,
    event: &ParsedEvent<'_>,
    tag: &str,
) -> bool {
    contract.schemas(tag, false).all(|schema| schema.is_valid(&event.json))
}

/// Validates an event against the profile's schema and the user's; false if it fails one.
pub(crate) fn validate(
    contract: &Contract,
    event: &ParsedEvent<'_>,
    tag: &str,
    is_first: bool,
    found: &mut Vec<Diagnostic>,
) -> Result<bool, Error> {
    let mut failed = Vec::new();
    for schema in contract.schemas(tag, is_first) {
        if schema.is_valid(&event.json) {
            continue;
        }
        let violations = if event.text.len() <= VIOLATION_DETAIL_BYTES_MAX {
            schema.violations(&event.json)?
        } else {
            vec![Violation::of_large_value()]
        };
        failed.extend(violations.into_iter().map(|violation| (schema.origin(), violation)));
    }
    if failed.is_empty() {
        return Ok(true);
    }
    let pointers = failed.iter().map(|(_, violation)| violation.instance.clone()).collect();
    let offsets = event.offsets(&pointers);
    let offset = |it: &Violation| offsets.get(&it.instance).copied().unwrap_or(event.offset);
    // In the order of the document, whatever order the validator works in.
    failed.sort_by_key(|(_, violation)| offset(violation));
    found.extend(failed.iter().map(|(schema, violation)| {
        let diagnostic = Diagnostic::new(Rule::SchemaViolation, violation.message.as_str())
            .at(event.line, offset(violation));
        // A property's name may be as long as a line.
        let clip = |pointer: &str| clipped(pointer, MESSAGE_BYTES_MAX).into_owned();
        let location = SchemaLocation {
            schema: (*schema).to_owned(),
            instance: clip(&violation.instance),
            keyword: clip(&violation.keyword),
        };
        Diagnostic { location: Some(location), ..diagnostic }
    }));
    Ok(false)
}
