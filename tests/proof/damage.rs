//! Damage that must be seen: for every agent, each line of every good stream is left out, doubled,
//! swapped with the next one and cut, the stream loses its beginning, and it is spliced with
//! another one. Damage that passes is of a class that `damage.tsv` lists for the agent; the page
//! says why no check can see it. Damage to whole lines must be seen with the profile's name and
//! without.
//!
//! ```console
//! cargo test --test proof -- damage --nocapture     # prints the counts of the page
//! UPDATE_GOLDENS=1 cargo test --test proof -- damage
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use ndjson_check::{Checker, Event, EventKind, Observer};

use crate::support::{cases, check, checker, files, root};

/// Of longer streams, the lines in the middle are not cut at every byte.
const CUT_BYTES_MAX: usize = 2_000;

/// Classes of lines that may be lost, doubled or swapped with any agent.
const BY_NATURE: [&str; 8] = [
    "text",
    "delta",
    "thinking",
    "notice",
    "other",
    "two of a kind",
    "about something else",
    "no event",
];

/// A stream that passes as it is.
struct Good {
    agent: String,
    lines: Vec<Vec<u8>>,
    /// What each line is about.
    classes: Vec<&'static str>,
    calls: BTreeMap<u64, BTreeSet<u64>>,
    checker: Checker,
    /// The same without the profile's name.
    finder: Checker,
}

/// What each line is about, by the events that it makes.
#[derive(Default)]
struct Kinds {
    lines: BTreeMap<u64, BTreeSet<&'static str>>,
    /// The numbers of the calls of each line.
    calls: BTreeMap<u64, BTreeSet<u64>>,
}

impl Observer for Kinds {
    fn events(&mut self, events: &[Event<'_>]) {
        for event in events {
            let kind = match event.kind {
                EventKind::Session(_) | EventKind::SessionChanged(_) => "session",
                EventKind::TextDelta { .. } => "delta",
                EventKind::Text(_) | EventKind::TextAbandoned { .. } | EventKind::Answer { .. } => {
                    "text"
                }
                EventKind::CallStarted(_) => "start",
                EventKind::CallCompleted(_) => "completion",
                EventKind::ThinkingDelta { .. } | EventKind::ThinkingEnd { .. } => "thinking",
                _ => "notice",
            };
            let Some(line) = event.at.line else { continue };
            self.lines.entry(line).or_default().insert(kind);
            self.calls.entry(line).or_default().extend(event.kind.call().map(|call| call.number));
        }
    }
}

impl Kinds {
    fn class(&self, line: u64) -> &'static str {
        let none = BTreeSet::new();
        let kinds = self.lines.get(&line).unwrap_or(&none);
        let has = |kind| kinds.contains(kind);
        match () {
            () if has("start") && has("completion") => "whole call",
            () if has("start") => "call start",
            () if has("completion") => "call end",
            () if has("text") => "text",
            () if has("delta") => "delta",
            () if has("thinking") => "thinking",
            () if has("notice") => "notice",
            () if has("session") => "session",
            () => "other",
        }
    }
}

impl Good {
    fn new(agent: String, bytes: &[u8], flags: &[&str]) -> Option<Self> {
        let mut checker = crate::support::checker(flags.iter().copied());
        let name = flags.iter().position(|flag| *flag == "--profile");
        let (before, after) = flags.split_at(name.unwrap_or(flags.len()));
        let unnamed = before.iter().chain(after.iter().skip(2)).copied();
        let finder = crate::support::checker(unnamed);
        let mut kinds = Kinds::default();
        let summary = checker.check("-", bytes, &mut kinds).ok()?;
        let lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
        let is_lines = summary.lines == lines.len() as u64 && bytes.ends_with(b"\n");
        (summary.passed() && is_lines && lines.len() > 1).then(|| {
            let classes = (1..=lines.len() as u64).map(|line| kinds.class(line)).collect();
            Self { agent, lines, classes, calls: kinds.calls, checker, finder }
        })
    }

    /// Whether a copy that is cut in a line passes.
    fn passes_cut(&mut self, stream: &[u8]) -> bool {
        check(&mut self.checker, stream).0.passed()
    }

