//! The shape cache: lines that repeat an earlier one, but for values that decided nothing.
//!
//! # Why it cannot change a result
//!
//! A line is learned when it is an event that satisfies every schema, and when its plan says where
//! the values of its facts are. By then the tape has noted every value that the validator or a
//! rule of the profile *read* (see [`crate::json::Doc`]). Kinds, keys, and the number of parts of a
//! container are read without a note. The shape is the line with slots in place of the strings and
//! plain numbers that were not read; all other bytes are literal.
//!
//! A later line that equals the shape outside the slots, and has a well-formed value of the same
//! kind in each slot, is the same JSON text but for these values: same kinds, keys, counts and
//! depth, no duplicate key, valid UTF-8. Validator and profile are deterministic. They would see
//! the same in every place they read, so they would read the same places and find the same: the
//! line is valid, and the values of its facts are in the same places. Whatever depends on a value
//! through its length or content (`const`, `pattern`, `minLength`, `minimum`, `uniqueItems`, a
//! condition of a profile) reads it, and what was read is literal. So this holds for any schema
//! and any profile. One that reads everything leaves no slot, and nothing is learned.
//!
//! Only valid events are learned. A stream's first event is never recalled: it may be validated
//! against another schema. Slots for numbers take digits only, at most fifteen, so that
//! every question about the *kind* of a number (integer or not) has the same answer. Shapes belong
//! to one contract. A line without terminator is not recalled: its end is not known.

mod fact_shapes;
mod shapes;

pub(crate) use fact_shapes::FactShapes;
pub(crate) use shapes::{Shapes, SlotPlace, Slots};
