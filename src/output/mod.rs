//! Observers that write: reports and conversions.

pub(crate) mod convert;
pub(crate) mod report;
