//! How a command, or a list, ends the shell.

use super::list::{Next, Pipeline, first_exit};
use super::wrappers::without_prefix;

/// What a command, or the last one of a list, does to the shell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum PipelineEnd {
    #[default]
    None,
    /// It fails, and what comes next is run: `false`.
    Fails,
    /// `exit 1`
    ExitsInFailure,
    /// With 0, or with a status that is not known: `exit 0`, `exec ls`.
    Exits,
    /// With the status of the command before: `exit`.
    ExitsAsBefore,
}

impl PipelineEnd {
    pub(super) fn of(words: &[String]) -> Self {
        // `\exit` is `exit`, even if that is an alias.
        let words = without_prefix(words).iter().map(|it| it.trim_start_matches('\\'));
        let command: Vec<&str> = words.collect();
        match command[..] {
            ["false"] => Self::Fails,
            ["exit"] | ["exit", "$?"] => Self::ExitsAsBefore,
            ["exit", status] if status.eq_ignore_ascii_case("$LASTEXITCODE") => Self::ExitsAsBefore,
            ["exit", status] if is_failure(status) => Self::ExitsInFailure,
            // Outside of a function some shells end, and others go on.
            ["return", status] if is_failure(status) => Self::Fails,
            ["exit" | "return", ..] | ["exec", _, ..] => Self::Exits,
            ["trap", "--", action, ref signals @ ..] | ["trap", action, ref signals @ ..]
                if ends_otherwise(action, signals) =>
            {
                Self::Exits
            }
            _ => Self::None,
        }
    }

    pub(super) fn of_list(pipelines: &[Pipeline]) -> Self {
        let end = pipelines.iter().rposition(|it| !it.is_empty);
        let Some(last) = end.map(|end| &pipelines[end]) else { return Self::None };
        match (last.ending, last.before) {
            _ if first_exit(pipelines).is_some_and(|first| Some(first) < end) => Self::Exits,
            _ if last.next == Next::Background => Self::None,
            (Self::Exits, _) => Self::Exits,
            (Self::ExitsAsBefore, _) if end > Some(0) => Self::Exits,
            (_, Next::Or) => Self::None,
            // Where the command before fails, so does the list.
            (Self::ExitsInFailure, Next::And) => Self::Fails,
            (ending, _) => ending,
        }
    }

    /// Behind `!`, and in a block, where it may be a condition: `if false; then`.
    pub(super) fn without_failure(self) -> Self {
        if self == Self::Fails { Self::None } else { self }
    }

    pub(super) fn of_subshell(self) -> Self {
        match self {
            Self::ExitsInFailure | Self::Fails => Self::Fails,
            Self::Exits | Self::ExitsAsBefore | Self::None => Self::None,
        }
    }
}

fn is_failure(status: &str) -> bool {
    status.parse().is_ok_and(|it: i32| it & 0xff != 0)
}

fn is_one_of(signals: &[&str], names: &[&str]) -> bool {
    signals.iter().any(|signal| names.iter().any(|name| name.eq_ignore_ascii_case(signal)))
}

/// The commands of a text that may end the shell, whatever groups, blocks and quotes they are in.
fn commands(text: &str) -> Vec<Vec<String>> {
    let text = text.replace(['"', '\''], "").replace("${", "$");
    let commands = text.split([';', '\n', '&', '|', '(', ')', '{', '}']);
    let commands = commands.map(|it| it.split_whitespace().map(str::to_owned).collect());
    let returns = |words: &[String]| words.first().is_some_and(|it| it == "return");
    let ends = |it: &Vec<String>| !it.is_empty() && !returns(without_prefix(it));
    commands.filter(ends).collect()
}

/// Whether the body of a function may end the shell without a failure.
pub(super) fn may_end(body: &str) -> bool {
    commands(body).iter().any(|words| match PipelineEnd::of(words) {
        PipelineEnd::Exits | PipelineEnd::ExitsAsBefore => true,
        // Without quotes, its action is several words.
        _ => words.iter().any(|it| it == "trap") && words.iter().any(|it| it == "exit"),
    })
}

/// Whether the action of a `trap` may end the shell with another status than it had: `exit` alone
/// does not, and neither does `code=$?; …; exit $code`.
pub(super) fn ends_otherwise(action: &str, signals: &[&str]) -> bool {
    let is_at_failure = is_one_of(signals, &["DEBUG", "ERR"]);
    if !is_at_failure && !is_one_of(signals, &["0", "EXIT", "SIGEXIT"]) {
        return false;
    }
    let commands = commands(action);
    let first = commands.first().and_then(|it| it.last());
    let saved = first.and_then(|it| it.strip_suffix("=$?"));
    let sets = |word: &str, name: &str| {
        word.split_once('=').is_some_and(|(it, value)| it == name && !value.starts_with('='))
    };
    let is_set_once =
        |name: &&str| commands.iter().flatten().filter(|word| sets(word, name)).count() == 1;
    let saved = saved.filter(is_set_once);
    commands.iter().enumerate().any(|(at, words)| {
        let status = words.last().map_or("", |word| word);
        match PipelineEnd::of(words) {
            PipelineEnd::Exits => status.strip_prefix('$').is_none_or(|it| saved != Some(it)),
            // When the shell ends, `exit` knows its status.
            PipelineEnd::ExitsAsBefore => at > 0 && (is_at_failure || status == "$?"),
            _ => false,
        }
    })
}
