//! No planted secret survives, and nothing else changes.

use ndjson_check_secrets::looks_random;
use ndjson_check_secrets::samples::{Dice, Sample, secrets};

use super::*;
use crate::profile::Profile;

fn redacted(redactor: &mut Redactor, stream: &str) -> String {
    let mut out = Vec::new();
    redactor.feed(stream.as_bytes(), &mut out);
    redactor.finish(&mut out);
    String::from_utf8(out).expect("it was text")
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

fn delta(text: &str) -> String {
    format!("{{\"type\":\"delta\",\"text\":{}}}\n", json(text))
}

/// The texts of all events, one after the other.
fn texts(stream: &str) -> String {
    let text = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect("it stays JSON");
        event["text"].as_str().expect("it stays a string").to_owned()
    };
    stream.lines().map(text).collect()
}

fn core(secret: &str) -> &str {
    secret.trim_end_matches('@').lines().nth(1).unwrap_or(secret.trim_end_matches('@'))
}

#[test]
fn no_secret_of_any_format_survives_whole() {
    let mut redactor = Redactor::secrets(&[]);
    secrets(1_000, |dice, Sample { format: name, before, secret, .. }| {
        let head = ["", "export X=", "\"", "(", "a\n"][dice.next(5)];
        let text = format!("{head}{before}{secret}");
        let stream = [delta(&text), format!("npm WARN {before}{secret}\n")].concat();
        let out = redacted(&mut redactor, &stream);
        assert!(!out.contains(core(secret)), "{name}: {out}");
        let replacement = format!("[REDACTED:{name}]");
        assert!(out.matches(&replacement).count() >= 2, "{name}: {stream}{out}");
        assert_eq!(redacted(&mut redactor, &out), out, "{name}: not idempotent");
        // As an escape of JSON may write it, and inside a text that is JSON again.
        let units = text.encode_utf16();
        let escaped: Vec<String> = units.map(|unit| format!("\\u{unit:04x}")).collect();
        let escaped = escaped.concat();
        let out = redacted(&mut redactor, &format!("{{\"text\":\"{escaped}\"}}\n"));
        assert!(texts(&out).contains(&replacement), "{name}: {out}");
        if !before.contains('\\') {
            let out = redacted(&mut redactor, &delta(&json(&text)));
            assert!(texts(&out).contains(&replacement), "{name}: {out}");
            assert!(!texts(&out).contains(core(secret)), "{name}: {out}");
        }
    });
}

/// For streams of an agent that the profile describes.
fn redactor_of(profile: &str) -> Redactor {
    let mut redactor = Redactor::secrets(&[]);
    let profile = Arc::new(Profile::load(profile).expect("it is built in").0);
    redactor.lines.use_profile(&profile);
    redactor
}

fn claude_delta(text: &str) -> String {
    let delta = format!("{{\"type\":\"text_delta\",\"text\":{}}}", json(text));
    let event = format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}");
    format!("{{\"type\":\"stream_event\",\"event\":{event}}}\n")
}

fn claude_texts(stream: &str) -> String {
    let text = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).expect("it stays JSON");
        event["event"]["delta"]["text"].as_str().unwrap_or_default().to_owned()
    };
    stream.lines().map(text).collect()
}

/// The secrets that begin with what names them. One that a mark inside it names is not known by its
/// first piece.
fn secrets_by_prefix(count: usize, mut take: impl FnMut(&mut Dice, &Sample)) {
    secrets(count, |dice, sample| {
        if sample.mark_at == 0 {
            take(dice, sample);
        }
    });
}

/// Texts in pieces: cut once at each place, in three with an event in between, in characters.
fn splits(dice: &mut Dice, text: &str, mut check: impl FnMut(&[&str], &str)) {
    for at in 0..=text.len() {
        check(&[&text[..at], &text[at..]], "");
    }
    let (a, b) = (dice.next(text.len()), dice.next(text.len()));
    let pieces = [&text[..a.min(b)], &text[a.min(b)..a.max(b)], &text[a.max(b)..]];
    check(&pieces, "{\"type\":\"ping\"}\n");
    let characters: Vec<&str> = text.split("").collect();
    check(&characters, "");
}

/// Goal: a secret in deltas is found wherever it is split, and the whole text that follows agrees
/// with the deltas.
#[test]
fn no_secret_survives_split_at_any_position() {
    let mut redactor = redactor_of("claude");
    secrets_by_prefix(12, |dice, Sample { format: name, before, secret, .. }| {
        splits(dice, &format!("Use {before}{secret} now."), |pieces, between| {
            let deltas: Vec<String> = pieces.iter().map(|piece| claude_delta(piece)).collect();
            let together = claude_texts(&redacted(&mut redactor, &deltas.join(between)));
            let whole = redacted(&mut redactor, &delta(&pieces.concat()));
            assert_eq!(together, texts(&whole), "{name}: {pieces:?}");
            assert!(together.contains(&format!("[REDACTED:{name}]")), "{name}: {together}");
        });
    });
}

