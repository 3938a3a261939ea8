//! Commands one after the other, and which of them the exit status of all is about.

use super::ending::PipelineEnd;
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

impl Next {
    /// Whether what comes next is run only if this fails, or only if it does not.
    pub(super) fn depends(self) -> bool {
        matches!(self, Self::And | Self::Or)
    }
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) commands: Vec<ShellCommand>,
    /// Whether it is only a blank line or a comment.
    pub(super) is_empty: bool,
    pub(super) ending: PipelineEnd,
    /// Whether it is in a block, and may not be run.
    pub(super) is_in_block: bool,
    /// Whether the shell stops if it fails.
    pub(super) stops: bool,
    /// What comes before it, or before the block that it ends.
    pub(super) before: Next,
    pub(super) next: Next,
}

impl Pipeline {
    /// Whether it ends the shell with the status of the pipeline before it: `exit`.
    fn passes_on(&self) -> bool {
        let is_run = !self.is_in_block && self.next == Next::Other;
        is_run && self.ending == PipelineEnd::ExitsAsBefore
    }
}

/// The exit status says no more of the commands than this.
pub(super) fn raise(commands: &mut [ShellCommand], exit: ExitShown) {
    for command in commands {
        command.exit = command.exit.max(exit);
        command.exit_unstopped = command.exit_unstopped.max(exit);
    }
}

/// The commands of a list, with what its exit status says of them.
pub(super) fn judged(mut pipelines: Vec<Pipeline>) -> Vec<ShellCommand> {
    let shown = exits(&pipelines, true);
    let unstopped = exits(&pipelines, false);
    for (pipeline, (exit, unstopped)) in pipelines.iter_mut().zip(shown.into_iter().zip(unstopped))
    {
        // Where the command before `&&` fails, the shell does not stop, and this is not run.
        let is_skipped = pipeline.before == Next::And;
        let unstopped = if is_skipped { unstopped.max(ExitShown::IfItSucceeds) } else { unstopped };
        for command in &mut pipeline.commands {
            command.exit = command.exit.max(exit);
            command.exit_unstopped = command.exit_unstopped.max(unstopped);
        }
    }
    pipelines.into_iter().flat_map(|it| it.commands).collect()
}

/// What the exit status of a list says of each of its pipelines, where the shell stops at the first
/// one that fails, if it has that option, or where it never does.
fn exits(pipelines: &[Pipeline], may_stop: bool) -> Vec<ExitShown> {
    let last = pipelines.iter().rposition(|it| !it.is_empty).unwrap_or_default();
    let mut exits = vec![ExitShown::Nothing; pipelines.len()];
    // By what comes after a pipeline, from the last one on.
    let (mut exit, mut by_stop, mut in_background) = (ExitShown::Own, false, false);
    let mut behind = None;
    for at in (0..pipelines.len()).rev() {
        let Pipeline { stops, next, .. } = pipelines[at];
        match next {
            Next::Other | Next::Background => {
                in_background = next == Next::Background;
                let is_last = at >= last || behind.is_some_and(Pipeline::passes_on);
                by_stop = !in_background && !is_last && stops && may_stop;
                exit = match () {
                    () if by_stop => ExitShown::IfItSucceeds,
                    () if !in_background && is_last => ExitShown::Own,
                    () => ExitShown::Nothing,
                };
            }
            // The shell does not stop at a failure before `&&`.
            Next::And if by_stop => exit = ExitShown::Nothing,
            Next::And => exit = exit.max(ExitShown::IfItSucceeds),
            Next::Or => match pipelines.get(at + 1).map(|it| it.ending) {
                Some(PipelineEnd::Fails) => {}
                Some(PipelineEnd::ExitsInFailure | PipelineEnd::ExitsAsBefore)
                    if !in_background =>
                {
                    (exit, by_stop) = (exit.min(ExitShown::IfItSucceeds), false);
                }
                _ => exit = ExitShown::Nothing,
            },
        }
        // It may not be run, and the shell goes on.
        let is_skipped = match pipelines[at].before {
            Next::Or => true,
            Next::And => by_stop,
            Next::Background | Next::Other => false,
        };
        exits[at] = if is_skipped { ExitShown::Nothing } else { exit };
        behind = Some(&pipelines[at]).filter(|it| !it.is_empty).or(behind);
    }
    if let Some(exit) = first_exit(pipelines) {
        exits[exit + 1..].fill(ExitShown::Nothing);
    }
    exits
}

/// The first pipeline that may end the shell without a failure.
pub(super) fn first_exit(pipelines: &[Pipeline]) -> Option<usize> {
    let (mut first, mut in_background) = (None, false);
    for (at, pipeline) in pipelines.iter().enumerate().rev() {
        if !pipeline.next.depends() {
            in_background = pipeline.next == Next::Background;
        }
        let may_exit = match pipeline.ending {
            PipelineEnd::Exits => true,
            PipelineEnd::ExitsAsBefore => pipeline.before != Next::Or,
            PipelineEnd::None | PipelineEnd::Fails | PipelineEnd::ExitsInFailure => false,
        };
        if may_exit && !in_background {
            first = Some(at);
        }
    }
    first
}
