//! Deltas and whole texts that name their message.

use serde_json::json;

use super::{agent_with, each_event, profile, shown};
use crate::check::TextUpdate;
use crate::check::stage::text::{TextCheck, TextUpdates};

/// The texts that a reader sees, `|` at the end of each, and `~` where one is abandoned.
#[test]
fn a_text_is_shown_once_whatever_event_is_lost() {
    let rules = json!([
        { "mode": "delta", "when": { "/at": "bit" }, "value": "/text" },
        { "mode": "whole", "when": { "/at": "text" }, "value": "/text", "group": ["/no"] }
    ]);
    let begins = json!([{ "when": { "/at": "begin" }, "group": ["/no"] }]);
    let texts = json!({ "rules": rules, "deltas": "closed", "ends_at": begins });
    let profile = profile(agent_with("text", texts));
    for (events, expected) in [
        ("begin no=1, bit text=ab, bit text=c, text no=1 text=abc", "abc|"),
        ("begin no=1, text no=1 text=abc, text no=1 text=abc", "abc|abc|"),
        // The event that names the message is lost, of the first one and of a later one.
        ("bit text=ab, bit text=c, text no=1 text=abc", "abc|"),
        ("begin no=1, bit text=a, text no=1 text=a, bit text=b, text no=2 text=b", "a|b|"),
        // The whole text of another message: the deltas were given up.
        ("begin no=1, bit text=ab, text no=2 text=xy", "ab~xy|"),
        // A delta is lost, so the remaining text is not a copy.
        ("bit text=b, text no=1 text=ab", "b|ab|"),
        ("begin no=1, bit text=a, begin no=2, bit text=b, text no=2 text=b", "a|b|"),
    ] {
        let mut check = TextCheck::new(&profile);
        let (mut seen, mut found) = (String::new(), Vec::new());
        each_event(&profile, events, |facts| {
            let mut updates = TextUpdates::new();
            check.observe(facts, false, &mut found, &mut updates);
            for update in updates {
                match update {
                    TextUpdate::Chunk(text) => seen.push_str(&text),
                    TextUpdate::SegmentEnd => seen.push('|'),
                    TextUpdate::Abandoned => seen.push('~'),
                    TextUpdate::Replaced(_) | TextUpdate::Answer(_) => {
                        panic!("{events}: {update:?}")
                    }
                }
            }
        });
        assert_eq!(seen, expected, "{events}");
        assert_eq!(shown(&found), "", "{events}");
    }
}
