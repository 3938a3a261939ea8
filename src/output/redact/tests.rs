//! No planted secret survives, and what is no secret does not change.

use super::formats::{Body, Charset, FORMATS, Proof};
use super::*;

/// A generator with a fixed seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % bound
    }

    fn run(&mut self, charset: Charset, length: usize) -> String {
        let all: Vec<u8> = (b'!'..=b'~').filter(|it| charset.has(*it)).collect();
        (0..length).map(|_| char::from(all[self.next(all.len())])).collect()
    }
}

/// A secret of each prefix, made from parts: what is before it, and what must not survive.
fn secret(dice: &mut Dice, format: usize, prefix: usize) -> (String, String) {
    let format = &FORMATS[format];
    let prefix = format.prefixes[prefix];
    match format.body {
        Body::Run(charset, least, most, proof) => {
            let body = match proof {
                Proof::None => {
                    let more = dice.next((most - least).min(20));
                    dice.run(charset, least + more)
                }
                Proof::Mixed => format!("{}4", dice.run(charset, least)),
                Proof::Dots => {
                    let mut part = || dice.run(Charset::Alnum, 12);
                    format!("{}.{}.{}", part(), part(), part())
                }
            };
            if format.keeps_prefix {
                (prefix.to_owned(), body)
            } else {
                (String::new(), format!("{prefix}{body}"))
            }
        }
        Body::Pem => {
            let lines: Vec<String> = (0..3).map(|_| dice.run(Charset::Alnum, 24)).collect();
            let (kind, body) = (["", "RSA "][dice.next(2)], lines.join("\n"));
            let label = format!("{kind}PRIVATE KEY-----");
            (String::new(), format!("{prefix}{label}\n{body}\n-----END {label}"))
        }
        Body::Url => {
            (format!("postgres{prefix}user:"), format!("{}@", dice.run(Charset::Alnum, 9)))
        }
        Body::Nothing => unreachable!("no format has this"),
    }
}

/// Every secret, as often as asked for, with its format.
fn secrets(count: usize, mut take: impl FnMut(&mut Dice, usize, &str, &str)) {
    let mut dice = Dice(7);
    for (index, format) in FORMATS.iter().enumerate() {
        for round in 0..count {
            let (before, secret) = secret(&mut dice, index, round % format.prefixes.len());
            take(&mut dice, index, &before, &secret);
        }
    }
}

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
    secrets(1_000, |dice, format, before, secret| {
        let (name, head) =
            (FORMATS[format].name, ["", "export X=", "\"", "(", "a\n"][dice.next(5)]);
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
        let out = redacted(&mut redactor, &delta(&json(&text)));
        assert!(texts(&out).contains(&replacement), "{name}: {out}");
        assert!(!texts(&out).contains(core(secret)), "{name}: {out}");
    });
}

/// Goal: a secret in deltas is found wherever it is split, and the whole text that follows agrees
/// with the deltas.
#[test]
fn no_secret_survives_split_at_any_position() {
    let mut redactor = Redactor::secrets(&[]);
    let mut check = |name: &str, pieces: &[&str], between: &str, secret: &str| {
        let whole = pieces.concat();
        let deltas: Vec<String> = pieces.iter().map(|piece| delta(piece)).collect();
        let out = redacted(&mut redactor, &deltas.join(between));
        let out: Vec<&str> = out.lines().filter(|it| !between.contains(it)).collect();
        assert_eq!(out.len(), pieces.len(), "{name}");
        let together = texts(&out.join("\n"));
        assert!(!together.contains(core(secret)), "{name}: {pieces:?} {together}");
        let whole = redacted(&mut redactor, &delta(&whole));
        assert_eq!(together, texts(&whole), "{name}: {pieces:?}");
        assert!(together.contains(&format!("[REDACTED:{name}]")), "{name}: {together}");
    };
    secrets(12, |dice, format, before, secret| {
        let name = FORMATS[format].name;
        let text = format!("Use {before}{secret} now.");
        for at in 0..=text.len() {
            check(name, &[&text[..at], &text[at..]], "", secret);
        }
        let (a, b) = (dice.next(text.len()), dice.next(text.len()));
        let pieces = [&text[..a.min(b)], &text[a.min(b)..a.max(b)], &text[a.max(b)..]];
        check(name, &pieces, "{\"type\":\"ping\"}\n", secret);
        let characters: Vec<&str> = text.split("").collect();
        check(name, &characters, "", secret);
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
fn what_is_no_secret_passes_unchanged() {
    let mut redactor = Redactor::secrets(&[]);
    let stream = r#"
{"a":"sk-learn and scikit-learn, sk-fading-circle-of-dots","b":"task-0123456789012345678901"}
{"text":"Bearer authentication needs Basic knowledge","c":"https://example.com:8080/a@b"}
{"text":"postgres://user:$PASSWORD@host and https://user:<password>@host"}
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
    let mut redactor = Redactor::secrets(&[]);
    let (mut out, mut fed) = (Vec::new(), 0);
    let line = delta("");
    redactor.feed(delta("g").as_bytes(), &mut out);
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

/// Goal: the page shows the formats that exist.
#[test]
fn the_page_has_a_row_for_each_format() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/redaction.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    for format in FORMATS {
        for prefix in format.prefixes {
            let row = page.lines().filter(|it| it.starts_with(&format!("| `{}` |", format.name)));
            let shown = format!("`{}`", prefix.trim_end());
            assert!(row.clone().any(|it| it.contains(&shown)), "{} {prefix}", format.name);
        }
    }
    assert_eq!(page.lines().filter(|it| it.starts_with("| `")).count(), FORMATS.len());
}
