//! Streams made to part the engines: good ones, damaged ones, and mostly good ones, from a seed.
//!
//! A *damaged* line has been changed in its bytes or values without a care for what comes of it.
//! A *varied* line is a copy of another with other texts and numbers of the same types: what a
//! memory of shapes must recognise, and recognise only then. Both are mutations.

mod bytes;
mod layout;
mod nasty;
mod random;
mod session;
mod values;

use std::ops::Range;

use layout::Layout;
pub(crate) use random::Random;
use session::Habit;

/// Lines longer than this are not mixed: there are faster ways to check the same bytes.
const LINE_BYTES_MAX: usize = 3_000;

/// Good lines, as their streams have them; the endings are left out.
pub(crate) struct Corpus {
    streams: Vec<Vec<Vec<u8>>>,
    /// Whether sessions of the default profile fit among them.
    sessions: bool,
}

/// How many lines were mutated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mutations {
    pub(crate) damaged: u64,
    pub(crate) varied: u64,
}

/// Makes streams out of a corpus; the same seed makes the same streams.
pub(crate) struct Mutator<'c> {
    corpus: &'c Corpus,
    random: Random,
    made: Mutations,
    /// Whether only streams are made whose lines repeat: a memory gives up where none does.
    calm: bool,
    /// What the sessions of a calm mutator have in common.
    habit: Habit,
    /// Whether the stream that is being made stays UTF-8: one bad byte may turn off what an
    /// engine does with everything that is read with it.
    stays_utf_8: bool,
}

impl Corpus {
    pub(crate) fn new(streams: impl IntoIterator<Item = Vec<u8>>, sessions: bool) -> Self {
        let lines = |stream: Vec<u8>| -> Vec<Vec<u8>> {
            let lines = stream.split(|&byte| byte == b'\n').map(<[u8]>::to_vec);
            lines.filter(|line| (1..LINE_BYTES_MAX).contains(&line.len())).collect()
        };
        let streams: Vec<_> = streams.into_iter().map(lines).filter(|it| !it.is_empty()).collect();
        assert!(!streams.is_empty(), "there is nothing to mutate");
        Self { streams, sessions }
    }
}

impl<'c> Mutator<'c> {
    pub(crate) fn new(corpus: &'c Corpus, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (calm, habit) = (random.chance(70), Habit::new(&mut random));
        Self { corpus, random, made: Mutations::default(), calm, habit, stays_utf_8: true }
    }

    /// What has been made so far.
    pub(crate) fn made(&self) -> Mutations {
        self.made
    }

    /// One stream of up to some hundred lines.
    pub(crate) fn stream(&mut self) -> Vec<u8> {
        self.stays_utf_8 = self.random.chance(80);
        let mut stream = Vec::with_capacity(64 * 1024);
        if self.random.chance(3) {
            stream.extend_from_slice(self.random.pick(nasty::STARTS));
        }
        match self.random.below(10) {
            0..3 if !self.calm => self.mix(&mut stream),
            3..5 if !self.calm => self.recorded(&mut stream),
            _ if self.corpus.sessions && self.random.chance(65) => self.session(&mut stream),
            _ => self.repeat(&mut stream),
        }
        // As a producer that was killed leaves it.
        match self.random.below(20) {
            0 => stream.truncate(self.random.below(stream.len())),
            1 | 2 => stream.truncate(stream.len() - 1),
            _ => {}
        }
        stream
    }

    /// Lines in any order, most of them damaged.
    fn mix(&mut self, out: &mut Vec<u8>) {
        let first = self.stream_of_corpus()[0].clone();
        push(&first, out);
        for _ in 0..self.random.within(10, 60) {
            let stream = self.stream_of_corpus();
            let line = self.line_of(stream).to_vec();
            self.maybe_damaged(line, 80, out);
        }
    }

    fn stream_of_corpus(&mut self) -> &'c [Vec<u8>] {
        &self.corpus.streams[self.random.below(self.corpus.streams.len())]
    }

    /// Seldom the last line, which ends the run: what comes after it is not looked at closely.
    fn line_of(&mut self, stream: &'c [Vec<u8>]) -> &'c [u8] {
        let last = usize::from(stream.len() > 1 && self.random.chance(98));
        &stream[self.random.below(stream.len() - last)]
    }

    /// A stream as it is, but for a few lines.
    fn recorded(&mut self, out: &mut Vec<u8>) {
        let percent = self.random.pick(&[3, 10, 50]);
        for line in self.stream_of_corpus() {
            self.maybe_damaged(line.clone(), percent, out);
        }
    }

    /// A few lines over and over, each time with other texts and numbers in the same places.
    fn repeat(&mut self, out: &mut Vec<u8>) {
        let stream = self.stream_of_corpus();
        let percent = self.random.pick(&[0, 3, 10, 30]);
        push(&stream[0], out);
        let kinds = self.random.within(1, 6);
        let lines: Vec<&[u8]> = (0..kinds).map(|_| self.line_of(stream)).collect();
        let lines: Vec<_> = lines.into_iter().map(|line| (line, self.slots(line))).collect();
        for _ in 0..self.random.within(20, 120) {
            let (line, slots) = self.random.pick(&lines);
            let line = values::varied(line, &slots, &mut self.random);
            self.varied(line, percent, out);
        }
    }

    /// A few values of a line, in its order: numbers and strings that are no keys. Seldom names,
    /// such as that of a type: whoever reads the line looks at them, and knows no other.
    fn slots(&mut self, line: &[u8]) -> Vec<Range<usize>> {
        let names = !self.calm && self.random.chance(30);
        let mut slots = Layout::of(line).values;
        slots.retain(|slot| {
            let value = &line[slot.clone()];
            let is_name =
                value.iter().all(|byte| byte.is_ascii_lowercase() || b"\"_".contains(byte));
            (value[0] == b'"' || value[0].is_ascii_digit()) && (names || !is_name)
        });
        while slots.len() > 4 || slots.len() > 1 && self.random.chance(60) {
            slots.remove(self.random.below(slots.len()));
        }
        slots
    }

    /// Appends a varied line; one that is damaged as well is counted as that.
    fn varied(&mut self, line: Vec<u8>, percent: usize, out: &mut Vec<u8>) {
        let damaged = self.made.damaged;
        self.maybe_damaged(line, percent, out);
        self.made.varied += u64::from(self.made.damaged == damaged);
    }

    /// Appends a line, damaged so often in a hundred, with one ending or another.
    fn maybe_damaged(&mut self, mut line: Vec<u8>, percent: usize, out: &mut Vec<u8>) {
        if self.random.chance(percent) {
            self.made.damaged += 1;
            damage(&mut line, &mut self.random);
            if self.stays_utf_8 {
                line = String::from_utf8_lossy(&line).into_owned().into_bytes();
            }
            let odd: [&[u8]; 4] = [b"\r\n", b"\r\r\n", b" \n", b"\n\n"];
            let ending = if self.random.chance(15) { self.random.pick(&odd) } else { b"\n" };
            out.extend_from_slice(&line);
            out.extend_from_slice(ending);
        } else {
            push(&line, out);
        }
    }
}

fn push(line: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// Damages a line a little: its values, its bytes or both.
pub(crate) fn damage(line: &mut Vec<u8>, random: &mut Random) {
    let kind = random.below(10);
    if kind < 5 {
        values::damage(line, random);
    }
    if kind >= 4 {
        bytes::damage(line, random);
    }
    if random.chance(10) {
        damage(line, random);
    }
}
