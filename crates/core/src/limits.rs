//! The bounds on untrusted input and on what is kept of it, each with its reason.
//!
//! A stream is untrusted and may be endless: what is kept from one line to the next has a bound,
//! most of them here. Where a result would be less exact, a note of the stream says so.

use std::time::Duration;

/// White space before a stream, in bytes, behind which the start of an array is still noticed.
pub(crate) const ARRAY_START_BYTES_MAX: usize = 4 * 1024;

/// Longest line that is checked, in bytes; `--max-line-bytes` changes it.
///
/// Agents embed whole files and base64 images in one event; readers that stopped at 64 KiB, 1 MiB
/// and 16 MiB were all raised later. Longer lines are skipped to their end and reported.
pub const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Objects in a line that is not an event that are tried as an event after a text.
pub(crate) const GLUED_OBJECTS_MAX: usize = 4;

/// Largest file of a schema or a profile, in bytes. An endless file ends here, too.
pub(crate) const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Steps back in one search for a pattern of a schema: only a pattern that looks around or refers
/// back takes any. A long text costs one for each byte; at ten times as many one event of 100 kB
/// took 45 s.
#[cfg(feature = "user-schemas")]
pub(crate) const PATTERN_STEPS_MAX: usize = 200_000;

/// Profiles that extend one another in a row: more means a cycle.
pub(crate) const EXTENDS_MAX: usize = 8;

/// Entries of a tape, 12 bytes each, whose memory is kept for the next line.
pub(crate) const ENTRIES_KEPT_MAX: usize = 64 * 1024;

/// Shapes of lines that are remembered.
pub(crate) const SHAPES_MAX: usize = 8;

/// Values of a line that may differ from another of its shape.
pub(crate) const SLOTS_MAX: usize = 8;

/// Longest line whose shape is remembered, in bytes.
pub(crate) const SHAPE_BYTES_MAX: usize = 2_048;

/// Deepest nesting of arrays and objects in an event, in levels: the limit of `serde_json`.
pub(crate) const DEPTH_MAX: usize = 127;

/// The pipe buffer of the systems this runs on, in bytes. A stream whose length is a multiple of it
/// and that ends inside a line was cut: its producer exited before its output was drained.
pub(crate) const PIPE_BUFFER_BYTES: u64 = 65_536;

/// Non-blank lines that are read before a stream is reported as not NDJSON.
pub(crate) const FRAMING_LINES_MAX: usize = 5;
/// The same for a format of text, such as a log with a time in front of each line.
pub(crate) const FRAMING_TEXT_LINES_MAX: usize = 1_000;

/// Lines that are read before a stream of blank lines is taken for NDJSON.
pub(crate) const FRAMING_BLANKS_MAX: usize = 100;

/// Rejected tool calls in a row that a later event can show as interrupted.
pub(crate) const CALLS_REJECTED_MAX: usize = 1_000;

/// Tool calls that may be open at once, about 200 bytes each. Of later ones only a hash is kept.
pub(crate) const CALLS_OPEN_MAX: usize = 20_000;

/// Further open calls of which a hash is kept, about 12 bytes each. If there are more, they
/// count as open to the end.
pub(crate) const CALLS_HASHED_MAX: usize = 400_000;

/// Ended tool calls that are remembered, about 30 bytes each, to distinguish a second end from an
/// end without a start.
pub(crate) const CALLS_ENDED_MAX: usize = 50_000;

/// Values that both halves of a call must share, in bytes for all open calls together. Beyond it
/// they are compared by fingerprint.
pub(crate) const CALL_SOURCES_BYTES_MAX: usize = 256 * 1024;

/// Rows of the call table in the report: a good call makes room for another. Its totals stay exact.
pub(crate) const CALL_ROWS_MAX: usize = 1_000;

/// Paths of successful calls that are remembered for an expectation that compares them.
pub(crate) const EXPECTED_PATHS_MAX: usize = 20_000;

/// Longest call id that is kept verbatim, in bytes. Of a longer one we keep the start, the length
/// and a fingerprint.
pub(crate) const CALL_ID_BYTES_MAX: usize = 256;

/// Assistant text that is kept to be compared byte by byte, in bytes: once each for the open
/// segment, the last one and the whole answer. The rest is compared by length and fingerprint.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Tags whose rules in the profile are cached, about 500 bytes each. Very long tags are not.
pub(crate) const TAGS_REMEMBERED_MAX: usize = 64;

