//! Random histories of a run, judged by a naive model and by the program.
//!
//! `NDJSON_CHECK_HISTORIES` is how many, and `NDJSON_CHECK_SEED` the seed of the random numbers:
//!
//! ```console
//! NDJSON_CHECK_HISTORIES=1_000_000 cargo test --release --test proof -- model --nocapture
//! ```

mod naive;
mod written;

use ndjson_check::{Answer, Checker, Event, EventKind, Observer, Outcome, StreamSummary, Verdict};

use crate::mutation::Random;
use crate::support::checker;
use naive::{Contract, Expected, Step, expected};

const HISTORIES: u64 = 10_000;
const SEED: u64 = 20_261_125;

/// What is observed of a stream.
#[derive(Default)]
struct Observed {
    answer: Answer,
    unfinished: u64,
}

impl Observer for Observed {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            self.answer.observe(&event.kind);
            self.unfinished += u64::from(matches!(event.kind, EventKind::CallUnfinished(_)));
        }
    }
}

/// A history as an agent may write it, now and then with a fault.
fn history(random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    if random.chance(97) {
        steps.push(Step::Session);
    }
    let (mut open, mut all, mut segment, mut next) = (Vec::new(), String::new(), String::new(), 0);
    let words = ["one ", "two", "", "ü\n", "\u{1f600}", "\"three\""];
    for _ in 0..random.below(14) {
        match random.below(20) {
            0 => steps.push(Step::Prompt),
            1..6 => {
                open.push(next);
                steps.push(Step::Start(next));
                next += 1;
                all += &std::mem::take(&mut segment);
            }
            6..11 if !open.is_empty() => {
                let id = open.swap_remove(random.below(open.len()));
                let done = Step::Completion(id, random.chance(70));
                steps.push(if random.chance(15) { Step::Refusal(id) } else { done });
                all += &std::mem::take(&mut segment);
            }
            11..14 => {
                let word = random.pick(&words[..2]);
                steps.push(Step::Delta(word));
                segment += word;
            }
            14..17 => {
                if segment.is_empty() || random.chance(4) {
                    random.pick(&words).clone_into(&mut segment);
                }
                steps.push(Step::Text(segment.clone()));
                all += &std::mem::take(&mut segment);
            }
            // What no agent should write.
            17 if random.chance(20) => steps.push(Step::Session),
            18 if random.chance(30) => {
                let id = u8::try_from(random.below(usize::from(next) + 1)).unwrap();
                steps.push(random.pick(&[
                    Step::Start(id),
                    Step::Completion(id, true),
                    Step::Refusal(id),
                ]));
            }
            _ => {}
        }
    }
    while random.chance(92)
        && let Some(id) = open.pop()
    {
        steps.push(Step::Completion(id, true));
    }
    all += &segment;
    if random.chance(4) {
        all.push('x');
    }
    if random.chance(94) {
        steps.push(Step::End(random.chance(90), all));
    }
    if random.chance(4) {
        steps.push(Step::Text("late".to_owned()));
    }
    steps
}

/// What an agent that can go on writes behind its first end.
fn more_turns(random: &mut Random) -> Vec<Step> {
    let mut steps = Vec::new();
    while random.chance(40) {
        steps.push(Step::Turn);
        steps.extend(history(random).into_iter().filter(|step| *step != Step::Session));
    }
    steps
}

/// What the program says.
fn said(stream: &str, checker: &mut Checker) -> (Expected, StreamSummary) {
    let mut observed = Observed::default();
    let summary = checker.check("-", stream.as_bytes(), &mut observed).unwrap();
    let outcome = summary.outcome;
    let said = Expected {
        conforms: summary.verdict == Verdict::Conforming,
        outcome: outcome.name(),
        calls: summary.call_counts.total,
        open: summary.call_counts.unfinished,
        answer: (outcome == Outcome::Succeeded).then(|| observed.answer.text().to_owned()),
    };
    assert_eq!(observed.unfinished, summary.call_counts.unfinished, "{stream}");
    (said, summary)
}

/// Goal: verdict, outcome, calls, open calls and answer are what a reader of the history expects.
#[test]
#[expect(clippy::print_stdout, reason = "the harness keeps it, unless it is asked for")]
fn the_model_agrees_on_random_histories() {
    let variable = |name: &str| std::env::var(name).ok()?.replace('_', "").parse().ok();
    let count: u64 = variable("NDJSON_CHECK_HISTORIES").unwrap_or(HISTORIES);
    let seed: u64 = variable("NDJSON_CHECK_SEED").unwrap_or(SEED);
    let contracts =
        [(Contract::Cursor, "cursor"), (Contract::Normal, "events"), (Contract::Codex, "codex")];
    let mut checkers =
        contracts.map(|(contract, profile)| (contract, checker(["--profile", profile])));
    let (mut random, mut outcomes) = (Random::new(seed), std::collections::BTreeMap::new());
    for number in 0..count {
        let mut steps = history(&mut random);
        for (contract, checker) in &mut checkers {
            if *contract == Contract::Codex {
                steps.extend(more_turns(&mut random));
                steps.retain(|step| !matches!(step, Step::Prompt | Step::Delta(_)));
            }
            let stream = written::written(&steps, *contract);
            let mut expected = expected(&steps, *contract);
            // The answer is shown without the line feeds around it.
            expected.answer = expected.answer.map(|it| it.trim_matches(['\r', '\n']).to_owned());
            let (said, summary) = said(&stream, checker);
            let rules = &summary.rule_counts;
            let shown =
                || format!("history {number} of seed {seed}: {steps:#?}\n{stream}{rules:?}");
            assert_eq!(said, expected, "{contract:?}, {}", shown());
            *outcomes.entry((said.conforms, said.outcome)).or_insert(0) += 1;
        }
    }
    println!("figure: model.histories {count}");
    println!("{outcomes:?}");
    // All ends are among them, and enough of each.
    assert!(
        outcomes.values().all(|ends| ends * 200 > count) && outcomes.len() == 5,
        "{outcomes:?}"
    );
}

/// Goal: a call that starts under the id of a refused one must end, too; it once was taken for the
/// refused one.
#[test]
fn a_start_after_a_refusal_is_another_call() {
    let steps = [Step::Session, Step::Refusal(0), Step::Start(0), Step::End(true, String::new())];
    let stream = written::written(&steps, Contract::Cursor);
    let (said, summary) = said(&stream, &mut checker(["--profile", "cursor"]));
    assert_eq!((said.conforms, said.calls, said.open), (false, 2, 1), "{:?}", summary.rule_counts);
    assert_eq!(said, expected(&steps, Contract::Cursor));
}
