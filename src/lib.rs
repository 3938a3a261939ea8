//! Checks the NDJSON event stream of AI coding agents.
//!
//! One direction of data: `bytes → Line → Event → Facts → Diagnostic → report`.
pub mod check;
pub mod cli;
pub mod correlation;
pub mod descriptor;
pub mod diagnostic;
pub mod error;
pub mod event;
pub mod facts;
pub mod framing;
pub mod input;
pub mod limits;
pub mod line;
pub mod path;
pub mod pointer;
pub mod profile;
pub mod reassembly;
pub mod report;
pub mod rule;
pub mod run;
pub mod schema;
pub mod sequence;
pub mod summary;
pub mod terminal;
pub mod verdict;
pub mod visible;
pub mod vocabulary;
