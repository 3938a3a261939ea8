//! Where in a text something may begin: a filter in front of the search.

/// The first three bytes of all that is searched for. Those that begin with the same byte are a
/// group, and each table has a bit for each group.
#[derive(Debug)]
pub(super) struct Starts {
    groups: Vec<u8>,
    first: Box<[u64; 256]>,
    second: Box<[u64; 256]>,
    third: Box<[u64; 256]>,
}

impl Starts {
    pub(super) fn new() -> Self {
        let table = || Box::new([0; 256]);
        Self { groups: Vec::new(), first: table(), second: table(), third: table() }
    }

    /// Adds what begins like this; any bytes may follow.
    pub(super) fn add(&mut self, start: &[u8]) {
        let group = self.groups.iter().position(|it| *it == start[0]).unwrap_or_else(|| {
            self.groups.push(start[0]);
            self.groups.len() - 1
        });
        let bit = 1 << (group % 64);
        self.first[usize::from(start[0])] |= bit;
        for (table, byte) in [(&mut self.second, start.get(1)), (&mut self.third, start.get(2))] {
            match byte {
                Some(byte) => table[usize::from(*byte)] |= bit,
                None => table.iter_mut().for_each(|groups| *groups |= bit),
            }
        }
    }

    /// The next place where something may begin, if two of its bytes are there.
    #[inline]
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let [first, second, third] = [&self.first, &self.second, &self.third];
        let groups = |two: &[u8]| first[usize::from(two[0])] & second[usize::from(two[1])];
        let inside = rest.windows(3).position(|it| groups(it) & third[usize::from(it[2])] != 0);
        let last = || rest.len().checked_sub(2).filter(|at| groups(&rest[*at..]) != 0);
        inside.or_else(last).map(|at| from + at)
    }
}
