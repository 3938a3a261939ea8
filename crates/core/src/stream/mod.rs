//! From bytes to lines to events.
//!
//! Bytes are cut into lines in one place, [`LineBuffer`]; [`ArraySplitter`] makes lines of one JSON
//! array. A line that is one JSON object is a [`ParsedEvent`]; anything else is a [`LineDefect`],
//! which is data: the check decides what it means.

mod array;
mod defect;
mod event;
mod foreign;
mod framing;
mod glued;
mod line;
mod line_buffer;
mod parse;
mod stream_lines;

pub(crate) use array::ArraySplitter;
pub(crate) use array::is_array;
pub(crate) use defect::{BYTE_ORDER_MARK, LineDefect};
pub(crate) use event::ParsedEvent;
pub(crate) use foreign::SSE_FIELDS;
pub(crate) use framing::Framing;
pub(crate) use glued::{GluedEvent, glued_events};
pub(crate) use line::{Block, Ending, Line};
pub(crate) use line_buffer::LineBuffer;
#[cfg(test)]
pub(crate) use line_buffer::tests::each_block;
pub(crate) use parse::{LineParser, parse_line};
pub use stream_lines::StreamLines;
