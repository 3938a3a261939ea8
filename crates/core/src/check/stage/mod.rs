//! The stages: each follows one part of the contract through the stream, and appends what it finds.

pub(crate) mod actions;
pub(super) mod background;
pub(crate) mod calls;
pub(crate) mod demands;
pub(super) mod drift;
pub(super) mod expect;
pub(super) mod first_events;
pub(super) mod limits;
pub(super) mod line_findings;
pub(crate) mod lines;
pub(super) mod members;
pub(super) mod order;
pub(crate) mod repeats;
pub(crate) mod reported;
pub(crate) mod schema;
pub(crate) mod servers;
pub(super) mod session;
pub(super) mod stats;
pub(crate) mod terminal;
pub(crate) mod text;
pub(super) mod unknown_names;
