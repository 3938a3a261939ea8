//! What becomes of the events and the diagnostics: reports and conversions.

pub mod convert;
pub mod github_actions;
pub mod report;