/// Whether a reader sees more than a few characters of a secret.
fn shows(out: &str, secret: &str, prefix_bytes: usize) -> bool {
    let body = &secret.as_bytes()[prefix_bytes..];
    body.windows(12)
        .filter(|part| !part.contains(&b' '))
        .any(|part| memchr::memmem::find(out.as_bytes(), part).is_some())
}

/// Goal: of texts that no profile knows, at most a few characters of a secret stay, and no string
/// behind it is emptied.
#[test]
fn pieces_that_no_profile_knows_are_joined() {
    let mut redactor = Redactor::secrets(&[]);
    secrets_by_prefix(12, |dice, Sample { format: name, before, secret, prefix_bytes, .. }| {
        splits(dice, &format!("Use {before}{secret}"), |pieces, between| {
            let deltas: Vec<String> = pieces.iter().map(|piece| delta(piece)).collect();
            let stream = [deltas.join(between), delta(" deploy"), delta("--force")].concat();
            let out = redacted(&mut redactor, &stream);
            let is_seen = looks_random(pieces.last().unwrap_or(&"").as_bytes());
            assert!(!is_seen || !shows(&out, secret, *prefix_bytes), "{name}: {pieces:?} {out}");
            assert!(
                texts(&out.replace("{\"type\":\"ping\"}\n", "")).ends_with(" deploy--force"),
                "{out}"
            );
        });
    });
}

/// Goal: where the stream ends inside a secret, what came of it is replaced.
#[test]
fn no_start_of_a_secret_survives_the_end() {
    let mut redactor = redactor_of("claude");
    secrets_by_prefix(2, |dice, Sample { format: name, before, secret, prefix_bytes, .. }| {
        let first = prefix_bytes + 14;
        for length in first.min(secret.len())..secret.len() {
            let text = format!("Use {before}{}", &secret[..length]);
            let at = dice.next(text.len());
            for stream in [
                [claude_delta(&text[..at]), claude_delta(&text[at..])].concat(),
                [delta(&text[..at]), delta(&text[at..])].concat(),
                format!("{{\"type\":\"x\"}}\nnpm WARN {text}"),
                format!("{{\"type\":\"x\",{}", json(&text).trim_end_matches('"')),
                format!("{{\"type\":\"x\",\"text\":{}", json(&text).trim_end_matches('"')),
            ] {
                let out = redacted(&mut redactor, &stream);
                let is_seen = looks_random(&text.as_bytes()[at..]);
                let is_shown = shows(&out, &secret[..length], *prefix_bytes);
                assert!(!is_seen || !is_shown, "{name}: {stream}\n{out}");
            }
        }
    });
}

/// Goal: an event that repeats the text so far hides no start of a secret.
#[test]
fn growing_copies_of_a_text_are_searched() {
    let mut redactor = redactor_of("cline");
    secrets_by_prefix(1, |dice, Sample { format: name, before, secret, prefix_bytes, .. }| {
        let head = ["", "The token is "][dice.next(2)];
        let text = format!("{head}{before}{secret} now");
        for step in [1, 3, 4, 7] {
            let lengths = (1..text.len()).step_by(step);
            let stream: String = lengths.map(|length| delta(&text[..length])).collect();
            let out = redacted(&mut redactor, &stream);
            assert!(!shows(&out, secret, *prefix_bytes), "{name}: {step} {secret} {out}");
        }
    });
}

/// Goal: the texts of sub-agents and of parallel calls do not hide each other.
#[test]
fn texts_that_alternate_are_searched_apart() {
    let mut redactor = Redactor::secrets(&[]);
    secrets_by_prefix(4, |dice, Sample { format: name, before, secret, prefix_bytes, .. }| {
        let text = format!("Use {before}{secret}");
        let at = dice.next(text.len());
        for (key, values) in [("index", ["0", "1"]), ("worker_id", ["\"a\"", "\"b\""])] {
            let event = |which: usize, text: &str| {
                format!("{{\"{key}\":{},\"text\":{}}}\n", values[which], json(text))
            };
            let stream = [event(0, &text[..at]), event(1, "hello"), event(0, &text[at..])].concat();
            let out = redacted(&mut redactor, &stream);
            assert!(!shows(&out, secret, *prefix_bytes) && out.contains("hello"), "{name} {out}");
        }
    });
}

/// Goal: items of one array are texts of their own, and what is between two secrets stays.
#[test]
fn items_of_an_array_are_not_joined() {
    let mut redactor = Redactor::secrets(&[]);
    secrets_by_prefix(2, |_, Sample { format: name, before, secret, prefix_bytes, .. }| {
        let items = ["-p", &format!("{before}{secret}"), "deploy", "--force", "s"].map(json);
        let out = redacted(&mut redactor, &format!("{{\"args\":[{}]}}\n", items.join(",")));
        assert!(!shows(&out, secret, *prefix_bytes), "{name}: {out}");
        assert!(out.ends_with("\",\"deploy\",\"--force\",\"s\"]}\n"), "{name}: {out}");
        let text = format!("{before}{secret}");
        let stream = [delta(&text), "{\"type\":\"y\"}\n".to_owned(), delta(&text)].concat();
        let out = redacted(&mut redactor, &stream);
        assert_eq!(out.matches(&format!("[REDACTED:{name}]")).count(), 2, "{out}");
        assert!(!shows(&out, secret, *prefix_bytes), "{name}: {out}");
        // Printed over several lines, keys and values are of one place.
        let pretty = format!("{{\n  \"key\": {},\n  \"b s\": {}\n}}\n", json(&text), json(&text));
        assert!(!shows(&redacted(&mut redactor, &pretty), secret, *prefix_bytes), "{name}: {out}");
    });
}

