//! Every bound of the program, in one place, each with its reason.
//!
//! A stream is untrusted and may be endless: whatever is kept between two lines has a bound here,
//! and reaching one is said in the report (a note of the stream), never passed over.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Longest line that is checked, in bytes; `--max-line-bytes` changes it.
///
/// Agents embed whole files and base64 images in one event; readers that stopped at 64 KiB, 1 MiB
/// and 16 MiB were all raised later. Longer lines are skipped to their end and reported.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes asked for in one read: large enough that system calls do not count, small enough to stay
/// in the cache.
pub(crate) const READ_BYTES: usize = 128 * 1024;

/// The same, until more is waiting than this: a short stream is to touch little memory.
pub(crate) const FIRST_READ_BYTES: usize = 16 * 1024;

/// Objects in a line that is no event that are tried for one that is glued to a text.
pub(crate) const GLUED_OBJECTS_MAX: usize = 4;

/// Streams that are checked ahead of the one that is being reported.
pub(crate) const STREAMS_AHEAD_MAX: usize = 64;

/// Most files that are checked at the same time, for each core.
pub(crate) const JOBS_PER_CORE_MAX: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Messages of one such stream that wait: at most some MiB in all.
pub(crate) const STREAM_MESSAGES_MAX: usize = 16;

/// Shortest work of which the progress is shown.
pub(crate) const PROGRESS_AFTER: Duration = Duration::from_millis(500);

/// How often it is drawn: often enough to look alive.
pub(crate) const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Smallest single file of which it is shown, in bytes: any smaller one is done before.
pub(crate) const PROGRESS_BYTES_MIN: u64 = 8 * 1024 * 1024;

/// How many profiles may extend one another in a row: more is a circle.
pub(crate) const EXTENDS_MAX: usize = 8;

/// Entries of a tape, 12 bytes each, whose memory is kept when a line is read without it.
pub(crate) const ENTRIES_KEPT_MAX: usize = 64 * 1024;

/// Shapes of lines that are remembered.
pub(crate) const SHAPES_MAX: usize = 8;

/// Values of a line that may differ from another of its shape.
pub(crate) const SLOTS_MAX: usize = 8;

/// Longest line whose shape is remembered, in bytes.
pub(crate) const SHAPE_BYTES_MAX: usize = 2_048;

/// Things that are remembered without any being of use, before that becomes rare.
pub(crate) const LEARNED_MAX: u32 = 64;

/// How rare: one in so many.
pub(crate) const LEARNED_EVERY: u32 = 256;

/// Deepest nesting of arrays and objects in an event, in levels: the limit of `serde_json`.
pub(crate) const DEPTH_MAX: usize = 127;

/// The pipe buffer of the systems this runs on, in bytes: a stream whose length is a multiple of
/// it and ends inside a line was cut because its producer exited before its output was drained.
pub(crate) const PIPE_BUFFER_BYTES: u64 = 65_536;

/// How large a pipe is made that is seen full, in bytes: what an unprivileged process may ask for.
pub(crate) const PIPE_BYTES_WANTED: usize = 1024 * 1024;

/// Non-blank lines that are looked at before a stream is called something else than NDJSON.
pub(crate) const FRAMING_LINES_MAX: usize = 5;

/// Tool calls that may be open at once, about 200 bytes each. Later ones are not correlated.
pub(crate) const CALLS_OPEN_MAX: usize = 20_000;

/// Ended tool calls that are remembered, about 20 bytes each, so that a second end is told from
/// an end without a start.
pub(crate) const CALLS_ENDED_MAX: usize = 50_000;

/// What is kept of the values that both halves of a call must share, in bytes, for all open calls
/// together. Beyond it they are compared by fingerprint.
pub(crate) const CALL_SOURCES_BYTES_MAX: usize = 256 * 1024;

/// Rows of the call table in the report; its totals stay exact.
pub(crate) const CALL_ROWS_MAX: usize = 1_000;

/// Longest call id that is kept verbatim, in bytes; of a longer one the start, the length and a
/// fingerprint are kept.
pub(crate) const CALL_ID_BYTES_MAX: usize = 256;

/// Assistant text that is kept to be compared byte by byte, in bytes, once for the open segment
/// and once for the whole answer. What lies beyond is compared by length and fingerprint.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Tags of which is remembered what a profile says of them, about 500 bytes each; very long ones
/// are not.
pub(crate) const TAGS_REMEMBERED_MAX: usize = 64;

/// Different names of unknown events, and of unknown tools, that are counted one by one.
pub(crate) const NAMES_MAX: usize = 200;

/// Open calls that a message names; the others are counted.
pub(crate) const CALLS_NAMED_MAX: usize = 5;

/// Converted output that is collected while more input is already there, in bytes.
pub(crate) const CONVERTED_BYTES_MAX: usize = 64 * 1024;

