//! What several threads find, heard in the order of the work and not in that of the finding.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::limits::GATHER_WAIT;

/// Pieces of work, counted from 0, that several workers do at the same time, while one listener
/// hears what they tell of it, piece by piece.
///
/// What is told of the piece in turn is heard at once. What is told of later ones is kept until
/// it is their turn; who tells more than fits waits. Pieces are begun in their order, so the one
/// in turn is always in somebody's hands, and that worker never waits.
pub(super) struct Relay<T> {
    pieces: usize,
    kept_max: usize,
    state: Mutex<State<T>>,
    /// The piece in turn has told something.
    told: Condvar,
    /// There is room again, or another piece in turn, or nobody listens any more.
    room: Condvar,
}

struct State<T> {
    /// The first piece that nobody has begun.
    next: usize,
    /// The piece that is being heard.
    turn: usize,
    /// What is kept of the pieces from the one in turn on.
    told: VecDeque<Vec<Told<T>>>,
    /// Its size in bytes.
    kept: usize,
    /// Nobody listens any more.
    closed: bool,
}

/// Something that was told.
pub(super) struct Told<T> {
    pub(super) what: T,
    /// What it takes to keep it.
    pub(super) bytes: usize,
}

impl<T> Relay<T> {
    /// So many pieces of work, of which so many bytes are kept before workers wait.
    pub(super) fn new(pieces: usize, kept_max: usize) -> Self {
        let state = State { next: 0, turn: 0, told: VecDeque::new(), kept: 0, closed: false };
        Self {
            pieces,
            kept_max,
            state: Mutex::new(state),
            told: Condvar::new(),
            room: Condvar::new(),
        }
    }

    /// For a worker: the next piece, if there is one.
    pub(super) fn begin(&self) -> Option<usize> {
        let mut state = self.state();
        if state.closed || state.next == self.pieces {
            return None;
        }
        state.told.push_back(Vec::new());
        state.next += 1;
        Some(state.next - 1)
    }

    /// For a worker: tells something of a piece it has begun.
    pub(super) fn tell(&self, piece: usize, told: Vec<Told<T>>) {
        let is_full = |it: &mut State<T>| it.kept > self.kept_max && it.turn != piece && !it.closed;
        let state = self.room.wait_while(self.state(), is_full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        state.kept += told.iter().map(|it| it.bytes).sum::<usize>();
        let ahead = piece - state.turn;
        let heard = &mut state.told[ahead];
        let is_news = ahead == 0 && heard.is_empty();
        heard.extend(told);
        drop(state);
        if is_news {
            self.told.notify_one();
        }
    }

    /// For the listener: what the piece in turn has told since it was last asked. Where that is
    /// nothing yet, `idle` is called and then waited.
    pub(super) fn hear(&self, idle: impl FnOnce()) -> Vec<Told<T>> {
        let is_silent = |it: &mut State<T>| it.told.front().is_none_or(Vec::is_empty);
        let mut state = self.state();
        if is_silent(&mut state) {
            drop(state);
            idle();
            let waited = self.told.wait_while(self.state(), is_silent);
            state = waited.unwrap_or_else(PoisonError::into_inner);
            if state.next < self.pieces {
                // To be woken for each of many small pieces costs as much as to do them.
                drop(state);
                thread::sleep(GATHER_WAIT);
                state = self.state();
            }
        }
        let heard = state.told.front_mut().map(std::mem::take).unwrap_or_default();
        let was_full = state.kept > self.kept_max;
        state.kept -= heard.iter().map(|it| it.bytes).sum::<usize>();
        drop(state);
        if was_full {
            self.room.notify_all();
        }
        heard
    }

    /// For the listener: all is heard of the piece in turn, it is the next one's.
    pub(super) fn turn(&self) {
        let mut state = self.state();
        state.told.pop_front();
        state.turn += 1;
        let was_full = state.kept > self.kept_max;
        drop(state);
        if was_full {
            self.room.notify_all();
        }
    }

    fn close(&self) {
        self.state().closed = true;
        self.room.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the workers that nobody listens any more, however the listener ends.
pub(super) struct Listener<'r, T>(pub(super) &'r Relay<T>);

impl<T> Drop for Listener<'_, T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PIECES: usize = 200;

    /// Tells three things of every piece, late pieces early.
    fn work(relay: &Relay<(usize, usize)>) {
        while let Some(piece) = relay.begin() {
            thread::sleep(Duration::from_micros(if piece % 10 == 0 { 2_000 } else { 10 }));
            for part in 0..3 {
                relay.tell(piece, vec![Told { what: (piece, part), bytes: 10 }]);
                let state = relay.state();
                // What is kept, what the piece in turn has told, and one more of each worker.
                assert!(state.kept <= 100 + 3 * 10 + 4 * 10, "{}", state.kept);
            }
        }
    }

    #[test]
    fn all_is_heard_in_order_and_little_is_kept() {
        let relay = Relay::new(PIECES, 100);
        thread::scope(|scope| {
            let _listener = Listener(&relay);
            for _ in 0..4 {
                scope.spawn(|| work(&relay));
            }
            for piece in 0..PIECES {
                let mut parts = 0;
                while parts < 3 {
                    for told in relay.hear(|| ()) {
                        assert_eq!(told.what, (piece, parts));
                        parts += 1;
                    }
                }
                relay.turn();
            }
        });
        assert_eq!(relay.state().kept, 0);
        assert_eq!(relay.begin(), None);
    }

    #[test]
    fn nobody_waits_for_a_listener_who_has_left() {
        let relay = Relay::new(PIECES, 100);
        thread::scope(|scope| {
            let listener = Listener(&relay);
            for _ in 0..4 {
                scope.spawn(|| work(&relay));
            }
            let heard = relay.hear(|| ());
            assert_eq!(heard[0].what, (0, 0));
            drop(listener);
        });
        assert!(relay.state().next < PIECES);
    }
}
