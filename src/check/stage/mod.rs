//! The stages: each follows one part of the contract through the stream, and appends what it finds.

pub(crate) mod actions;
pub(super) mod background;
pub(crate) mod calls;
pub(super) mod drift;
pub(super) mod first_events;
pub(super) mod lines;
pub(crate) mod repeats;
pub(super) mod schema;
pub(super) mod session;
pub(crate) mod terminal;
pub(crate) mod text;
