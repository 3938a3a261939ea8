//! Lines that nearly equal each other: what a memory of the shapes of lines must tell apart.

use ndjson_check::Checker;

use crate::contracts::{agent_subject, subjects};
use crate::differential::{Batch, Engines};

/// Lines of which each place has a text (`^`) and a number (`~`) that change.
const LINES: [&str; 4] = [
    concat!(
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","#,
        r#""text":"^"}]},"session_id":"s","timestamp_ms":~}"#
    ),
    r#"{"type":"thinking","subtype":"delta","text":"^","session_id":"s","timestamp_ms":~}"#,
    r#"{"type":"metrics", "n":~, "values":[1,~], "text":"^", "nested":{"deep":[{"x":"^"}]}}"#,
    r#"{"text":"^","timestamp_ms":~,"session_id":"s","type":"assistant","message":{}}"#,
];

/// The same of agents whose text has groups, or lies deep.
const AGENT_LINES: [(&str, &str); 6] = [
    (
        "acp",
        concat!(
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"#,
            r#""sessionUpdate":"agent_message_chunk","messageId":"m~","#,
            r#""content":{"type":"text","text":"^"}}}}"#
        ),
    ),
    (
        "claude",
        concat!(
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":~,"delta":{"#,
            r#""type":"text_delta","text":"^"}},"session_id":"s","parent_tool_use_id":null,"#,
            r#""uuid":"u~"}"#
        ),
    ),
    ("codex", r#"{"type":"item.completed","item":{"id":"~","type":"agent_message","text":"^"}}"#),
    (
        "copilot",
        concat!(
            r#"{"type":"assistant.message_delta","data":{"messageId":"m~","#,
            r#""deltaContent":"^"},"ephemeral":true,"id":"s","#,
            r#""timestamp":"2026-09-01T10:00:06.000Z","parentId":"p"}"#
        ),
    ),
    (
        "goose",
        concat!(
            r#"{"type":"message","message":{"id":"m~","role":"assistant","created":~,"#,
            r#""content":[{"type":"text","text":"^"}]}}"#
        ),
    ),
    (
        "pi",
        concat!(
            r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","#,
            r#""contentIndex":~,"delta":"^"}}"#
        ),
    ),
];

const START: &str = concat!(
    r#"{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/app","session_id":"s","#,
    r#""model":"Auto","permissionMode":"default"}"#
);

const END: &str = concat!(
    r#"{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"#,
    r#""is_error":false,"result":"abc","session_id":"s"}"#
);

/// In the place of the number, most of which was `1500`.
const NUMBERS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "-0",
    "01",
    "001500",
    "1.0",
    "1500.0",
    "1500.",
    ".5",
    "1e3",
    "1E+3",
    "15e2",
    "1e",
    "1e999",
    "-1e999",
    "1e-999",
    "+1",
    "-",
    "",
    "1500 ",
    " 1500",
    "1499",
    "1501",
    "15 00",
    "1_500",
    "999999999999999",
    "9007199254740993",
    "99999999999999999",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "100000000000000000000",
    "\"1500\"",
    "null",
    "true",
    "[1500]",
    "{}",
    "0x5dc",
    "1500,",
];

/// In the place of the text, inside its quotes.
const TEXTS: [&[u8]; 48] = [
    b"",
    b"a",
    b"b",
    b"stop",
    b"boundary",
    b"file",
    b"#",
    b"st\\u006fp",
    b"\"",
    b"\\\"",
    b"\\",
    b"\\\\",
    b"\\\\\\",
    b"a\\",
    b"\\u",
    b"\\u12",
    b"\\u0041",
    b"\\u00",
    b"\\ud83d",
    b"\\ude00",
    b"\\ud83d\\ude00",
    b"\\ude00\\ud83d",
    b"\\ud83dx",
    b"\\ud83d\\n",
    b"\\x",
    b"\\/",
    b"\n",
    b"\r",
    b"\t",
    b"\x00",
    b"\x1f",
    b"\x7f",
    b"\\u0000",
    b"\xc3\xa9",
    b"\xc3",
    b"\xa9",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x80\xa8",
    b"a\",\"text\":\"b",
    b"a\",\"x\":\"b",
    b"\"}]}",
    b"a\"b",
    b"{}",
    b"~",
    b"a\"}",
];

/// One piece of a line for another.
const EDITS: [(&str, &str); 30] = [
    ("\"type\"", "\"t\\u0079pe\""),
    ("\"text\":", "\"t\\u0065xt\":"),
    ("\"text\":", "\"Text\":"),
    ("\"text\":", "\"text\" :"),
    ("\"text\":", "\"text\"::"),
    ("\"text\":", "\"text\","),
    ("\"text\":", "\"text\":1,\"text\":"),
    ("\"text\":\"", "\"text\":\"\\"),
    ("\"s\"", "\"t\""),
    ("\"s\"", "\"\\u0073\""),
    ("\"s\"", "\"s \""),
    ("\"s\"", "null"),
    ("\"s\"", "\"s\",\"x\":1"),
    ("\"s\"", "\"s\",\"type\":\"user\""),
    ("\"s\"", "\"s\",\"session_id\":\"t\""),
    ("\"assistant\"", "\"user\""),
    ("\"delta\"", "\"completed\""),
    ("\"role\":\"assistant\"", "\"role\":\"user\""),
    ("\"type\":\"text\",", ""),
    ("}]", "},{}]"),
    ("}]", "}}"),
    ("}]", "]"),
    ("[{", "[ {"),
    ("[{", "[{},{"),
    ("[{", "{"),
    (":", ": "),
    (",", ",\t"),
    (",", ",,"),
    ("{", "{ "),
    ("\"", "'"),
];