    /// Whether a damaged copy passes, with the profile's name or without.
    fn passes(&mut self, stream: &[u8]) -> bool {
        let found = self.finder.check("-", stream, &mut ());
        self.passes_cut(stream) || found.is_ok_and(|it| it.passed())
    }

    /// The last line that says anything is its own class.
    fn class(&self, line: usize) -> &'static str {
        if line + 1 == self.lines.len() { "last line" } else { self.classes[line] }
    }

    /// What a line and the next one have to do with each other.
    fn relation(&self, line: usize) -> &'static str {
        let calls = |line: usize| self.calls.get(&(line as u64 + 1)).into_iter().flatten();
        let (class, next) = (self.classes[line], self.classes[line + 1]);
        if calls(line).any(|call| calls(line + 1).any(|other| other == call)) {
            "halves of a call"
        } else if line + 2 == self.lines.len() {
            "before the last line"
        } else if class == next {
            "two of a kind"
        } else {
            "about something else"
        }
    }
}

/// All good streams: fixtures, and recordings of the lab.
fn good() -> Vec<Good> {
    let mut good = Vec::new();
    for case in cases() {
        let names: Vec<&str> = case.path.iter().map(|it| it.to_str().unwrap()).collect();
        let knows_exit = case.flags.iter().any(|flag| flag == "--exit-status");
        if let ["fixtures", "agents", agent, ..] = names[..]
            && !knows_exit
        {
            let flags: Vec<&str> = case.flags.iter().map(String::as_str).collect();
            good.extend(Good::new(agent.to_owned(), &case.bytes(), &flags));
        }
    }
    for path in files(&root().join("lab/recordings"), "ndjson") {
        let bytes = fs::read(path).unwrap();
        let mut detecting = checker([]);
        let Ok(summary) = detecting.check("-", &bytes[..], &mut ()) else { continue };
        let flags = ["--profile", &summary.profile.clone()];
        good.extend(Good::new(summary.profile, &bytes, &flags));
    }
    good
}

