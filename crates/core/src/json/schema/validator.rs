//! What the crate `jsonschema` answers: the only place that knows it.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{
    PatternOptions, ReferencingError, Registry, Retrieve, ValidationError, ValidationOptions,
    Validator,
};
use serde_json::{Value, json};

use super::{Document, Schema, Violation, not_allowed, shown, wording};
use crate::error::Error;
use crate::limits::PATTERN_STEPS_MAX;

/// The URI of a document in its registry. It is never fetched: there is no retriever. With this
/// scheme, which means "no URI", the validator does not compute a URI for each keyword, and a
/// relative `$id` resolves.
const DOCUMENT: &str = "json-schema:///document";

impl Document {
    fn registry(&self) -> Result<&Registry<'static>, ValidationError<'static>> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        let registry = Registry::new().add(DOCUMENT, Arc::clone(self.json()))?.prepare()?;
        Ok(self.registry.get_or_init(|| registry))
    }
}

impl Schema {
    /// Compiles the schema now, so that a mistake in it is known.
    pub(super) fn compiled(self) -> Result<Self, String> {
        let validator = self.build().map_err(|error| rejected(&error))?;
        let _ = self.validator.set(validator);
        Ok(self)
    }

    /// Checks a user's schema against its meta-schema first, but not a built-in one: that alone
    /// takes longer than checking a short stream, and a test does it.
    fn build(&self) -> Result<Validator, ValidationError<'static>> {
        if self.part.is_none() && !self.is_built_in() {
            return options().build(self.document());
        }
        let part = self.part.as_deref().unwrap_or("#");
        // In draft 4, whose meta-schema is small; the document keeps its own draft.
        let wrapper = json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "$ref": format!("{DOCUMENT}{part}"),
        });
        options().with_registry(self.document.registry()?).build(&wrapper)
    }

    fn validator(&self) -> &Validator {
        let compiled = || self.build().expect("a test compiles every built-in schema");
        self.validator.get_or_init(compiled)
    }

    pub(super) fn is_valid_tree(&self, value: &Value) -> bool {
        self.validator().is_valid(value)
    }

    /// A pattern that backtracks without end is an error.
    pub(super) fn violations_of_tree(&self, value: &Value) -> Result<Vec<Violation>, Error> {
        let mut violations = Vec::new();
        for error in self.validator().iter_errors(value) {
            self.collect(&error, &mut violations)?;
        }
        Ok(violations)
    }

    /// Reports the intended branch of a `oneOf` or `anyOf`, if it is clear, instead of "no branch
    /// fits".
    fn collect(&self, error: &ValidationError<'_>, out: &mut Vec<Violation>) -> Result<(), Error> {
        match error.kind() {
            ValidationErrorKind::OneOfNotValid { context }
            | ValidationErrorKind::AnyOf { context } => {
                if let Some(branch) = intended_branch(error, context) {
                    for error in branch {
                        self.collect(error, out)?;
                    }
                    return Ok(());
                }
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. } => {
                let message = format!("{}: {}", error.evaluation_path(), error.masked());
                return Err(Error::schema(&self.origin, message));
            }
            _ => {}
        }
        out.extend(violations(error));
        Ok(())
    }
}

/// A pattern that needs no backtracking is searched without it; others take a limited time.
fn options<'i>() -> ValidationOptions<'i, Arc<dyn Retrieve>> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(PATTERN_STEPS_MAX);
    jsonschema::options().with_pattern_options(patterns)
}

/// The one branch that no `const` or `enum` directly below the value rules out.
fn intended_branch<'c>(
    error: &ValidationError<'_>,
    context: &'c [Vec<ValidationError<'static>>],
) -> Option<&'c [ValidationError<'static>]> {
    use ValidationErrorKind::{Constant, Enum};
    let parent = error.instance_path().as_str();
    let rules_out = |inner: &ValidationError<'_>| {
        let below = inner.instance_path().as_str().strip_prefix(parent);
        let directly = below.is_some_and(|below| below.matches('/').count() <= 1);
        directly && matches!(inner.kind(), Constant { .. } | Enum { .. })
    };
    let mut left = context.iter().filter(|branch| !branch.iter().any(rules_out));
    match (left.next(), left.next()) {
        (Some(branch), None) if !branch.is_empty() => Some(branch),
        _ => None,
    }
}

/// Reports each unexpected property at its own place.
fn violations(error: &ValidationError<'_>) -> Vec<Violation> {
    let instance = error.instance_path().as_str();
    let keyword = error.schema_path().as_str().to_owned();
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().map(|name| not_allowed(instance, name, keyword.clone())).collect()
        }
        _ => {
            let message = wording(&error.masked().to_string());
            vec![Violation { instance: instance.to_owned(), keyword, message }]
        }
    }
}

fn rejected(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::PointerToNowhere { pointer }) => {
            format!("the reference {pointer} leads nowhere")
        }
        ValidationErrorKind::Referencing(_) => "external references are not supported".to_owned(),
        kind => {
            let value = error.instance().to_string();
            let wording = match kind {
                // A schema is not secret.
                ValidationErrorKind::AnyOf { .. } => format!("{} is not valid", shown(&value)),
                _ => error.masked().to_string(),
            };
            let wording = self::wording(&wording);
            match error.instance_path().as_str() {
                "" => wording,
                pointer => format!("{wording} at {pointer}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::ParsedJson;

    /// Goal: the time for a pattern has a bound, and one without backtracking needs none.
    #[test]
    fn patterns_take_a_limited_time() {
        let evaluates = |pattern: &str, text: &str| {
            let schema = Schema::compile("test", &json!({"pattern": pattern})).expect("compiles");
            schema.violations(&ParsedJson::Tree(json!(text))).is_ok()
        };
        // More steps than the limit, fewer than the default of the engine.
        assert!(!evaluates("(?=x)y", &"a".repeat(2 * PATTERN_STEPS_MAX)));
        assert!(evaluates("(?=x)y", &"a".repeat(PATTERN_STEPS_MAX / 4)));
        assert!(evaluates("(a|aa)+$", &"a".repeat(2 * PATTERN_STEPS_MAX)));
    }
}
