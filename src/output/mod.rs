//! What writes: reports and conversions, which are observers; and redaction.

#[cfg(feature = "cli")]
pub(crate) mod baseline;
#[cfg(feature = "cli")]
pub(crate) mod compare;
pub(crate) mod convert;
mod digits;
#[cfg(feature = "cli")]
mod fingerprint;
pub(crate) mod redact;
pub(crate) mod report;
