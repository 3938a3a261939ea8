//! Whatever copies of its text a producer writes, a person reads each once.

use std::fs;

use ndjson_check::{Checker, Rule};
use serde_json::{Value, json};

use crate::streams::{check, judge, run_on, text};

/// How a producer writes its texts.
#[derive(Debug, Clone, Copy)]
struct Manner {
    final_is: &'static str,
    deltas: bool,
    wholes: bool,
    finals: bool,
}

impl Manner {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for final_is in ["all", "last", "either", "free"] {
            for (deltas, wholes, finals) in [
                (true, false, false),
                (false, true, false),
                (false, false, true),
                (true, true, false),
                (true, false, true),
                (false, true, true),
                (true, true, true),
            ] {
                all.push(Self { final_is, deltas, wholes, finals });
            }
        }
        all
    }

    fn profile(self) -> Value {
        let rule = |mode: &str, tag: &str| {
            json!({"mode": mode, "when": {"/k": tag, "/t": {"exists": true}},
            "value": "/t", "group": ["/g"]})
        };
        let rules = [(self.deltas, "delta"), (self.wholes, "whole"), (self.finals, "final")];
        let rules = rules.iter().filter(|it| it.0).map(|it| rule(it.1, it.1));
        json!({
            "name": "x", "title": "x",
            "tags": {"at": ["/k"],
                "documented": ["open", "delta", "whole", "call", "done", "final"]},
            "calls": {
                "start": [{"when": {"/k": "call"}, "id": ["/id"]}],
                "completion": [{"when": {"/k": "done"}, "id": ["/id"],
                    "outcomes": [{"outcome": "succeeded", "when": {}}]}]
            },
            "text": {"rules": rules.collect::<Vec<_>>(), "final": self.final_is},
            "end": {
                "rules": [{"outcome": "success", "when": {"/k": "final"}}],
                "reopen": [{"when": {"/k": "open"}}]
            }
        })
    }

    /// One text, in all the copies that the producer writes of it before the end.
    fn said(self, word: &str) -> String {
        let (start, rest) = word.split_at(2);
        let deltas = [start, rest].map(|it| json!({"k": "delta", "g": word, "t": it}));
        let whole = json!({"k": "whole", "g": word, "t": word});
        let deltas = deltas.iter().filter(|_| self.deltas);
        deltas.chain(self.wholes.then_some(&whole)).map(|it| it.to_string() + "\n").collect()
    }

    /// A turn of two texts, with a call between them.
    fn turn(self, words: [&str; 2]) -> String {
        let call = |tag: &str| format!("{}\n", json!({"k": tag, "id": 1}));
        let answer = if self.final_is == "all" && (self.deltas || self.wholes) {
            words.concat()
        } else {
            words[1].to_owned()
        };
        let answer = if self.finals { json!(answer) } else { Value::Null };
        let (open, end) = (json!({"k": "open"}), json!({"k": "final", "t": answer}));
        let [first, second] = words.map(|it| self.said(it));
        [format!("{open}\n"), first, call("call"), call("done"), second, format!("{end}\n")]
            .concat()
    }
}

#[test]
fn no_text_is_printed_twice_and_the_answer_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    let turns = [["first", "second"], ["third", "fourth"]];
    for manner in Manner::all() {
        fs::write(&file, manner.profile().to_string()).unwrap();
        let stream = turns.map(|words| manner.turn(words)).concat();
        let run = |form: &str| {
            let output =
                run_on(&["--profile", file.to_str().unwrap(), "--to", form], stream.as_bytes());
            let report = text(&output.stderr);
            assert!(report.starts_with("✓ succeeded"), "{manner:?}: {report}");
            text(&output.stdout)
        };
        assert_eq!(run("answer").trim(), "fourth", "{manner:?}");
        let transcript = run("transcript");
        let spoken =
            |word: &&str| manner.deltas || manner.wholes || *word == "second" || *word == "fourth";
        for word in turns.concat().iter().filter(|word| spoken(word)) {
            assert_eq!(transcript.matches(*word).count(), 1, "{manner:?}: {transcript}");
        }
    }
}

/// The rules that these texts raise, and the size of the text.
/// `d` is a delta, `w` a whole text, `f` the final text, `b` a boundary.
fn raised(texts: &[(&str, &str)]) -> (Vec<Rule>, u64) {
    let event = |(tag, text): &(&str, &str)| format!("{}\n", json!({"t": tag, "x": text}));
    let stream: String = texts.iter().map(event).collect();
    let (summary, rules) = judge(stream.as_bytes(), &mut letters(false));
    (rules, summary.text_bytes)
}

