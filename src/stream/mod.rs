//! From bytes to lines to events.

pub mod event;
pub mod framing;
pub mod line;