/// For an agent and a kind of damage: how often it was tried, and what passed, by class.
type Counts = BTreeMap<(String, &'static str), (usize, BTreeMap<String, usize>)>;

fn note(counts: &mut Counts, agent: &str, damage: &'static str, class: &str, passes: bool) {
    let (tried, by_class) = counts.entry((agent.to_owned(), damage)).or_default();
    *tried += 1;
    if passes {
        *by_class.entry(class.to_owned()).or_default() += 1;
    }
}

fn damage_lines(good: &mut Good, counts: &mut Counts) {
    let (agent, lines) = (good.agent.clone(), good.lines.clone());
    for at in 0..lines.len() {
        let class = good.class(at);
        let without = [&lines[..at], &lines[at + 1..]].concat().concat();
        let passes = good.passes(&without);
        note(counts, &agent, "dropped", class, passes);
        let doubled = [&lines[..=at], &lines[at..]].concat().concat();
        let passes = good.passes(&doubled);
        note(counts, &agent, "doubled", class, passes);
        if at + 1 < lines.len() && lines[at] != lines[at + 1] {
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            let passes = good.passes(&swapped.concat());
            note(counts, &agent, "swapped", good.relation(at), passes);
        }
    }
}

fn cut(good: &mut Good, counts: &mut Counts) {
    let (agent, bytes) = (good.agent.clone(), good.lines.concat());
    let mut start = 0;
    for at in 0..good.lines.len() {
        let length = good.lines[at].len();
        // Without its line ending the last line is complete, and the stream has a warning.
        let whole = good.lines[at].trim_ascii_end().len();
        let step = if bytes.len() > CUT_BYTES_MAX && at + 1 < good.lines.len() {
            1 + length / 7
        } else {
            1
        };
        // Some agents write a hint for people behind the end.
        let is_event = good.lines[at].starts_with(b"{");
        let class = if is_event { good.class(at) } else { "no event" };
        for end in (1..whole).step_by(step) {
            let passes = good.passes_cut(&bytes[..start + end]);
            note(counts, &agent, "cut in a line", class, passes);
        }
        let passes = at + 1 < good.lines.len() && good.passes(&bytes[..start + length]);
        note(counts, &agent, "cut between lines", good.class(at), passes);
        start += length;
    }
}

/// The first line, quarter or half is lost.
fn lose_beginning(good: &mut Good, counts: &mut Counts) {
    let (agent, count) = (good.agent.clone(), good.lines.len());
    for from in BTreeSet::from([1, count.div_ceil(4), count / 2]) {
        let passes = good.passes(&good.lines[from..].concat());
        note(counts, &agent, "without its beginning", "the rest", passes);
    }
}

/// Two runs in one stream: one behind the other, and half of one before half of the other.
fn splice(good: &mut [Good], counts: &mut Counts) {
    for at in 1..good.len() {
        let (before, after) = good.split_at_mut(at);
        let (first, second) = (&before[at - 1], &mut after[0]);
        if first.agent != second.agent || first.lines == second.lines {
            continue;
        }
        let agent = second.agent.clone();
        let whole = [first.lines.concat(), second.lines.concat()].concat();
        let passes = second.passes(&whole);
        note(counts, &agent, "two runs", "one behind the other", passes);
        let half = |lines: &[Vec<u8>], from: usize, to: usize| lines[from..to].concat();
        let (a, b) = (first.lines.len(), second.lines.len());
        let halves = [half(&first.lines, 0, a / 2), half(&second.lines, b / 2, b)].concat();
        let passes = second.passes(&halves);
        note(counts, &agent, "two runs", "half of each", passes);
    }
}

/// Goal: no damage passes but of a class that is listed; a cut in a line never does.
#[test]
#[expect(clippy::print_stdout, reason = "the harness keeps it, unless it is asked for")]
fn damage_passes_only_where_no_check_can_see_it() {
    let mut good = good();
    let mut counts = Counts::new();
    for stream in &mut good {
        damage_lines(stream, &mut counts);
        lose_beginning(stream, &mut counts);
        cut(stream, &mut counts);
    }
    splice(&mut good, &mut counts);
    let agents: BTreeSet<&str> = counts.keys().map(|(agent, _)| agent.as_str()).collect();
    let mut rows = BTreeSet::new();
    let all: usize = counts.values().map(|(tried, _)| tried).sum();
    println!("figure: damage.streams {}", good.len());
    println!("figure: damage.tried {all}");
    for ((agent, damage), (tried, passed)) in &counts {
        let count: usize = passed.values().sum();
        let shown: Vec<String> =
            passed.iter().map(|(class, count)| format!("{class} {count}")).collect();
        println!("damage: {agent}\t{damage}\t{tried}\t{count}\t{}", shown.join(", "));
        for class in passed.keys() {
            let is_of_lines =
                !["cut between lines", "two runs", "without its beginning"].contains(damage);
            let by_nature = is_of_lines && BY_NATURE.contains(&class.as_str());
            let agent = if by_nature { "*" } else { agent.as_str() };
            rows.insert(format!("{agent}\t{damage}\t{class}"));
        }
        let in_event = passed.keys().find(|class| *class != "no event");
        assert!(*damage != "cut in a line" || in_event.is_none(), "{agent}: {shown:?}");
    }
    let golden = root().join("tests/proof/damage.tsv");
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        let agents: Vec<&str> = agents.iter().copied().collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let head = "# agent, damage, what may pass; all agents that are judged:";
        fs::write(&golden, format!("{head}\n# {}\n{}\n", agents.join(" "), rows.join("\n")))
            .unwrap();
    }
    let known = fs::read_to_string(golden).unwrap();
    let judged: BTreeSet<&str> = known.lines().nth(1).unwrap().split(' ').collect();
    let known: BTreeSet<&str> = known.lines().collect();
    let agent = |row: &str| row.split('\t').next().unwrap().to_owned();
    // A new agent is judged once it is in the list.
    let is_judged = |row: &str| agent(row) == "*" || judged.contains(agent(row).as_str());
    let new: Vec<&String> = rows
        .iter()
        .filter(|row| is_judged(row.as_str()) && !known.contains(row.as_str()))
        .collect();
    assert!(new.is_empty(), "this damage passes now, and is not listed: {new:#?}");
    let rows: BTreeSet<&str> = rows.iter().map(String::as_str).collect();
    let is_row = |row: &&&str| !row.starts_with('#') && !rows.contains(**row);
    let seen: Vec<&&str> = known.iter().filter(is_row).collect();
    assert!(seen.is_empty(), "this damage is listed, and does not pass any more: {seen:#?}");
    assert!(all > 50_000, "only {all}");
}
