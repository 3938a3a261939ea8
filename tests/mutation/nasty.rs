//! What readers of JSON trip over, as bytes.

use super::Random;

/// Tokens, and pieces of tokens, that mean something wherever they land.
#[rustfmt::skip]
pub(super) const TOKENS: &[&[u8]] = &[
    b"\"", b"\\", b"\\u", b"\\u00", b"\\ud83d", b"\\udc00", b"\\ud83d\\ude00", b"\\ud83d\\n",
    b"\\u0000", b"\\u001f", b"\\u0022", b"\\u005c", b"\\/", b"\\\"", b"\\\\", b"\\n", b"\\b",
    b"\\x", b"\\'", b"\\u+123", b"\\U0041", b"{", b"}", b"[", b"]", b",", b":", b"{}", b"[]",
    b"[[[", b"{\"a\":", b"}{", b"\"\"", b"0", b"1", b"9", b"-", b"+", b".", b"e", b"E", b"1e5",
    b"-0", b"0.0", b".5", b"1.", b"01", b"1e999", b"e-", b"0x1", b"null", b"true", b"false", b"nul",
    b"NaN", b"Infinity", b" ", b"\t", b"\r", b"\n", b"\x0b", b"\x0c", b"\x00", b"\x01", b"\x1f",
    b"\x7f", b"\xc2\x80", b"\xc3\xa9", b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\xa0",
    b"\xef\xbb\xbf", b"\xef\xbf\xbe", b"\xf0\x9f\x9a\x80", b"\xf4\x8f\xbf\xbf", b"\x80", b"\xbf",
    b"\xc0\x80", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xed\xb0\x80", b"\xf0\x80\x80\xaf",
    b"\xf4\x90\x80\x80", b"\xf0\x9f\x9a", b"\xff", b"\xfe", b"\"x\":1,", b",\"x\":1",
    b"\"type\":\"user\",", b"\"t\\u0079pe\":\"user\",", b"\"session_id\":\"other\",", b"//",
    b"/**/", b"'", b"`",
];

/// Bytes that matter to a scanner.
pub(super) const BYTES: &[u8] =
    b"\"\\{}[],:0123456789.eE-+ \t\r\n\x00\x01\x1f\x7fabfnrtu/\x80\xbf\xc3\xe2\xed\xf0\xff";

/// What may stand before a line, or before a stream.
#[rustfmt::skip]
pub(super) const STARTS: &[&[u8]] = &[
    b" ", b"\t", b"\xef\xbb\xbf", b"\xef\xbb", b"data: ", b"\x1e", b"log ", b"\x00", b"\n", b"\r\n",
    b"[", b"{", b"\xff\xfe", b"1 ",
];

/// Values of every type, spelled in every way that came to mind; some are no JSON.
#[rustfmt::skip]
pub(super) const VALUES: &[&[u8]] = &[
    b"null", b"true", b"false", b"\"\"", b"[]", b"{}", b"[null]", b"{\"\":0}", b"[[],[[]]]",
    b"{\"type\":\"text\",\"text\":\"a\"}", b"[{\"type\":\"text\",\"text\":\"a\"}]", b"[{}]", b"0",
    b"1", b"-1", b"-0", b"0.0", b"-0.0", b"0e0", b"0E+5", b"-0e-5", b"1.0", b"1.5", b"1e2", b"1E+2",
    b"100e-2", b"0.1", b"1e5", b"1e22", b"1e23", b"1e308", b"1.7976931348623157e308",
    b"1.7976931348623159e308", b"1e309", b"-1e309", b"1e999", b"0e999", b"1e-999", b"-1e-999",
    b"5e-324", b"2e-324", b"2.2250738585072011e-308", b"9007199254740991", b"9007199254740992",
    b"9007199254740993", b"9007199254740993.0", b"123456789012345", b"1234567890123456",
    b"12345678901234567", b"123456789012345678", b"1234567890123456789", b"12345678901234567890",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808",
    b"-9223372036854775809", b"18446744073709551615", b"18446744073709551616",
    b"-18446744073709551616", b"100000000000000000000000000000000000000000",
    b"0.1000000000000000055511151231257827", b"01", b"00", b"-01", b"1.", b".5", b"-", b"-a", b"+1",
    b"1e", b"1e+", b"1.e5", b"0x10", b"1_0", b"NaN", b"-Infinity", b"tru", b"True", b"nulll",
    b"\"a", b"a\"", b"'a'", b"\"\\ud800\"", b"\"\\udc00\\ud800\"", b"\"\\ud83d\\ude00\"",
    b"\"\\u0000\"", b"\"a\\u0000b\"", b"\"\\x41\"", b"\"\t\"", b"\"\xff\"", b"\"\xe2\x82\"",
    b"\"#\"", b"\"1\"", b"\"null\"", b"\"\\u0061\"", b"\"a\"", b"[1,1]", b"[1,1.0]", b"[0,-0]",
    b"[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]", b"{\"a\":1,\"a\":2}", b"{\"a\":1,\"\\u0061\":2}",
    b"[1,]", b"[,1]", b"{\"a\"}", b"{\"a\":}", b"{\"a\":1,}", b"{a:1}",
];

