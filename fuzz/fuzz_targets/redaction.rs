//! A secret on a line of its own is in no output, whatever is around it and however it is cut.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ndjson_check::Redactor;

/// Made at run time, so that this file has no secret.
fn secret() -> String {
    format!("gh{}{}", "p_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6")
}

fuzz_target!(|data: &[u8]| {
    let [at, size, data @ ..] = data else { return };
    let at = data.len() * usize::from(*at) / 256;
    let (before, after) = data.split_at(at);
    let line = format!("\n{{\"type\":\"x\",\"t\":\"{}\"}}\n", secret());
    let stream = [before, line.as_bytes(), after].concat();
    let redacted = |size: usize| {
        let (mut redactor, mut out) = (Redactor::secrets(&[]), Vec::new());
        for piece in stream.chunks(size.max(1)) {
            redactor.feed(piece, &mut out);
        }
        redactor.finish(&mut out);
        out
    };
    let out = redacted(usize::from(*size));
    let text = String::from_utf8_lossy(&out);
    // Twelve characters in a row of it are a leak, unless the fuzzer wrote them.
    let secret = secret();
    for start in 4..secret.len() - 12 {
        let part = &secret[start..start + 12];
        let is_given = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(part);
        assert!(!text.contains(part) || is_given(before) || is_given(after), "{text}");
    }
    assert_eq!(out, redacted(usize::MAX), "the pieces change what is redacted");
});
