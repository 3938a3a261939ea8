//! The tests that go through the library's boundary or start the program.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod action;
mod agents;
mod archives;
mod arrays;
mod bytes;
mod catalogue;
mod cli;
mod content;
#[path = "../contracts/mod.rs"]
mod contracts;
mod convert;
mod demands;
mod details;
mod details_of_events;
mod diff;
#[path = "../differential/mod.rs"]
mod differential;
mod drift;
mod durations;
mod endings;
mod engines;
mod evasion;
mod evasion_in_events;
mod events;
mod extends;
mod facts;
mod fingerprints;
mod forms;
mod headlines;
mod hostile;
mod identity;
mod infer;
mod injection;
mod knowledge;
mod lab;
mod language;
mod language_of_calls;
mod limits;
mod lines;
mod log;
mod many;
mod merge;
mod mistakes;
#[path = "../mutation/mod.rs"]
mod mutation;
mod noise;
mod order;
mod outputs;
mod packages;
mod pairs;
mod planted;
mod producer;
mod profiles;
mod reader;
mod readers;
mod readme;
mod reasons;
mod recordings;
mod redact;
mod refusals;
mod replay;
mod reports;
mod retries;
mod run_command;
mod run_facts;
mod schemas;
mod schemastore;
mod secret_deltas;
mod sessions;
mod settings;
mod signals;
mod starts;
mod stats;
mod streams;
mod suites;
#[path = "../support/mod.rs"]
mod support;
mod tidy;
mod timers;
mod traces;
mod turns;
mod usage;
mod verdicts;
mod verified;
