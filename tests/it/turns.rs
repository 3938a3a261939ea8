//! Whatever copies of its text a producer writes, a person reads each once.

use std::fs;

use serde_json::{Value, json};

use crate::streams::{run_on, text};

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
            assert!(report.starts_with("-: conforming, succeeded"), "{manner:?}: {report}");
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
