//! What a user demands of a run, as plain data.

use crate::profile::CallKind;

/// Declares a method for each field, since other crates cannot write a struct that may get more.
macro_rules! setters {
    ($type:ident { $($field:ident: $value:ty,)+ } texts { $($text:ident)* }) => {
        impl $type {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, value: impl Into<$value>) -> Self {
                    self.$field = value.into();
                    self
                }
            )+
            $(
                #[doc = concat!("Sets `", stringify!($text), "`.")]
                #[must_use]
                pub fn $text(mut self, value: impl Into<String>) -> Self {
                    self.$text = Some(value.into());
                    self
                }
            )*
        }
    };
}

/// Limits of a run. What is not set has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// US dollars, by the agent's own figure.
    pub cost: Option<f64>,
    /// Tokens sent to the model and written by it, those from a cache included.
    pub tokens: Option<u64>,
    /// Turns of the model.
    pub turns: Option<u64>,
    /// Tool calls.
    pub calls: Option<u64>,
    /// Tool calls that failed.
    pub failed_calls: Option<u64>,
    /// Where the agent reports no cost, the cost by the prices of
    /// [`CheckerBuilder::prices`](super::CheckerBuilder::prices) is limited.
    pub estimates: bool,
}

setters!(Limits {
    cost: Option<f64>,
    tokens: Option<u64>,
    turns: Option<u64>,
    calls: Option<u64>,
    failed_calls: Option<u64>,
    estimates: bool,
} texts {});

/// What is expected of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "there are few of them")]
pub enum Expectation {
    /// The answer matches this regular expression.
    AnswerMatches(String),
    /// The answer is JSON, and satisfies this JSON Schema, which is JSON text.
    AnswerSatisfies(String),
    /// There are so many calls of a sort, or the last of them succeeded.
    Calls(ExpectedCalls),
    /// Calls write and delete only files that match one of these globs.
    WritesWithin(Vec<String>),
    /// No call writes or deletes a file that matches one of these globs.
    WritesNever(Vec<String>),
    /// The name of the model matches this glob.
    Model(String),
    /// The session has this id.
    Session(String),
    /// For each of these globs there is a tool server that the agent can use.
    Servers(Vec<String>),
    /// For each of these globs the agent has a tool.
    Tools(Vec<String>),
}

/// Which calls are expected, and how many of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExpectedCalls {
    /// What messages call them: `test` for test calls.
    pub name: Option<String>,
    /// Only calls of this kind.
    pub kind: Option<CallKind>,
    /// Only calls of tools whose name matches this glob.
    pub tool: Option<String>,
    /// Only calls whose detail, a path or a command, matches this regular expression.
    pub matches: Option<String>,
    /// Only calls with a command whose first words match this regular expression. Quotes, variables
    /// and programs such as `sudo` or `npx` are left out. The exit status must be that of the
    /// command; otherwise the output shows whether it succeeded.
    pub runs: Option<String>,
    /// Commands that match this regular expression do not count for `runs`.
    pub except: Option<String>,
    /// So many of them must succeed, if the run does.
    pub at_least: Option<u64>,
    /// No more of them may be tried; one that was refused does not count.
    pub at_most: Option<u64>,
    /// If the run succeeds, there must be one, and the last of them must have succeeded. So must
    /// those that overlap it, unless they were refused.
    pub last_must_succeed: bool,
    /// Only calls that start after the last call of this kind has ended; all, if there is none.
    pub after: Option<CallKind>,
    /// Only calls that start before the first call of this kind.
    pub before: Option<CallKind>,
    /// Only calls whose result has a match of this regular expression.
    pub output_matches: Option<String>,
    /// Only calls whose result has no match of this regular expression.
    pub output_never: Option<String>,
    /// Calls whose result has a match of this regular expression do not count, unless it also has
    /// one of `output_passed`.
    pub output_nothing: Option<String>,
    /// A result with a match of this regular expression shows that the command of `runs`
    /// succeeded, where the exit status is not its own.
    pub output_passed: Option<String>,
    /// The same for a command that failed.
    pub output_failed: Option<String>,
    /// Each of them must come after a successful call of this kind with the same path.
    pub requires: Option<CallKind>,
}

setters!(ExpectedCalls {
    kind: Option<CallKind>,
    at_least: Option<u64>,
    at_most: Option<u64>,
    last_must_succeed: bool,
    after: Option<CallKind>,
    before: Option<CallKind>,
    requires: Option<CallKind>,
} texts {
    name tool matches runs except
    output_matches output_never output_nothing output_passed output_failed
});