/// Behind the line.
const ENDS: [&[u8]; 14] = [
    b"\r",
    b" ",
    b" \t ",
    b"\t\r",
    b",",
    b"}",
    b"{}",
    b" {}",
    b"\n",
    b"\x00",
    b"\x0b",
    b"\xc2\xa0",
    b"\xef\xbb\xbf",
    b"// x",
];

fn filled(line: &str, text: &[u8], number: &str) -> Vec<u8> {
    let pieces = line.replace('~', number);
    let pieces: Vec<&[u8]> = pieces.split('^').map(str::as_bytes).collect();
    pieces.join(text)
}

/// Lines that are nearly that line. Of the bytes, each second is lost: the even or the odd ones.
fn neighbours(line: &str, first: usize) -> Vec<Vec<u8>> {
    let good = filled(line, b"abc", "1500");
    let mut found: Vec<Vec<u8>> = NUMBERS.iter().map(|it| filled(line, b"abc", it)).collect();
    found.extend(TEXTS.iter().map(|text| filled(line, text, "1500")));
    // A text that ends before, at and behind the end of a block of a scanner.
    for count in (0..140).step_by(3) {
        for end in [&b""[..], b"\\\"", b"\\\\", b"\\", b"\xc3\xa9", b"\xc3", b"\x1f"] {
            let text = [&b"x".repeat(count), end].concat();
            found.push(filled(line, &text, "1500"));
        }
    }
    let text = String::from_utf8(good.clone()).unwrap();
    found.extend(EDITS.iter().map(|(from, to)| text.replacen(from, to, 1).into_bytes()));
    found.extend(ENDS.iter().map(|end| [&good[..], end].concat()));
    let places = (first % 2..good.len()).step_by(2);
    found.extend(places.clone().map(|cut| good[..cut].to_vec()));
    found.extend(places.map(|at| [&good[..at], &good[at + 1..]].concat()));
    found
}

fn stream(lines: &[&[u8]]) -> Vec<u8> {
    [START.as_bytes(), &lines.join(&b'\n'), END.as_bytes(), b""].join(&b'\n')
}

/// Method: after good lines that are alike, each neighbour, twice, and good lines again; and each
/// as the last line, without an end. Under contracts that look at much and at little, of which
/// each takes half of the lines.
#[test]
fn engines_agree_on_lines_that_are_nearly_alike() {
    for (number, subject) in (0..).zip(subjects()) {
        for line in LINES.into_iter().skip(number % 2).step_by(2) {
            let [a, b] = [filled(line, b"abc", "1500"), filled(line, b"de", "1600")];
            let mut streams = Vec::new();
            for near in neighbours(line, number / 2) {
                streams.push(stream(&[&a, &b, &a, &near, &near, &b]));
                streams.push([START.as_bytes(), &a, &b, &near].join(&b'\n'));
            }
            let batch = Batch { streams, ..Batch::default() };
            let agreed = subject.engines.compare(&batch);
            let summaries = agreed.unwrap_or_else(|it| panic!("{}: {it}", subject.name));
            assert!(summaries.len() > 700, "only {}", summaries.len());
        }
    }
}

/// Method: the same with the lines of agents, under their profiles. The second line has another
/// number, which may be the key of a group.
#[test]
fn engines_agree_on_lines_of_agents_that_are_nearly_alike() {
    for (agent, line) in AGENT_LINES {
        for (first, has_schema) in [(0, true), (1, false)] {
            let subject = agent_subject(agent, has_schema);
            let [a, b] = [filled(line, b"abc", "1500"), filled(line, b"de", "1600")];
            let near = neighbours(line, first).into_iter();
            let stream = |near: Vec<u8>| {
                let lines = [&a, &a, &b, &b, &near, &near, &b, &a];
                lines.map(|line| &line[..]).join(&b'\n')
            };
            let streams = near.map(stream).collect();
            let agreed = subject.engines.compare(&Batch { streams, ..Batch::default() });
            let summaries = agreed.unwrap_or_else(|it| panic!("{}: {it}", subject.name));
            assert!(summaries.len() > 400, "only {}", summaries.len());
        }
    }
}

/// Method: each neighbour after each other: what was learned of one is tried on the next.
#[test]
fn engines_agree_on_all_pairs_of_such_lines() {
    let line = LINES[1];
    let near: Vec<Vec<u8>> = neighbours(line, 0).into_iter().step_by(3).collect();
    for subject in subjects().iter().filter(|it| ["plain", "close", "curious"].contains(&&*it.name))
    {
        for first in &near {
            let pairs = near.iter().flat_map(|second| [&first[..], second]);
            let batch =
                Batch { streams: vec![stream(&pairs.collect::<Vec<_>>())], ..Batch::default() };
            let agreed = subject.engines.compare(&batch);
            agreed.unwrap_or_else(|it| panic!("{}: {it}", subject.name));
        }
    }
}

/// Goal: a schema that cannot be evaluated is the same error, from the same line.
#[test]
fn engines_agree_on_a_pattern_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.json");
    std::fs::write(&file, r#"{"properties":{"text":{"pattern":"^(?!x)(a|aa)+(?=z)$"}}}"#).unwrap();
    let builder = Checker::builder().profile("cursor").schema_file(&file).unwrap();
    let engines = Engines::new(builder).unwrap();
    let long = "a".repeat(200);
    let [a, b] = ["b", &long].map(|text| filled(LINES[1], text.as_bytes(), "1500"));
    let streams = vec![stream(&[&a, &a, &b, &a]), stream(&[&a, &b])];
    let agreed = engines.compare(&Batch { streams, ..Batch::default() });
    assert!(agreed.unwrap_or_else(|it| panic!("{it}")).is_empty());
}
