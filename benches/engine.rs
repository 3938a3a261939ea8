//! The whole check in memory, by both engines.
//!
//! `cargo bench --bench engine -- [NAME]...`, where a name is that of a corpus or of an engine.

mod sessions;

use std::env;
use std::error::Error;
use std::hint::black_box;
use std::io::{self, Write as _};
use std::time::Instant;

use ndjson_check::{Checker, Outcome, Verdict};

const BYTES: usize = 64 << 20;

/// The median of them is printed.
const ROUNDS: usize = 5;

type Streams = Vec<Vec<u8>>;

type Generate = fn() -> Streams;

/// The name of each corpus, its profile, and its generator.
const CORPORA: [(&str, (&str, Generate)); 6] = [
    ("deltas", ("cursor", || vec![sessions::deltas(1, BYTES)])),
    ("tools", ("cursor", || vec![sessions::tools(2, BYTES)])),
    ("sessions", ("cursor", || sessions::many(3, BYTES))),
    ("huge", ("cursor", || vec![sessions::huge(4, BYTES)])),
    ("tiny", ("cursor", || vec![sessions::tiny(5); 1_000])),
    ("claude", ("claude", || vec![sessions::claude(6, BYTES)])),
];

/// The name of each engine, and whether it is the plain one.
const ENGINES: [(&str, bool); 2] = [("fast", false), ("reference", true)];

fn main() -> Result<(), Box<dyn Error>> {
    // Cargo adds `--bench`.
    let names: Vec<String> = env::args().skip(1).filter(|it| !it.starts_with('-')).collect();
    let corpora = chosen(&CORPORA, &names);
    let engines = chosen(&ENGINES, &names);
    for (corpus, (profile, generate)) in corpora {
        // A line of the huge stream is a little longer than the default allows.
        let builder = Checker::builder().profile(profile).max_line_bytes(2 * BYTES as u64);
        let streams = generate();
        for &(name, is_plain) in &engines {
            let checker = builder.clone().plain(is_plain).build()?;
            let speed = gigabytes_per_second(&checker, &streams)?;
            writeln!(io::stdout(), "{corpus:<9} {name:<10} {speed:6.3} GB/s")?;
        }
    }
    Ok(())
}

/// Those that are named, or all of them if none is.
fn chosen<T: Copy>(all: &[(&'static str, T)], names: &[String]) -> Vec<(&'static str, T)> {
    let is_asked = |(name, _): &&(&str, T)| names.iter().any(|it| it == name);
    let some: Vec<_> = all.iter().filter(is_asked).copied().collect();
    if some.is_empty() { all.to_vec() } else { some }
}

/// How fast these streams are checked, one after the other.
fn gigabytes_per_second(checker: &Checker, streams: &[Vec<u8>]) -> Result<f64, Box<dyn Error>> {
    let mut seconds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        // A clone remembers nothing of earlier rounds.
        let mut checker = checker.clone();
        for stream in streams {
            let summary = checker.check("-", black_box(&stream[..]), &mut ())?;
            // Diagnostics would be measured, too.
            assert_eq!(summary.verdict, Verdict::Conforming);
            assert_eq!(summary.outcome, Outcome::Succeeded);
        }
        seconds.push(begin.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let bytes: usize = streams.iter().map(Vec::len).sum();
    Ok(f64::from(u32::try_from(bytes)?) / 1e9 / seconds[ROUNDS / 2])
}
