//! The stages: each follows one part of the contract through the stream.

pub mod calls;
pub mod drift;
pub mod session;
pub mod terminal;
pub mod text;
