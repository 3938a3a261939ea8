//! The draft's rules for the end of a run, and the evidence for them.

use std::fmt::Write as _;

use ndjson_check_core::escape::shown;
use serde_json::{Value, json};

use super::ends::{EndCandidate, EndKind, MarkerValue};
use super::failure_markers::{and, failure_markers, names_failure};
use super::statistics::{Statistics, event_path, shown_tag};
use super::{Draft, counted};

/// Paths, and values of one, that the evidence lists for ends that differ.
const LISTED_MAX: usize = 3;

impl Statistics<'_> {
    pub(super) fn add_terminal(&self, draft: &mut Draft) {
        let ends = self.recordings.terminals();
        if ends.is_empty() {
            let evidence = "end: the recordings end with different events, which occur elsewhere \
                too, so any event may be the last";
            draft.evidence.push(evidence.to_owned());
            return draft.members.push(("end", json!({ "policy": "none" })));
        }
        let rules: Vec<Value> = ends.iter().flat_map(|end| self.end_rules(end)).collect();
        draft.evidence.extend(ends.iter().map(|end| self.end_evidence(end)));
        let others =
            self.recordings.recordings - ends.iter().map(|end| end.counts.last).sum::<u64>();
        if others > 0 {
            let last = self
                .recordings
                .tags()
                .filter(|(tag, counts)| counts.last > 0 && !ends.iter().any(|end| end.tag == *tag));
            let last: Vec<_> = last.map(|(tag, _)| shown_tag(tag)).take(LISTED_MAX).collect();
            let after = if last.is_empty() { "" } else { ", after " };
            draft.evidence.push(format!(
                "end: {} without one of these, assumed to be cut{after}{}",
                counted(others, "recording"),
                last.join(", ")
            ));
        }
        draft.evidence.push(failure_evidence(&rules, &ends));
        let mut end = json!({ "policy": "required", "rules": rules });
        if let Some((start, _)) = self.recordings.start()
            && self.recordings.has_turns()
        {
            end["reopen"] = json!([{ "when": self.when(start) }]);
        }
        draft.members.push(("end", end));
    }

    /// An end is a failure if its tag or a marker names one, otherwise a success.
    fn end_rules(&self, end: &EndCandidate<'_>) -> Vec<Value> {
        let mut when = self.when(end.tag);
        if let EndKind::Provisional(condition) = &end.kind {
            when.extend(condition.clone());
        }
        let mut cases = Vec::new();
        if names_failure(end.tag) {
            cases.push(("failure", Value::from(when)));
        } else {
            for marker in failure_markers(&event_path(end.tag), &self.leaves) {
                let condition = marker.condition();
                cases.push(("failure", and(&when, [(marker.path, condition)])));
            }
            cases.push(("success", Value::from(when)));
        }
        let rule = |(outcome, when)| {
            let mut rule = json!({ "outcome": outcome, "when": when });
            if end.is_provisional() {
                rule["provisional"] = true.into();
            }
            rule
        };
        cases.into_iter().map(rule).collect()
    }

    fn end_evidence(&self, end: &EndCandidate<'_>) -> String {
        let recordings = counted(self.recordings.recordings, "recording");
        let elsewhere = counted(end.elsewhere(), "time");
        let kind = match &end.kind {
            EndKind::Only => "nowhere else".to_owned(),
            EndKind::Turn => {
                let start = self.recordings.start().map_or("".into(), |(tag, _)| shown_tag(tag));
                format!("elsewhere {elsewhere}, always before {start}: it ends a turn")
            }
            EndKind::Provisional(condition) => {
                let path = condition.keys().next();
                let path =
                    path.map_or(String::new(), |path| format!(" with a different {}", shown(path)));
                format!("elsewhere {elsewhere}{path}: it is the end if nothing follows")
            }
        };
        let (tag, last) = (shown_tag(end.tag), end.counts.last);
        format!("end: {tag} is the last event in {last} of {recordings}, and occurs {kind}")
    }
}

/// What the user must check: which ends are failures.
fn failure_evidence(rules: &[Value], ends: &[EndCandidate<'_>]) -> String {
    let failures = rules.iter().filter(|rule| rule["outcome"] == "failure").count() as u64;
    let mut evidence = "failures: ".to_owned();
    if failures > 0 {
        let rules = counted(failures, "rule");
        let _ = write!(evidence, "{rules} for ends that a flag or a name marks as failed; ");
    }
    let every = if failures > 0 { "every other" } else { "every" };
    let _ = write!(evidence, "{every} end is drafted as a success: edit those that are failures");
    let different = ends.iter().flat_map(|end| {
        let markers = end.counts.markers.iter();
        markers.filter_map(|(path, markers)| {
            let values = markers.different()?.iter().take(LISTED_MAX);
            let values: Vec<String> = values.map(MarkerValue::shown).collect();
            let (tag, path, values) = (shown_tag(end.tag), shown(path), values.join(", "));
            Some(format!("; {tag} {path} is one of {values}"))
        })
    });
    evidence.extend(different.take(LISTED_MAX));
    evidence
}
