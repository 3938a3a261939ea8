//! What the tape accepts, the plain parser accepts, with the same values.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ndjson_check_core::internals::in_core::tape(data));
