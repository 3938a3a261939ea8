//! What writes: reports and conversions, which are observers; and redaction.

pub(crate) mod convert;
pub(crate) mod report;
pub(crate) mod redact;
