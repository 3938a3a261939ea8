//! What becomes of the events and the diagnostics: reports and conversions.

pub(crate) mod convert;
pub(crate) mod report;
