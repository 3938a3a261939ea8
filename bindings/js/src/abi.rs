//! The functions that JavaScript calls. `unsafe` is here for one thing: the names of these
//! functions in the module. No two of them are equal, and none is the name of a function of a
//! library, for they begin with `ndjson_check_`. No pointer is read in Rust: JavaScript writes its
//! bytes into a buffer that Rust owns, and reads the answer from another one, always between two
//! calls. WebAssembly has one thread here, so nothing runs meanwhile.
#![expect(unsafe_code, reason = "a name that JavaScript can call is `unsafe(no_mangle)`")]

use std::cell::RefCell;

use crate::readers::Readers;

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// What is between JavaScript and the readers.
#[derive(Default)]
struct State {
    readers: Readers,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl State {
    /// Calls `work` with the first bytes of the input. Its answer, or its message, is the output.
    fn answer(
        &mut self,
        length: usize,
        work: impl FnOnce(&mut Readers, &[u8]) -> Result<(u32, Vec<u8>), String>,
    ) -> u32 {
        let input = self.input.get(..length).unwrap_or_default();
        let (number, output) = match work(&mut self.readers, input) {
            Ok((number, output)) => (number, output),
            Err(message) => (0, message.into_bytes()),
        };
        self.output = output;
        number
    }
}

fn with<T>(work: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(work)
}

/// Where JavaScript writes `length` bytes for the next call.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_input(length: usize) -> *mut u8 {
    with(|state| {
        if state.input.len() < length {
            state.input.resize(length, 0);
        }
        state.input.as_mut_ptr()
    })
}

/// Where the answer of the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_output() -> *const u8 {
    with(|state| state.output.as_ptr())
}

/// The size of this answer.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_output_length() -> usize {
    with(|state| state.output.len())
}

/// Opens a reader; the input has its options as JSON. Returns its number, or 0 and a message.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_open(length: usize) -> u32 {
    with(|state| state.answer(length, |readers, options| Ok((readers.open(options)?, Vec::new()))))
}

/// Gives the input to a reader. Returns 1 and what is new, or 0 and a message.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_feed(reader: u32, length: usize) -> u32 {
    with(|state| state.answer(length, |readers, bytes| Ok((1, readers.feed(reader, bytes)?))))
}

/// Ends a stream and closes its reader; the input says as JSON how the process ended. Returns 1
/// and what is new, or 0 and a message.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_finish(reader: u32, length: usize) -> u32 {
    with(|state| state.answer(length, |readers, exit| Ok((1, readers.finish(reader, exit)?))))
}

/// Closes a reader whose stream is not read to its end.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_close(reader: u32) {
    with(|state| state.readers.close(reader));
}

/// The state of a stream, as bits: see `EventArray::state`.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_state(reader: u32) -> u32 {
    with(|state| state.readers.state(reader))
}

/// After how many events, since the stream began, the next turn has ended; 0 if none has since the
/// last call.
#[unsafe(no_mangle)]
pub extern "C" fn ndjson_check_turn_end(reader: u32) -> u32 {
    with(|state| state.readers.turn_end(reader))
}
