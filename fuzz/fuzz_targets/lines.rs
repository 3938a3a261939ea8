//! Lines and elements are the same however the stream is cut, and those of the simplest reader.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ndjson_check_core::internals::in_core::lines(data));