/// Different names of unknown events, and of unknown tools, that are counted one by one.
pub(crate) const NAMES_MAX: usize = 200;

/// Durations of tool calls of one stream that are kept for the median, 8 bytes each. Later ones are
/// in the sum, and may be the longest.
pub(crate) const DURATIONS_MAX: usize = 20_000;

/// Times without an open call that may turn out to be part of a call, as only its end says when it
/// started.
pub(crate) const IDLE_TIMES_MAX: usize = 100;

/// Longest duration that an agent can say, in milliseconds: every reader of JSON reads it exactly.
pub(crate) const DURATION_MS_MAX: f64 = 9_007_199_254_740_991.0;

/// Longest answer that is kept as a value, in bytes of JSON; a longer one is not kept.
pub(crate) const STRUCTURED_BYTES_MAX: usize = 64 * 1024;

/// Longest answer that is kept until the end of the run, in bytes.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest line of a command's standard error in a report, in bytes.
pub(crate) const STDERR_LINE_BYTES_MAX: usize = 500;

/// Events of a stream that are read to find which agent has written it, and its version.
pub(crate) const DETECTION_EVENTS_MAX: usize = 16;

/// Events that are read before any shows the agent. Hooks may write dozens before the first of the
/// agent itself.
pub(crate) const UNKNOWN_EVENTS_MAX: usize = 48;

/// Bytes of a stream that are kept to detect its agent before they are checked. The longest line is
/// not counted.
pub(crate) const DETECTION_BYTES_MAX: usize = 1024 * 1024;

/// Most calls of other agents that are remembered after their end.
pub(crate) const TASKS_MAX: usize = 256;

/// Messages of the model that may be open at once, of agents that work for one another.
pub(crate) const MESSAGES_OPEN_MAX: usize = 64;

/// Ids of messages of the model that are remembered, so that none is reported twice.
pub(crate) const MESSAGES_REPORTED_MAX: usize = 256;

/// Most images and other binary content that the event of a call lists.
pub(crate) const MEDIA_MAX: usize = 1_000;

/// Most tools and servers of a session, and items of a plan, that events list.
pub(crate) const SESSION_LIST_MAX: usize = 1_000;

/// Longest message of a diagnostic, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2_048;

/// Work in the background that is followed; more is not reported as lost.
pub(crate) const BACKGROUND_MAX: usize = 1_000;

/// Ids of events that are remembered, as hashes, to find an event that came twice.
pub(crate) const EVENT_IDS_MAX: usize = 20_000;

/// Changed files in the report of one stream.
pub(crate) const FILES_MAX: usize = 1_000;

/// What is kept of the detail of an open call, in bytes, for its completion.
pub(crate) const ACTION_DETAIL_BYTES_MAX: usize = 1_024;

/// Longest text of an agent's error in the report, in bytes.
pub(crate) const ERROR_TEXT_BYTES_MAX: usize = 500;

/// Diagnostics printed for one rule in one stream; the totals stay exact.
pub(crate) const PRINTED_PER_RULE_MAX: u64 = 100;

/// Keys that occur more than once and are reported for one line.
pub(crate) const DUPLICATES_PER_LINE_MAX: usize = 10;

/// Largest event for which a report says where it fails a schema, in bytes. The validator copies
/// the event into each of its errors, some hundred times in all.
pub(crate) const VIOLATION_DETAIL_BYTES_MAX: usize = 128 * 1024;

/// Events that a line waits for while redaction cannot know whether it ends with the start of a
/// secret.
pub(crate) const HELD_EVENTS_MAX: u64 = 4;

/// Texts in deltas that redaction joins at the same time.
pub(crate) const DELTA_TEXTS_MAX: usize = 64;

/// The longest line of a text in deltas that redaction searches as a whole, in bytes.
pub(crate) const TEXT_LINE_BYTES_MAX: usize = 4 * 1024;

/// Lines that wait for redaction, in bytes: a private key may come in hundreds of events.
pub(crate) const HELD_BYTES_MAX: usize = 1024 * 1024;

/// Longest duration of a timer.
pub const TIMER_MAX: Duration = Duration::from_secs(365 * 86_400);