/// Longest answer that is kept until the end of the run, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest detail (path, command) of an action line, in characters.
pub(crate) const ACTION_DETAIL_CHARS_MAX: usize = 200;

/// What is kept of the end of a command's standard error, in bytes.
pub(crate) const STDERR_BYTES_MAX: usize = 64 * 1024;

/// Lines of it that a report shows.
pub(crate) const STDERR_LINES_MAX: usize = 10;

/// The longest of them, in bytes.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 500;

/// What is still read of a pipe that is not to be waited for any longer, in bytes: what was under
/// way in it, at most the largest pipe there is by default.
pub(crate) const AFTER_STOP_BYTES_MAX: usize = 1024 * 1024;

/// Events of a stream that are looked at to tell whose it is, and which version wrote it.
pub(crate) const DETECTION_EVENTS_MAX: usize = 16;

/// Bytes of it that are read for that, at most, before they are checked.
pub(crate) const DETECTION_BYTES_MAX: usize = 1024 * 1024;

/// How many of them at once: most streams show in their first line whose they are.
pub(crate) const DETECTION_READ_BYTES: usize = 16 * 1024;

/// Longest duration that a timer takes; more is no limit.
pub(crate) const TIMER_MAX: Duration = Duration::from_secs(365 * 86_400);

/// A signal that comes again within this time is the same: `timeout` sends its own to a command
/// and to its group.
pub(crate) const SIGNAL_ONCE: Duration = Duration::from_millis(500);

/// How long a second signal leaves us to finish the report.
pub(crate) const LAST_WORD_WAIT: Duration = Duration::from_secs(1);

/// How long the stream is read on when the command has ended and a descendant holds it open.
pub(crate) const DRAIN_WAIT: Duration = Duration::from_secs(2);

/// How often the supervisor checks in that time whether our output blocks us.
pub(crate) const DRAIN_TICK: Duration = Duration::from_millis(50);

/// A write of our output that takes less than this does not count as blocked.
pub(crate) const BLOCKED_MIN: Duration = Duration::from_millis(1);

/// How long we may take to write the report after a timeout or a signal, when no command is left
/// to wait for. It is longer than the wait for a descendant that holds the stream open.
pub(crate) const FINISH_WAIT: Duration = Duration::from_secs(3);

/// How long the last message of a process that ends itself may take.
pub(crate) const LAST_MESSAGE_WAIT: Duration = Duration::from_millis(100);

/// How long a command that was asked to end may take before it is killed.
pub(crate) const KILL_WAIT: Duration = Duration::from_secs(5);

/// Longest message of a diagnostic, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2_048;

/// Longest name of a stream inside an error, in bytes: the reason after it fits the message.
pub(crate) const STREAM_NAME_BYTES_MAX: usize = 1_024;

/// Longest name (tag, tool, call id, property) inside a message, in characters.
pub(crate) const NAME_CHARS_MAX: usize = 60;

/// Diagnostics printed for one rule in one stream; the totals stay exact.
pub(crate) const PRINTED_PER_RULE_MAX: u64 = 100;

/// Keys that occur more than once and are reported for one line.
pub(crate) const DUPLICATES_PER_LINE_MAX: usize = 10;

/// Largest event of which is said where it fails a schema, in bytes. The validator copies the
/// event into each of its errors, some hundred times in all; of a larger event is said only that
/// it fails.
pub(crate) const VIOLATION_DETAIL_BYTES_MAX: usize = 128 * 1024;

/// Lines that are looked at before a stream that may be something else than NDJSON is taken for
/// NDJSON all the same, because nothing but blank lines came.
pub(crate) const FRAMING_BLANKS_MAX: usize = 100;

/// Different values at one place that are kept for a draft, where all are short names.
pub(crate) const DRAFT_VALUES_MAX: usize = 64;

/// Tags, and paths in the events of each tag, that are counted for a draft.
pub(crate) const DRAFT_PATHS_MAX: usize = 4_096;

/// Longest tag, path or key of which a draft takes notice, in bytes.
pub(crate) const DRAFT_PATH_BYTES_MAX: usize = 1_024;

/// Scalars of one event that a draft counts; its schema describes others, too.
pub(crate) const DRAFT_LEAVES_MAX: usize = 2_000;

/// Nodes of all schemas of a draft together.
pub(crate) const DRAFT_NODES_MAX: usize = 20_000;

/// Different strings of one recording that a draft remembers as ids.
pub(crate) const DRAFT_IDS_MAX: usize = 50_000;

/// Text of one recording that a draft keeps, to find out what it is concatenated to, in bytes.
pub(crate) const DRAFT_TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What a draft keeps of the keys of events that contain text, in bytes.
pub(crate) const DRAFT_KEY_BYTES_MAX: usize = 1024 * 1024;
