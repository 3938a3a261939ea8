//! The built-in profiles: one folder of `src/profile/builtin` each. `build.rs` lists them.

use std::borrow::Cow;
use std::cell::Cell;

use ndjson_check_shell::{ExitShown, NAMED_BY, is_shell, run_of};

use crate::json::{Keyword, List, PackedTexts, Scalar, Schema, SchemaTable};

/// The profile of a stream without events, if none is named.
pub const DEFAULT: &str = "cursor";

/// The profile of a stream without events that comes from a command which no profile knows.
pub(crate) const FRAMING: &str = "jsonl";

/// An older name of the default agent's program.
const DEFAULT_PROGRAM: &str = "cursor-agent";

/// The default agent's program.
const ANY_PROGRAM: &str = "agent";

/// The profile of what this program writes.
const OWN: &str = "events";

pub(super) struct BuiltInProfile {
    pub(super) name: &'static str,
    /// How the agent is called, if it has a program.
    command: Option<&'static str>,
    /// With what it inherits, in as few bytes as possible: it is read at every start.
    pub(super) resolved: &'static str,
    /// The schema of its events, a JSON text.
    pub(super) schema: &'static str,
    /// The same schema, as the evaluator reads it.
    pub(super) table: SchemaTable,
}

/// The text of each built-in profile, as its author wrote it, in the order of the profiles. A
/// program that does not show it is built without it.
static TEXTS: &[&str] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));

static BUILT_IN: &[BuiltInProfile] = {
    use Keyword::{
        AllOf, AnyOf, Const, DependentSchemas, Enum, If, Items, Members, MinItems, MinLength,
        MinProperties, Minimum, Never, Not, OneOf, Pattern, Ref, Required, Types,
    };
    use Scalar::{Bool, Null, Text};
    include!(concat!(env!("OUT_DIR"), "/builtin.rs"))
};

impl BuiltInProfile {
    /// The default one, then the others by name.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        let others = BUILT_IN.iter().filter(|profile| profile.name != DEFAULT);
        Self::find(DEFAULT).into_iter().chain(others)
    }

    pub(super) fn compiled_schema(&'static self) -> Schema {
        Schema::built_in(self.name, self.schema, &self.table)
    }

    /// JSON text.
    pub(super) fn text(&self) -> &'static str {
        let at = BUILT_IN.iter().position(|profile| profile.name == self.name);
        TEXTS[at.expect("it is one of them")]
    }

    /// The one whose agent this program is, or runs: `timeout 9m claude -p`.
    pub(super) fn of_call(program: &str, arguments: &[String]) -> Option<&'static Self> {
        Self::of_program(program, arguments).or_else(|| Self::behind(program, arguments))
    }

    /// The agent that a wrapper runs, if the output and the exit status are the agent's.
    fn behind(wrapper: &str, arguments: &[String]) -> Option<&'static Self> {
        let runs_others = arguments.iter().any(|it| it.contains(['>', '|', ';', '\n']));
        // Their line may have other commands.
        if (is_shell(wrapper) || wrapper == "script") && runs_others {
            return None;
        }
        let words: Vec<&str> = arguments.iter().flat_map(|it| it.split_whitespace()).collect();
        let is_value = |name: &str| {
            words.windows(2).any(|pair| NAMED_BY.contains(&pair[0]) && pair[1] == name)
        };
        // Many programs are called `agent`: `python -m agent`.
        let is_called = |name: &str, agent: &Self| {
            let mut options = agent.command.unwrap_or_default().split(' ').skip(1);
            let is_given =
                |it: &str| words.iter().any(|word| *word == it || is_short_for(word, it));
            name != ANY_PROGRAM || options.any(is_given)
        };
        let quoted = arguments.iter().map(|it| format!("'{}'", it.replace('\'', r"'\''")));
        let line = [wrapper.to_owned()].into_iter().chain(quoted).collect::<Vec<_>>().join(" ");
        let found = Cell::new(None);
        let run = run_of(&line, |command| {
            let mut words = command.split(' ').map(str::to_owned);
            let program = words.next().unwrap_or_default();
            let agent = Self::of_program(&program, &words.collect::<Vec<_>>());
            let agent =
                agent.filter(|it| it.name != OWN && !is_value(&program) && is_called(&program, it));
            found.set(found.get().or(agent));
            agent.is_some()
        });
        run.filter(|run| run.exit == ExitShown::Own).and_then(|_| found.get())
    }

    /// The one whose name the program has, or that names this program. If several do, the one whose
    /// call shares most words with this call.
    fn of_program(program: &str, arguments: &[String]) -> Option<&'static Self> {
        let program = if program == DEFAULT_PROGRAM { DEFAULT } else { program };
        let given: Vec<&str> = arguments.iter().flat_map(|it| it.split('=')).collect();
        let is_given = |word: &&str| given.iter().any(|it| it == word || is_short_for(word, it));
        let shared = |profile: &Self| {
            profile.command.unwrap_or_default().split([' ', '=']).filter(is_given).count()
        };
        let has_it = |profile: &&Self| {
            let command = profile.command.and_then(|command| command.split(' ').next());
            command.is_some() && (profile.name == program || command == Some(program))
        };
        let known = BUILT_IN.iter().filter(has_it);
        known.max_by_key(|profile| (shared(profile), profile.name == program))
    }

    pub(super) fn find(name: &str) -> Option<&'static Self> {
        BUILT_IN.iter().find(|profile| profile.name == name)
    }
}