impl ExpectedCalls {
    /// Whether its parts make sense together.
    ///
    /// # Errors
    ///
    /// What is wrong with it, as [`CheckerBuilder::build`](super::CheckerBuilder::build) says it.
    pub fn check(&self) -> Result<(), &'static str> {
        let kind = self.kind.or(self.runs.as_ref().map(|_| CallKind::Command));
        let has_text = self.tool.is_some() || self.matches.is_some() || self.runs.is_some();
        let is_counted = self.at_least.is_some_and(|it| it > 0)
            || self.at_most.is_some()
            || self.last_must_succeed;
        let is_judged = self.output_passed.is_some() || self.output_failed.is_some();
        let needed = self.at_least.unwrap_or_else(|| u64::from(self.last_must_succeed));
        let (runs, except) = (self.runs.as_deref(), self.except.as_deref());
        match () {
            () if kind.is_none() && !has_text => {
                Err("no calls are named: set `kind`, `tool`, `matches` or `runs`")
            }
            () if runs == Some("") => Err("`runs` is empty"),
            () if except == Some("") => Err("`except` is empty: every command matches it"),
            () if runs.is_some_and(has_idle_space) => {
                Err("`runs` cannot match: single spaces separate words, and none is at an end")
            }
            () if runs.is_some_and(has_shell_syntax) => Err(
                "`runs` cannot match: it sees each command of a line by itself, without quotes \
                 and variables; for the whole line, use `matches`",
            ),
            () if runs.is_some() && kind != Some(CallKind::Command) => {
                Err("`runs` is for calls of the kind `command`")
            }
            () if except.is_some() && runs.is_none() => Err("`except` needs `runs`"),
            () if is_judged && runs.is_none() => {
                Err("`passed` and `failed` of an output need `runs`")
            }
            () if self.after.is_some() && self.after == kind => {
                Err("`after` is the kind of the calls: none comes after the last of its kind")
            }
            () if self.before.is_some() && self.before == kind => {
                Err("`before` is the kind of the calls: none comes before the first of its kind")
            }
            () if !is_counted && self.requires.is_none() => Err(
                "nothing is demanded: set `at_least`, `at_most`, `last_must_succeed` or `requires`",
            ),
            () if self.at_most.is_some_and(|most| most < needed) => {
                Err("fewer calls are allowed than are needed")
            }
            () => Ok(()),
        }
    }
}

/// Whether a pattern for commands has a space that no command has: at an end, or after another
/// one. Groups, classes, alternatives and repetitions may give a space another meaning.
fn has_idle_space(pattern: &str) -> bool {
    let has = pattern.trim() != pattern || pattern.contains("  ");
    has && !pattern.contains(['(', '[', '|', '*', '?', '+', '{', '\\'])
}

/// Whether a pattern for commands has what no command has by itself: an operator between commands,
/// a redirection, a quote, or a variable that is set in front.
fn has_shell_syntax(pattern: &str) -> bool {
    const OPERATORS: [&str; 8] = [" && ", " \\|", "\\| ", "\\|\\s", " > ", " 2>", "\"", "'"];
    let first = pattern.trim_start_matches('^').split([' ', '\\']).next().unwrap_or_default();
    let variable = first.split_once('=').map(|(name, _)| name);
    let is_name = |name: &str| name.chars().all(|it| it.is_ascii_uppercase() || it == '_');
    let is_plain = !pattern.starts_with("(?");
    let has_operator = OPERATORS.iter().any(|operator| pattern.contains(operator));
    is_plain && (has_operator || variable.is_some_and(is_name))
}

#[cfg(test)]
mod tests {
    use super::{CallKind, ExpectedCalls};

    #[test]
    fn what_cannot_fail_or_be_met_is_refused() {
        let calls = ExpectedCalls::default;
        for wrong in [
            calls().at_least(1),
            calls().runs("make"),
            calls().runs("make").at_least(0),
            calls().runs("").at_most(0),
            calls().runs("git push ").at_most(0),
            calls().runs("cd app && make").at_least(1),
            calls().runs("make").except("").at_least(1),
            calls().runs("make").kind(CallKind::Read).at_most(0),
            calls().kind(CallKind::Command).except("make").at_least(1),
            calls().kind(CallKind::Command).output_passed("ok").at_least(1),
            calls().runs("make").at_least(3).at_most(1),
            calls().runs("make").last_must_succeed(true).at_most(0),
            calls().kind(CallKind::Write).after(CallKind::Write).at_least(1),
            calls().runs("make").before(CallKind::Command).at_least(1),
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
        for right in [
            calls().runs("make").except("make -n").output_passed("ok").at_least(1),
            calls().tool("Bash").at_most(0),
            calls().kind(CallKind::Write).requires(CallKind::Read),
            calls().matches("make").last_must_succeed(true).after(CallKind::Write),
        ] {
            assert_eq!(right.check(), Ok(()), "{right:?}");
        }
    }
}
