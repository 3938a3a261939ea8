//! The end of a run, as the draft has it: its rules, and what they rest on.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::counted;
use super::draft::{Study, Written, event, named};
use super::last::{End, How, Word};
use super::outcomes::{and, is_bad, signs};
use crate::rules::escape::shown;

/// Places at which ends differ that are told.
const TOLD: usize = 3;

impl Study<'_> {
    /// The rules for the end, if recordings agree on one.
    pub(super) fn terminal(&self, written: &mut Written) {
        let ends = self.ends.terminals();
        if ends.is_empty() {
            let told = "end: recordings end with different events that stand elsewhere, too, so \
                any event may be the last";
            written.evidence.push(told.to_owned());
            written.members.push(("end", json!({ "policy": "none" })));
            return;
        }
        let rules: Vec<Value> = ends.iter().flat_map(|it| self.end_rules(it)).collect();
        written.evidence.extend(ends.iter().map(|it| self.end_told(it)));
        let others = self.ends.recordings - ends.iter().map(|it| it.seen.last).sum::<u64>();
        if others > 0 {
            let others = counted(others, "recording");
            written.evidence.push(format!("end: {others} without one of these: taken for cut"));
        }
        written.evidence.push(failures_told(&rules, &ends));
        let mut end = Map::new();
        end.insert("policy".to_owned(), json!("required"));
        end.insert("rules".to_owned(), rules.into());
        if let Some((start, _)) = self.ends.start().filter(|_| self.ends.has_turns()) {
            end.insert("reopen".to_owned(), json!([{ "when": self.when(start) }]));
        }
        written.members.push(("end", end.into()));
    }

    /// What says that it failed by its own word is a failure, and all else a success.
    fn end_rules(&self, end: &End<'_>) -> Vec<Value> {
        let mut when = self.when(end.tag);
        if let How::Suspect(also) = &end.how {
            when.extend(also.clone());
        }
        let (signs, outcome) = if is_bad(end.tag) {
            (Vec::new(), "failure")
        } else {
            (signs(&event(end.tag), &self.places), "success")
        };
        let bad = signs.iter().map(|it| and(&when, [(it.path.clone(), it.says_so())]));
        let rules = bad.map(|when| ("failure", when)).chain([(outcome, Value::from(when.clone()))]);
        let rule = |(outcome, when)| {
            let mut rule = json!({ "outcome": outcome, "when": when });
            if end.is_suspect() {
                rule["suspect"] = true.into();
            }
            rule
        };
        rules.map(rule).collect()
    }

    fn end_told(&self, end: &End<'_>) -> String {
        let recordings = counted(self.ends.recordings, "recording");
        let (name, last) = (named(end.tag), end.seen.last);
        let told = format!("end: {name} is last in {last} of {recordings}, and ");
        let elsewhere = counted(end.elsewhere(), "time");
        told + &match &end.how {
            How::Only => "nowhere else".to_owned(),
            How::Turn => {
                let start = self.ends.start().map_or("".into(), |(start, _)| named(start));
                format!("stands elsewhere {elsewhere}, each time before {start}: the end of a turn")
            }
            How::Suspect(apart) => {
                let apart = apart.keys().next();
                let apart =
                    apart.map_or(String::new(), |it| format!(" with another {}", shown(it)));
                format!("stands elsewhere {elsewhere}{apart}: the end if nothing follows")
            }
        }
    }
}

/// What a person has to look at: which ends are failures.
fn failures_told(rules: &[Value], ends: &[End<'_>]) -> String {
    let failures = rules.iter().filter(|it| it["outcome"] == "failure").count() as u64;
    let mut told = "failures: ".to_owned();
    if failures > 0 {
        let rules = counted(failures, "rule");
        let _ = write!(told, "{rules} for ends that say so by a word; ");
    }
    let every = if failures > 0 { "every other" } else { "every" };
    let _ = write!(told, "{every} end is drafted as a success: name those that are failures");
    let different = ends.iter().flat_map(|end| {
        let paths = end.seen.words.iter().filter_map(|(path, it)| Some((path, it.different()?)));
        paths.map(|(path, values)| {
            let values: Vec<String> = values.iter().take(TOLD).map(Word::told).collect();
            format!("; {} {} is one of {}", named(end.tag), shown(path), values.join(", "))
        })
    });
    told.extend(different.take(TOLD));
    told
}
