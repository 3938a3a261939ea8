//! The bounds that several reports or conversions share.

/// Rows of a table of figures that a person reads. The json report has all of them.
pub(crate) const STATS_ROWS_MAX: usize = 30;

/// Names that profiles do not know, of all streams together.
pub(crate) const UNKNOWN_NAMES_MAX: usize = 5_000;

/// Arguments of open calls that a conversion keeps, in bytes. What does not fit is left out.
pub(crate) const KEPT_ARGUMENTS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest Markdown report, in bytes. GitHub refuses a comment of more than 65,536 characters.
pub(crate) const MARKDOWN_BYTES_MAX: usize = 60_000;

/// Longest argument or result of a tool call in an HTML page, in bytes.
pub(crate) const PAGE_VALUE_BYTES_MAX: usize = 8 * 1024;

/// Streams in the index of an HTML report, and so pages: so many that did not pass, and so many
/// others. The others are counted.
pub(crate) const PAGES_MAX: usize = 5_000;

/// Longest name of a tool, a call or an argument that is kept, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 256;

/// Longest text of the assistant that is kept as a whole, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Longest message of a finding or an error in a trace or a test report, in bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 2_048;

/// Different tools, and different unknown names, that a table lists.
pub(crate) const NAMES_MAX: usize = 200;

/// Longest detail (path, command) of an action line, in characters.
pub(crate) const ACTION_DETAIL_CHARS_MAX: usize = 200;
