//! Redaction of content: what each string of each event holds is replaced.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::content::redacted;
use crate::streams::{cases, text};

/// Keys of names: ids, tags, tools, models, versions, times, and values that documentation lists.
const NAMES: &str = "\
    __timestamp apiKeySource apiModel callID call_id claude_code_version cliVersion \
    cli_version contentType conversation_id currentModelId currentValue decision event \
    finishReason id jsonrpc kind kolega_version long_model messageId message_type method model \
    modelId model_id name partID payload_type permissionMode permission_mode protocolVersion \
    qodercli_version qwen_code_version receiverThreadIds role run_id sessionID sessionId \
    sessionUpdate session_id status stopReason subtype taskId task_id terminal_reason threadId \
    thread_id tool tool_id toolCallId toolId toolName timestamp tool_call_id tool_name \
    tool_use_id ts type version";

/// A line with the pointers and the keys of its string values that are no names; a line that is no
/// JSON has none.
struct Line<'a> {
    text: &'a str,
    event: Value,
    strings: Vec<(String, String)>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        let (event, mut found) = (serde_json::from_str(text).unwrap_or_default(), Vec::new());
        strings(&event, "", "", &mut found);
        // Without its names, a line is of another kind, or no event.
        found.retain(|(_, key)| !NAMES.split_whitespace().any(|name| name == key));
        Line { text, event, strings: found }
    }

    /// The line with words in the place of one of its strings, if it has so many.
    fn planted(&self, number: usize, words: &str) -> String {
        let Some((pointer, _)) = self.strings.get(number) else { return self.text.to_owned() };
        let mut event = self.event.clone();
        *event.pointer_mut(pointer).unwrap() = words.into();
        event.to_string()
    }
}

/// Two words that no other line has.
fn canary(line: u32) -> String {
    let letter = |number: u32| char::from_u32('a' as u32 + number % 26).unwrap();
    let end: String = [line / 676, line / 26, line].map(letter).iter().collect();
    format!("zebra{end} quokka{end}")
}

/// The pointers of the string values of an event, and their keys.
fn strings(value: &Value, pointer: &str, key: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(_) => found.push((pointer.to_owned(), key.to_owned())),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                strings(item, &format!("{pointer}/{index}"), key, found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let token = key.replace('~', "~0").replace('/', "~1");
                strings(member, &format!("{pointer}/{token}"), key, found);
            }
        }
        _ => {}
    }
}

/// Goal: what is planted in any string is gone, but where the string names something.
/// Method: in each line one string is replaced by words that only this line has; then the next one,
/// until each string of the stream was replaced once.
#[test]
fn nothing_planted_in_a_string_is_left() {
    let (mut left, mut gone) = (BTreeMap::<String, BTreeSet<String>>::new(), 0);
    let cases = cases();
    // Of each agent the largest case, and the largest of a failure: a new fixture does not change
    // those of another agent.
    let mut largest = BTreeMap::new();
    for case in cases.iter().filter(|it| it.path.starts_with("fixtures/agents")) {
        let is_failure =
            ["fail", "error"].iter().any(|word| case.path.to_string_lossy().contains(word));
        let kept = largest.entry((case.folder(), is_failure)).or_insert(case);
        if case.bytes().len() > kept.bytes().len() {
            *kept = case;
        }
    }
    for case in largest.into_values() {
        let mut checker = case.checker();
        let stream = text(&case.bytes());
        let lines: Vec<Line> = stream.split('\n').map(Line::new).collect();
        for round in 0..lines.iter().map(|line| line.strings.len()).max().unwrap_or_default() {
            let planted: Vec<String> =
                (0..).zip(&lines).map(|(at, line)| line.planted(round, &canary(at))).collect();
            let (copy, _) = redacted(&mut checker, planted.join("\n").as_bytes(), 1 << 16);
            let copy = text(&copy);
            for (at, line) in (0..).zip(&lines) {
                let Some((_, key)) = line.strings.get(round) else { continue };
                if canary(at).split(' ').any(|word| copy.contains(word)) {
                    left.entry(key.clone()).or_default().insert(case.folder().to_owned());
                } else {
                    gone += 1;
                }
            }
        }
    }
    assert!(left.is_empty() && gone > 4_000, "{gone}: {left:#?}");
}
