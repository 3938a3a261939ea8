//! Which lines of standard error are kept.

use super::error_text::says_something;

const KEPT_LINES_MAX: usize = 10;

/// A line as a terminal leaves it: a carriage return begins it anew.
pub(crate) fn as_shown(line: &str) -> &str {
    line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default()
}

/// The last lines of standard error, as they are kept. If none of them says something, the first
/// of them makes room for the last one that does.
pub(crate) fn last_lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(as_shown).filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.collect();
    let first = lines.len().saturating_sub(KEPT_LINES_MAX);
    // A stack, or the usage of the command, may be longer than what is kept.
    let said = lines.iter().rposition(|line| says_something(line)).filter(|at| *at < first);
    let last = &lines[first + usize::from(said.is_some())..];
    said.map(|at| &lines[at]).into_iter().chain(last).map(|&line| line.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn what_a_progress_line_was_before_is_not_kept() {
        let lines = |text: &str| last_lines(text);
        assert_eq!(lines("\rprogress 1%\rprogress 2%\rError: no key\n"), ["Error: no key"]);
        assert_eq!(lines("one\r\n\r\ntwo\r"), ["one", "two"]);
        assert_eq!(lines("50%\r\r\n"), ["50%"]);
    }

    #[test]
    fn the_line_in_front_of_a_stack_is_kept() {
        let stack = "    at call (file.js:1)\n".repeat(12);
        let lines = |end: &str| last_lines(&format!("start\nError: no key\n{stack}{end}"));
        let kept = lines("Node.js v22.11.0\n");
        assert_eq!((kept.len(), &*kept[0], &*kept[9]), (10, "Error: no key", "Node.js v22.11.0"));
        assert_eq!(lines("bye\n")[0], "    at call (file.js:1)");
    }
}
