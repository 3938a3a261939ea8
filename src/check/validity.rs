//! Whether an event satisfies the schemas.

use super::Memory;
use super::stream::Check;
use crate::check::contract::Engine;
use crate::rules::diagnostic::{Diagnostic, SchemaLocation};
use crate::error::Error;
use crate::stream::event::Event;
use crate::limits::VIOLATION_DETAIL_BYTES_MAX;
use crate::rules::Rule;
use crate::json::schema::Violation;

impl<'c> Check<'c> {
    /// Holds an event against the profile's schema and the user's; false if it fails one.
    pub(super) fn schemas(
        &mut self,
        event: &Event<'_>,
        memory: &mut Memory<'c>,
    ) -> Result<bool, Error> {
        let mut failed = Vec::new();
        let at_once = self.contract.engine == Engine::Fast;
        for schema in self.contract.schemas(self.events == 0) {
            let valid = match event.tape() {
                Some(doc) if at_once => memory.is_valid(schema, doc),
                Some(_) | None => event.satisfies(schema, at_once),
            };
            if valid {
                continue;
            }
            let violations = if event.length() <= VIOLATION_DETAIL_BYTES_MAX {
                event.violations(schema)?
            } else {
                vec![Violation::of_large_value()]
            };
            failed.extend(violations.into_iter().map(|it| (schema.origin(), it)));
        }
        if failed.is_empty() {
            return Ok(true);
        }
        let pointers = failed.iter().map(|(_, it)| it.instance.clone()).collect();
        let offsets = event.offsets(&pointers);
        let offset = |it: &Violation| offsets.get(&it.instance).copied().unwrap_or(event.offset);
        // In the order of the document, whatever order the validator works in.
        failed.sort_by_key(|(_, violation)| offset(violation));
        self.found.extend(failed.iter().map(|(schema, violation)| {
            let diagnostic = Diagnostic::new(Rule::SchemaViolation, violation.message.as_str())
                .at(event.line, offset(violation));
            Diagnostic { location: Some(SchemaLocation::new(schema, violation)), ..diagnostic }
        }));
        Ok(false)
    }
}
