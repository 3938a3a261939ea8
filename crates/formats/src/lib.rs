//! Reports and conversions of the streams that `ndjson-check-core` reads. Each is an
//! [`Output`] that uses the public interface of the core alone.

mod ansi;
pub mod baseline;
pub mod compare;
mod convert;
mod digits;
mod fingerprint;
mod limits;
mod output;
pub mod report;
mod said;
pub mod single;

pub use convert::{Converter, Form, FormStyle};
pub use output::{Output, Written};
pub use report::{Headline, HumanReport, JsonReport, RunTotals, SCHEMA as REPORT_SCHEMA};
