//! Checks the NDJSON event stream of AI coding agents.

pub mod error;
pub mod limits;

pub mod rules;

pub mod json;

pub mod stream;

pub mod profile;

pub mod facts;

pub mod fast;

pub mod check;

pub mod output;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
