//! The WebAssembly part of the npm package. It passes bytes to the library `ndjson_check` and its
//! answers back as JSON, and decides nothing.

mod abi;
mod events;
mod options;
mod output;
mod readers;
