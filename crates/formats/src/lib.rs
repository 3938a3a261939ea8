//! Reports and conversions of the streams that `ndjson-check-core` reads. All of them are observers
//! on its public interface.

pub mod baseline;
pub mod compare;
mod convert;
mod digits;
mod fingerprint;
mod limits;
pub mod report;

pub use convert::{Converter, Form};
pub use report::{HumanReport, JsonReport, RunTotals, SCHEMA as REPORT_SCHEMA};
