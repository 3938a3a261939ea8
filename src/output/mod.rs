//! What writes: reports and conversions, which are observers; and redaction.

pub(crate) mod convert;
pub(crate) mod redact;
pub(crate) mod report;