/// Whether it can be the letter of this option: `-p` of `--prompt`.
fn is_short_for(letter: &str, option: &str) -> bool {
    letter.len() == 2 && option.starts_with("--") && option[1..].starts_with(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_that_share_a_program_differ_in_their_calls() {
        for (call, expected) in [
            ("claude -p", "claude"),
            ("cursor-agent -p", "cursor"),
            ("agent --print", "cursor"),
            ("codex exec --json", "codex"),
            ("kimi", "kimi"),
            ("kimi --print -p x --output-format=stream-json", "kimi"),
            ("kimi -p x --output-format stream-json", "kimi-code"),
            ("kimi --prompt x --output-format stream-json", "kimi-code"),
            ("kimi --print --prompt x", "kimi"),
            ("grok -p x --output-format streaming-json", "grok"),
            ("grok -p x --output-format=streaming-messages-json", "grok-messages"),
        ] {
            assert_eq!(agent(&call.split(' ').collect::<Vec<_>>()), Some(expected), "{call}");
        }
        assert_eq!(agent(&["make"]), None);
        assert_eq!(agent(&["jsonl"]), None);
    }

    #[test]
    fn wrappers_run_agents() {
        for (call, expected) in [
            (&["timeout", "9m", "claude", "-p", "it's here; make"][..], Some("claude")),
            (&["env", "CI=1", "codex", "exec", "fix it"], Some("codex")),
            (&["npx", "-y", "opencode", "run"], Some("opencode")),
            (&["bash", "-c", "cd app && claude -p 'fix it'"], Some("claude")),
            (&["bash", "-c", "claude -p 'fix it' | tee log"], None),
            (&["bash", "-c", "claude -p 'fix it' > log"], None),
            (&["bash", "-c", "npm test; claude --version"], None),
            (&["sudo", "-u", "claude", "./nightly"], None),
            (&["docker", "run", "--name", "claude", "image", "make"], None),
            (&["npx", "-y", "jsonl", "log"], None),
            (&["python", "-m", "agent"], None),
            (&["timeout", "9m", "agent", "-p", "fix it"], Some("cursor")),
            (&["timeout", "9m", "agent", "--print", "fix it"], Some("cursor")),
            (&["uvx", "--from", "kimi", "tool"], None),
            (&["timeout", "9m", "ndjson-check", "--to", "events", "x"], None),
            (&["bash", "-c", "claude -p 'fix it' || true"], None),
            (&["python", "claude.py", "claude"], None),
            (&["timeout", "9m", "make", "claude"], None),
        ] {
            assert_eq!(agent(call), expected, "{call:?}");
        }
    }

    fn agent(call: &[&str]) -> Option<&'static str> {
        let arguments: Vec<String> = call[1..].iter().map(|&it| it.to_owned()).collect();
        BuiltInProfile::of_call(call[0], &arguments).map(|profile| profile.name)
    }

    /// Goal: the program finds the places of a table that was written when it was built.
    #[test]
    fn tables_are_those_of_their_documents() {
        for profile in BUILT_IN {
            let schema = serde_json::from_str(profile.schema).expect("JSON");
            let written = SchemaTable::new(&schema).expect("a table");
            assert_eq!(format!("{:?}", profile.table), format!("{written:?}"), "{}", profile.name);
        }
    }
}
