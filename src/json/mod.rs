//! JSON: two parsers, values, and JSON Schema.

pub mod block_hasher;
pub mod json_ref;
pub mod locate;
pub mod pointer;
pub mod schema;
pub mod tape;
pub mod tree;
