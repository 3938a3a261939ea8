//! Streams as one profile reads them, without the rest of the check.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::*;
use crate::facts::{Marks, RareFacts, TagStatus};

/// With rules for deltas, whole and final texts, whatever they are.
fn profile() -> Profile {
    let rule = |mode: &str| json!({"mode": mode, "when": {}, "value": "/x"});
    let rules: Vec<Value> = ["delta", "whole", "final"].map(rule).into();
    let profile = json!({"name": "x", "title": "x", "tags": {"at": []}, "text": {"rules": rules}});
    serde_json::from_value(profile).expect("a profile")
}

/// `d` delta, `w` whole, `f` final, `b` boundary.
fn found(texts: &[(char, &str)]) -> (Vec<Rule>, u64) {
    let profile = profile();
    let mut stage = TextCheck::new(&profile);
    let mut found = Vec::new();
    for (number, (mode, text)) in (1..).zip(texts) {
        let mut facts = Facts {
            line: number,
            offset: 0,
            tag: "",
            tag_status: TagStatus::Documented,
            marks: Marks::default(),
            session: None,
            time: None,
            text: None,
            more_texts: Vec::new(),
            rare: None,
        };
        let text = Cow::Borrowed(*text);
        match mode {
            'd' => facts.text = Some(TextFact { kind: TextKind::Delta, group: None, text }),
            'w' => facts.text = Some(TextFact { kind: TextKind::Whole, group: None, text }),
            'f' => {
                let final_text = Some(text.into());
                facts.rare = Some(Box::new(RareFacts { final_text, ..RareFacts::default() }));
            }
            _ => facts.marks.ends_segment = true,
        }
        stage.observe(&facts, false, &mut found, &mut TextUpdates::new());
    }
    stage.finish();
    (found.iter().map(|diagnostic| diagnostic.rule).collect(), stage.text_bytes())
}

#[test]
fn plain_partial_and_mixed_streams_have_the_same_answer() {
    let cases: &[&[(char, &str)]] = &[
        &[('w', "ha"), ('b', ""), ('w', "haho"), ('f', "hahaho")],
        &[
            ('d', "ha"),
            ('w', "ha"),
            ('b', ""),
            ('d', "ha"),
            ('d', "ho"),
            ('w', "haho"),
            ('f', "hahaho"),
        ],
        &[('d', "ha"), ('b', ""), ('w', "haho"), ('f', "hahaho")],
        &[('d', "ha"), ('d', "ha"), ('w', "haha"), ('w', "ho"), ('f', "hahaho")],
        &[('d', "ha"), ('d', "ha"), ('b', ""), ('w', "ho"), ('f', "hahaho")],
    ];
    for texts in cases {
        assert_eq!(found(texts), (vec![], 6), "{texts:?}");
    }
}

#[test]
fn a_difference_is_found_once() {
    let mismatch = vec![Rule::FinalTextMismatch];
    assert_eq!(found(&[('w', "a"), ('f', "b")]).0, mismatch);
    assert_eq!(found(&[('w', "a"), ('f', "ab")]).0, mismatch);
    assert_eq!(found(&[('f', "b")]).0, mismatch);
    for answer in ["ab", "a", "abc"] {
        let texts = [('d', "a"), ('w', "ab"), ('f', answer)];
        assert_eq!(found(&texts).0, [Rule::DeltaMismatch], "{answer}");
    }
    // A chunk that equals all earlier ones is text like any other.
    let texts = [('d', "ha"), ('d', "ha"), ('d', "haha"), ('b', "")];
    assert_eq!(found(&[&texts[..], &[('f', "hahahaha")]].concat()).0, []);
    assert_eq!(found(&[&texts[..], &[('f', "haha")]].concat()).0, mismatch);
}