fn letters(is_plain: bool) -> Checker {
    let rule = |mode: &str| json!({"mode": mode, "when": {"/t": mode[..1]}, "value": "/x"});
    let rules = ["delta", "whole", "final"].map(rule);
    let profile = json!({"name": "x", "title": "x",
        "tags": {"at": ["/t"], "documented": ["d", "w", "f", "b"]},
        "text": {"rules": rules, "ends_at": [{"when": {"/t": "b"}}]},
        "end": {"policy": "none"}});
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("profile.json");
    fs::write(&file, profile.to_string()).unwrap();
    Checker::builder().profile(file.to_str().unwrap()).plain(is_plain).build().unwrap()
}

#[test]
fn plain_partial_and_mixed_streams_have_the_same_answer() {
    let cases: [&[(&str, &str)]; 5] = [
        &[("w", "ha"), ("b", ""), ("w", "haho"), ("f", "hahaho")],
        &[
            ("d", "ha"),
            ("w", "ha"),
            ("b", ""),
            ("d", "ha"),
            ("d", "ho"),
            ("w", "haho"),
            ("f", "hahaho"),
        ],
        &[("d", "ha"), ("b", ""), ("w", "haho"), ("f", "hahaho")],
        &[("d", "ha"), ("d", "ha"), ("w", "haha"), ("w", "ho"), ("f", "hahaho")],
        &[("d", "ha"), ("d", "ha"), ("b", ""), ("w", "ho"), ("f", "hahaho")],
    ];
    for texts in cases {
        assert_eq!(raised(texts), (vec![], 6), "{texts:?}");
    }
}

#[test]
fn a_difference_is_found_once() {
    let mismatch = [Rule::FinalTextMismatch];
    assert_eq!(raised(&[("w", "a"), ("f", "b")]).0, mismatch);
    assert_eq!(raised(&[("w", "a"), ("f", "ab")]).0, mismatch);
    assert_eq!(raised(&[("f", "b")]).0, mismatch);
    for answer in ["ab", "a", "abc"] {
        let texts = [("d", "a"), ("w", "ab"), ("f", answer)];
        assert_eq!(raised(&texts).0, [Rule::DeltaMismatch], "{answer}");
    }
    // A chunk that equals all earlier ones is text like any other.
    let texts = [("d", "ha"), ("d", "ha"), ("d", "haha"), ("b", "")];
    assert_eq!(raised(&[&texts[..], &[("f", "hahahaha")]].concat()).0, []);
    assert_eq!(raised(&[&texts[..], &[("f", "haha")]].concat()).0, mismatch);
}

/// Goal: a text is compared with its repetition however that is escaped, also where it is too long
/// to be kept. Method: by both engines; the message names the first byte that differs.
#[test]
fn a_final_text_is_compared_whatever_its_escapes() {
    let long = "0123456789".repeat(120_000);
    let cases = [
        ("a\nb🚀c", r"a\nb\ud83d\ude80c".to_owned(), None),
        ("a\nb🚀c", r"a\u000ab🚀c".to_owned(), None),
        ("a\nb🚀c", r"a\tb🚀c".to_owned(), Some("is at byte 1 ")),
        ("a\nb🚀c", r"a\nb🚀".to_owned(), Some("is at byte 7 ")),
        ("a\nb🚀c", r"a\nb🚀cd".to_owned(), Some("is at byte 8 ")),
        // White space at either end does not count.
        ("a\nb🚀c", r"a\nb🚀c \n".to_owned(), None),
        ("a\nb🚀c\n\t", r"a\nb🚀c \n".to_owned(), None),
        ("a\nb🚀c ", r"a\nb🚀c d".to_owned(), Some("is at byte 9 ")),
        ("a\nb🚀c", r" a\nb🚀c".to_owned(), None),
        ("\n\na\nb🚀c", r" a\nb🚀c\n".to_owned(), None),
        ("\n\na\nb🚀c", r"\na\nc🚀c\n".to_owned(), Some("is at byte 4 ")),
        (&long, long.replace('5', r"\u0035"), None),
        (&long, long.replace('5', r"\u0035") + "0", Some("is after byte 1048576 ")),
    ];
    for (text, written, place) in cases {
        let whole = json!({"t": "w", "x": text});
        let stream = format!("{whole}\n{{\"t\":\"f\",\"x\":\"{written}\"}}\n");
        for is_plain in [false, true] {
            let (_, found) = check(&mut letters(is_plain), stream.as_bytes());
            let is_there = |place| found[0].message.contains(place);
            assert_eq!(found.len(), usize::from(place.is_some()));
            assert!(place.is_none_or(is_there), "{}", found[0].message);
        }
    }
}
