//! Where in a text something may begin: a filter in front of the search.

use std::collections::BTreeSet;

/// The first three bytes of all that is searched for: for each byte, the groups that have it there,
/// a bit for each. What begins alike is one group.
#[derive(Debug)]
pub(crate) struct Starts([Box<[u64; 256]>; 3]);

const GROUPS: usize = u64::BITS as usize;

/// Groups of what has less than three bytes.
const SHORT_GROUPS: usize = 16;

impl Starts {
    /// `separators` may be followed by any byte but these.
    pub(crate) fn new(starts: &[&[u8]], separators: &[u8], not_behind: &[u8]) -> Self {
        let mut tables = Self([const { [0; 256] }; 3].map(Box::new));
        for (first, second) in separators.iter().flat_map(|it| (0..=255).map(move |to| (*it, to))) {
            if !not_behind.contains(&second) {
                tables.add(0, &[first, second]);
            }
        }
        let is_short = |start: &&[u8]| start.len() < 3;
        let firsts: BTreeSet<u8> =
            starts.iter().filter(|it| is_short(it)).map(|it| it[0]).collect();
        let long = starts.iter().filter(|it| !is_short(it));
        let pairs: BTreeSet<&[u8]> = long.map(|start| &start[..2]).collect();
        for start in starts {
            let group = if is_short(start) {
                1 + firsts.range(..start[0]).count() % (SHORT_GROUPS - 1)
            } else {
                let rank = pairs.range(..&start[..2]).count();
                SHORT_GROUPS + rank * (GROUPS - SHORT_GROUPS) / pairs.len()
            };
            tables.add(group, start);
        }
        tables
    }

    fn add(&mut self, group: usize, start: &[u8]) {
        for (at, table) in self.0.iter_mut().enumerate() {
            match start.get(at) {
                Some(byte) => table[usize::from(*byte)] |= 1 << group,
                None => table.iter_mut().for_each(|groups| *groups |= 1 << group),
            }
        }
    }

    /// The next place where something may begin, if two of its bytes are there.
    #[inline]
    pub(crate) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let [first, second, third] = &self.0;
        let groups = |two: &[u8]| first[usize::from(two[0])] & second[usize::from(two[1])];
        let inside = rest.windows(3).position(|it| groups(it) & third[usize::from(it[2])] != 0);
        let last = || rest.len().checked_sub(2).filter(|at| groups(&rest[*at..]) != 0);
        inside.or_else(last).map(|at| from + at)
    }
}
