//! Events that say where they stand: what a lost, doubled or moved line shows.

use ndjson_check::Rule;
use serde_json::Value;

use crate::streams::{Case, cases};
use crate::support::{checker, judge};

/// The lines of the good runs of an agent, and where its events say where they stand.
fn good_runs(agent: &str, member: &str) -> Vec<(Case, Vec<String>, Vec<bool>)> {
    let of_agent = |case: &Case| case.path.starts_with(format!("fixtures/agents/{agent}"));
    let runs = cases().into_iter().filter(of_agent).filter_map(|case| {
        let text = String::from_utf8(case.bytes()).ok()?;
        let lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        let events: Option<Vec<Value>> =
            lines.iter().map(|line| serde_json::from_str(line).ok()).collect();
        let says = events?.iter().map(|event| !event[member].is_null()).collect();
        is_in_order(&case, &lines).then_some((case, lines, says))
    });
    runs.collect()
}

fn is_in_order(case: &Case, lines: &[String]) -> bool {
    let stream = lines.concat();
    let mut rules: Vec<Vec<Rule>> = Vec::new();
    for engine in ["reference", "fast"] {
        let flags = case.flags.iter().map(String::as_str).chain(["--engine", engine]);
        rules.push(judge(stream.as_bytes(), &mut checker(flags)).1);
    }
    assert_eq!(rules[0], rules[1], "{}", case.path.display());
    !rules[0].contains(&Rule::BrokenSequence)
}

/// Goal: a line that is lost, doubled or moved is noticed wherever the events show it. An id shows
/// only a line that is doubled.
/// Method: each line between two that say where they stand.
#[test]
fn a_lost_a_doubled_and_a_moved_line_are_noticed() {
    for (agent, member, runs_min) in [("muse", "sequence", 13), ("copilot", "id", 20)] {
        let runs = good_runs(agent, member);
        assert!(runs.len() >= runs_min, "{agent}: {} runs are in order", runs.len());
        for (case, lines, says) in runs {
            for at in 1..lines.len() - 1 {
                if !(says[at] && says[at + 1]) {
                    continue;
                }
                let (mut lost, mut twice) = (lines.clone(), lines.clone());
                let mut swapped = lines.clone();
                lost.remove(at);
                twice.insert(at, lines[at].clone());
                swapped.swap(at, at + 1);
                let has_numbers = agent == "muse";
                let damages = [("twice", twice), ("lost", lost), ("swapped", swapped)];
                for (damage, lines) in damages.into_iter().take(if has_numbers { 3 } else { 1 }) {
                    let place = case.path.display();
                    assert!(!is_in_order(&case, &lines), "{place}: line {} {damage}", at + 1);
                }
            }
        }
    }
}
