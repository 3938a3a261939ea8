//! Commands one after the other, and which of them the exit status of all is about.

use super::{ExitShown, ShellCommand};

/// What comes after a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    And,
    Or,
    Background,
    /// `;`, the end of the line, or the end of the list.
    Other,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<ShellCommand>,
    /// Whether it is only a blank line or a comment.
    pub(super) is_empty: bool,
    /// Whether it only makes the line fail: `exit 1`.
    pub(super) fails: bool,
    /// Whether the shell stops at the first command that fails.
    pub(super) stops: bool,
    pub(super) next: Next,
}

/// Whether a command only makes the line fail.
pub(super) fn does_fail(words: &[String]) -> bool {
    match words {
        [word] => word == "false",
        [word, status] => (word == "exit" || word == "return") && status != "0",
        _ => false,
    }
}

/// The exit status says no more of the commands than this.
pub(super) fn raise(commands: &mut [ShellCommand], exit: ExitShown) {
    for command in commands {
        command.exit = command.exit.max(exit);
    }
}

/// The commands of a list, with what its exit status says of them.
pub(super) fn judged(mut pipelines: Vec<Pipeline>) -> Vec<ShellCommand> {
    let last = pipelines.iter().rposition(|it| !it.is_empty).unwrap_or_default();
    // By what comes after a pipeline, from the last one on.
    let mut exit = ExitShown::Own;
    for at in (0..pipelines.len()).rev() {
        exit = match pipelines[at].next {
            Next::Other if at >= last => ExitShown::Own,
            Next::Other if pipelines[at].stops => ExitShown::IfItSucceeds,
            Next::And => exit.max(ExitShown::IfItSucceeds),
            Next::Or if pipelines.get(at + 1).is_some_and(|it| it.fails) => exit,
            Next::Background | Next::Or | Next::Other => ExitShown::Nothing,
        };
        // The command before it may have succeeded instead.
        let is_other = at > 0 && pipelines[at - 1].next == Next::Or;
        let shown = if is_other { ExitShown::Nothing } else { exit };
        raise(&mut pipelines[at].commands, shown);
    }
    pipelines.into_iter().flat_map(|it| it.commands).collect()
}
