//! Validators made when the program is: ready at once, where building one at run time takes longer
//! than checking a short stream.

use super::BuiltIn;

/// The schema of the Cursor CLI's events.
pub const CURSOR: BuiltIn = BuiltIn {
    text: include_str!("../../profile/builtin/cursor/schema.json"),
    is_valid: Some(Cursor::is_valid),
};

#[jsonschema::validator(path = "src/profile/builtin/cursor/schema.json")]
struct Cursor;
