//! Profiles, schemas, configurations and baselines are loaded or refused; a loaded one checks a
//! stream.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ndjson_check::Checker;
use ndjson_check_config::Config;
use ndjson_check_formats::baseline::Baseline;

const STREAM: &[u8] =
    b"{\"type\":\"a\",\"id\":1,\"text\":\"x\"}\n{\"type\":\"b\",\"items\":[{}]}\n";

fuzz_target!(|data: &[u8]| {
    let Some((kind, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let builder = match kind % 4 {
        0 => Ok(Checker::builder().profile_text("fuzzed", text)),
        1 => Checker::builder().profile("jsonl").schema_text("fuzzed", text),
        2 => match Config::parse("fuzzed.toml", text.to_owned()) {
            Ok(config) => Ok(config.apply_to(Checker::builder())),
            Err(error) => {
                // A path to a file that is absent is an error without a place.
                assert!(error.starts_with("fuzzed.toml"), "{error}");
                return;
            }
        },
        _ => {
            let _ = Baseline::read(text, Box::new(str::to_owned));
            return;
        }
    };
    if let Ok(mut checker) = builder.and_then(|builder| builder.build()) {
        let _ = checker.check("-", STREAM, &mut ());
    }
});