/// Texts that schemas and profiles look for, inside quotes.
#[rustfmt::skip]
pub(super) const WORDS: &[&[u8]] = &[
    b"system", b"init", b"user", b"assistant", b"thinking", b"delta", b"completed", b"started",
    b"tool_call", b"result", b"success", b"error", b"text", b"stop", b"boundary", b"forbidden",
    b"session-0", b"other", b"pass", b"fail", b"run", b"output", b"stream", b"summary",
    b"diagnostic", b"readToolCall", b"ToolCall", b"rejected", b"permissionDenied", b"failure",
    b"true", b"null", b"0", b"st\\u006fp", b"\\u0073ystem", b"forb\\u0069dden", b"#", b"a#b", b"",
];

/// Keys that an object may get besides its own.
#[rustfmt::skip]
pub(super) const KEYS: &[&[u8]] = &[
    b"x", b"", b"type", b"t\\u0079pe", b"subtype", b"session_id", b"timestamp_ms", b"message",
    b"text", b"a/b", b"a~b", b"~1", b"0", b"*", b"ToolCall", b"aToolCall", b"zzToolCall",
    b"toolCallId", b"__proto__", b"\xc3\xa9", b"e\xcc\x81", b"\\u00e9", b"\\ud83d", b"\\n", b"\x1f",
    b"\xff",
];

/// Appends the inside of a string that is good JSON, of 0 to some 200 bytes.
pub(super) fn good_text(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(20) {
        0..8 => {
            for _ in 0..random.within(1, 4) {
                out.extend_from_slice(random.pick(&[
                    &b" the"[..],
                    b"file ",
                    b"is",
                    b". ",
                    b"42",
                    b"`x`",
                ]));
            }
        }
        8..10 => out.resize(out.len() + random.within(0, 200), b'a'),
        10 => out.extend(b"\\\\".repeat(random.within(1, 70))),
        11 => {
            out.resize(out.len() + random.within(0, 70), b'b');
            let ends: [&[u8]; 4] = [b"\\\"", b"\\\\", b"\\u005c", b"\\\\\\\""];
            out.extend_from_slice(random.pick(&ends));
        }
        12..14 => {
            let escapes: [&[u8]; 9] = [
                b"\\n",
                b"\\t",
                b"\\\"",
                b"\\/",
                b"\\\\",
                b"\\u00e9",
                b"\\ud83d\\ude00",
                b"\\u0000",
                b"\\u2028",
            ];
            for _ in 0..random.within(1, 12) {
                out.extend_from_slice(random.pick(&escapes));
                out.resize(out.len() + random.below(20), b'c');
            }
        }
        14..16 => {
            let letters = ["é", "日本", "🚀", "\u{2028}", "\u{7f}", "\u{feff}", "\u{10ffff}", "d"];
            for _ in 0..random.within(1, 30) {
                out.extend_from_slice(random.pick(&letters).as_bytes());
            }
        }
        16 => out.extend_from_slice(random.pick(WORDS)),
        _ => out.push(b'a' + u8::try_from(random.below(26)).expect("a letter")),
    }
}

/// Appends a whole number that is good JSON, of 1 to 15 digits, seldom more or negative.
pub(super) fn good_number(random: &mut Random, out: &mut Vec<u8>) {
    let least = if random.chance(5) { 0 } else { 15 };
    let number = random.next() >> random.within(least, 63);
    if random.chance(3) {
        out.push(b'-');
    }
    out.extend_from_slice(number.to_string().as_bytes());
}
