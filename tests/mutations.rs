//! The engines agree on lines that were damaged or varied at random. In a separate process: it
//! runs for as long as one likes.
//!
//! `NDJSON_CHECK_MUTATIONS` is the number of mutated lines, each of which is checked in all ways,
//! and
//! `NDJSON_CHECK_SEED` the seed of the random numbers. A difference is shown with the smallest
//! streams found that still show it. A long run:
//!
//! ```console
//! NDJSON_CHECK_MUTATIONS=100_000_000 cargo test --release --test mutations
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod contracts;
mod differential;
mod mutation;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use ndjson_check::{Form, Rule, StreamSummary};

use contracts::{Subject, agents, subjects};
use differential::{Batch, Engines};
use mutation::{Mutations, Mutator, Random};

const MUTATIONS: u64 = 600_000;
const SEED: u64 = 20_260_101;
/// Mutated lines of one batch, at least: streams that one checker takes.
const BATCH: u64 = 1_000;
/// After so many of them a long run reports its progress.
const BATCHES_REPORTED: u64 = 10_000;
const THREADS: usize = 2;

fn variable(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.replace('_', "").parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// What has been checked.
#[derive(Default)]
struct Tally {
    batches: u64,
    lines: u64,
    events: u64,
    damaged: u64,
    varied: u64,
    rules: BTreeMap<Rule, u64>,
    difference: Option<String>,
}

impl Tally {
    fn add(&mut self, made: Mutations, summaries: &[StreamSummary]) {
        self.batches += 1;
        self.damaged += made.damaged;
        self.varied += made.varied;
        for summary in summaries {
            self.lines += summary.lines;
            self.events += summary.events;
            for (rule, count) in &summary.rule_counts {
                *self.rules.entry(*rule).or_default() += count;
            }
        }
    }
}

/// Goal: no line, however damaged, and no memory of lines before it makes the engines differ.
/// Method: streams from a seed, good, damaged and mostly good, under contracts that read
/// much and little; all findings are compared.
#[test]
fn the_engines_agree_on_mutated_lines() {
    let wanted = variable("NDJSON_CHECK_MUTATIONS").unwrap_or(MUTATIONS);
    let seed = variable("NDJSON_CHECK_SEED").unwrap_or(SEED);
    let batches = wanted.div_ceil(BATCH);
    let kinds = [subjects(), agents()];
    let (tally, next, start) = (Mutex::new(Tally::default()), AtomicU64::new(0), Instant::now());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= batches || tally.lock().unwrap().difference.is_some() {
                return;
            }
            check_batch(&kinds, seed, number, &tally, start);
        }
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    let tally = tally.into_inner().unwrap();
    if let Some(difference) = tally.difference {
        panic!("seed {seed}, {difference}");
    }
    print(&tally, seed, start);
    // Enough was checked.
    assert!(tally.damaged + tally.varied >= wanted);
    assert!(tally.events * 3 > tally.lines, "too few lines are events");
    if wanted >= MUTATIONS {
        let absent: Vec<_> = Rule::ALL.iter().filter(|it| !tally.rules.contains_key(it)).collect();
        // Those of commands, of exit statuses, and of whole streams.
        assert!(absent.len() < 9, "{absent:?} were not raised");
    }
}

fn check_batch(
    kinds: &[&[Subject]; 2],
    seed: u64,
    number: u64,
    tally: &Mutex<Tally>,
    start: Instant,
) {
    let mut random = Random::new(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    // Half of them for the contracts of this test, half for all agents together.
    let subjects = &kinds[random.below(kinds.len())];
    let subject = &subjects[random.below(subjects.len())];
    let (batch, made) = batch(subject, &mut random);
    let compared = subject.engines.compare(&batch);
    let mut tally = tally.lock().unwrap();
    match compared {
        Ok(summaries) => {
            tally.add(made, &summaries);
            if tally.batches.is_multiple_of(BATCHES_REPORTED) {
                print(&tally, seed, start);
            }
        }
        Err(difference) => {
            let difference = format!("batch {number}, {}: {difference}", subject.name);
            tally.difference.get_or_insert(difference);
        }
    }
}

fn batch(subject: &Subject, random: &mut Random) -> (Batch, Mutations) {
    let to = random.chance(40).then(|| (random.pick(&Form::ALL), random.chance(50)));
    let read_bytes = random.pick(&[0, 0, 0, 61, 4_096, 65_536]);
    let feed_bytes = random.pick(&[1, 7, 4_096]);
    let mut mutator = Mutator::new(&subject.corpus, random.next());
    let mut streams = Vec::new();
    while mutator.made().damaged + mutator.made().varied < BATCH {
        streams.push(mutator.stream());
    }
    (Batch { streams, to, read_bytes, feed_bytes }, mutator.made())
}

/// What was done, on the real standard error.
fn print(tally: &Tally, seed: u64, start: Instant) {
    let Tally { batches, lines, events, damaged, varied, rules, .. } = tally;
    let seconds = start.elapsed().as_secs_f64();
    let _ = writeln!(
        std::io::stderr(),
        "\nseed {seed}: {damaged} lines damaged and {varied} varied, in {batches} batches; \
         {events} of {lines} lines are events; {seconds:.1} s\n{rules:?}"
    );
}

/// Goal: the comparison finds a difference, and reduces it.
/// Method: only one engine has a schema that refuses long texts.
#[test]
fn a_difference_is_found_and_reduced() {
    let subjects = subjects();
    let plain = &subjects[0];
    let file = tempfile::NamedTempFile::new().unwrap();
    let schema = serde_json::json!({"properties": {"text": {"maxLength": 190}}});
    std::fs::write(file.path(), schema.to_string()).unwrap();
    let cursor = || contracts::of_profile("cursor");
    let engines = Engines::of_two(cursor().schema_file(file.path()).unwrap(), cursor()).unwrap();
    let mut random = Random::new(7);
    let found = (0..100).find_map(|_| engines.compare(&batch(plain, &mut random).0).err());
    let shown = found.unwrap().to_string();
    assert!(shown.contains("/properties/text/maxLength"), "{shown}");
    assert_eq!(shown.matches("\nb\"").count(), 1, "{shown}");
}
