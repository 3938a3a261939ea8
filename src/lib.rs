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

// pub mod cli;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