#[test]
fn values_of_variables_are_found_in_each_of_their_forms() {
    let value = "p\u{e4}ss \"word\"\n17";
    let values = [SecretValue::new("TOKEN", value).expect("long enough")];
    let mut redactor = Redactor::secrets(&values);
    // By another implementation.
    let base64 = "cMOkc3MgIndvcmQiCjE3";
    let nested = json(&format!("x{value}y"));
    for text in [value, &nested, base64, "eHDDpHNzICJ3b3JkIgoxNw", "eHlww6RzcyAid29yZCIKMTc"] {
        let out = redacted(&mut redactor, &delta(text));
        assert!(out.contains("[REDACTED:TOKEN]"), "{text}: {out}");
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let out = redacted(&mut redactor, &[delta(&text[..at]), delta(&text[at..])].concat());
            assert!(texts(&out).contains("[REDACTED:TOKEN]"), "{text}: {out}");
        }
    }
    assert!(SecretValue::new("SHORT", "1234567").is_none());
}

#[test]
fn a_value_may_begin_on_the_line_below_its_name() {
    let mut redactor = Redactor::secrets(&[]);
    for text in ["let password\n    = \"7hZq0Lx2vK9m\"", "export DB_PASSWORD\n=7hZq0Lx2vK9m"] {
        let out = redacted(&mut redactor, &delta(text));
        assert!(!out.contains("7hZq0Lx2vK9m"), "{out}");
    }
}

#[test]
fn what_is_no_secret_passes_unchanged() {
    let mut redactor = Redactor::secrets(&[]);
    let stream = r#"
{"a":"sk-learn and scikit-learn, sk-fading-circle-of-dots","b":"task-0123456789012345678901"}
{"text":"Bearer authentication needs Basic knowledge","c":"https://example.com:8080/a@b"}
{"text":"postgres://user:$PASSWORD@host and https://user:<password>@host"}
{"text":"PASS\n\n=== daily_rollup_query_under_100ms ===\nok"}
{"text":"-----BEGIN CERTIFICATE-----\nMII","d":"\/\u0041\ud83d \ud800","n":1.5e-3,"t":[true,null]}
not JSON "at all
{"cut":"of
"#;
    for stream in [stream.to_owned(), stream.replace('\n', "\r\n"), stream.trim().to_owned()] {
        assert_eq!(redacted(&mut redactor, &stream), stream);
        let (mut out, mut pieces) = (Vec::new(), Redactor::secrets(&[]));
        stream.as_bytes().chunks(3).for_each(|bytes| pieces.feed(bytes, &mut out));
        pieces.finish(&mut out);
        assert_eq!(out, stream.as_bytes());
    }
}

/// Goal: no line waits for long.
#[test]
fn a_line_waits_for_few_others() {
    let mut redactor = Redactor::secrets(&[]);
    let mut out = Vec::new();
    redactor.feed(delta("This is a g").as_bytes(), &mut out);
    for _ in 0..4 {
        assert!(out.is_empty());
        redactor.feed(b"{\"type\":\"ping\"}\n", &mut out);
    }
    assert_eq!(memchr::memchr_iter(b'\n', &out).count(), 5);
    let mut redactor = redactor_of("claude");
    let (mut out, mut fed) = (Vec::new(), 0);
    let line = claude_delta("");
    redactor.feed(claude_delta("g").as_bytes(), &mut out);
    while out.is_empty() {
        redactor.feed(line.as_bytes(), &mut out);
        fed += line.len();
        assert!(fed < 2 * 1024 * 1024, "it waits without end");
    }
}

/// Goal: a line that never ends is written while it comes, and searched.
#[test]
fn a_line_without_end_is_searched_as_it_comes() {
    let mut redactor = Redactor::secrets(&[]);
    let secret = format!("{}{}", "gh", "p_0123456789abcdefghijABCDEFGHIJ01234567");
    let block = " word".repeat(20_000);
    let (mut out, mut written) = (Vec::new(), 0);
    for index in 0..800 {
        redactor.feed(block.as_bytes(), &mut out);
        if index == 700 {
            redactor.feed(format!(" {}", &secret[..9]).as_bytes(), &mut out);
            redactor.feed(&secret.as_bytes()[9..], &mut out);
        }
        written += out.len();
        assert!(memchr::memmem::find(&out, &secret.as_bytes()[10..]).is_none());
        out.clear();
    }
    redactor.finish(&mut out);
    assert_eq!(written + out.len(), 800 * block.len() + 1 + "[REDACTED:github-token]".len());
}
