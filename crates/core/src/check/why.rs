//! Why a run ended, and whether a retry is worth it: decided here, once.

use super::Outcome;
use super::end_of_run::{EndCause, EndOfRun, ProducerExit, TerminalState};
use super::error_text::error_line;
use crate::facts::{RetryAfter, RunFacts, message_in};
use crate::profile::{EndReason, Profile, Retryable, reason_of_provider, time_of_provider};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Why {
    pub(super) reason: EndReason,
    pub(super) retryable: Option<Retryable>,
    pub(super) retry_after: Option<RetryAfter>,
}

impl Why {
    /// `facts` are what the stream says.
    pub(super) fn decide(
        end: &EndOfRun<'_>,
        facts: &RunFacts,
        exit: &ProducerExit,
        profile: &Profile,
    ) -> Self {
        let lines = exit.stderr.iter().flatten().rev().enumerate();
        let lines = lines.filter(|(at, line)| *at == 0 || !profile.may_recover_after(line));
        let mut lines = lines.map(|(_, line)| profile.reason_in(line));
        let (on_stderr, after) = lines.find(|(reason, _)| reason.is_some()).unwrap_or_default();
        let mut after = after.and_then(RetryAfter::named);
        let mut reason = reason(end, facts.reason, on_stderr, exit);
        if reason == EndReason::Unknown {
            (reason, after) = of_provider(facts, exit).unwrap_or((reason, after));
        }
        let is_for = |only: &[EndReason]| only.is_empty() || only.contains(&reason);
        let said = facts.retry_after.filter(|_| is_for(&facts.retry_for)).or(after);
        let retry_after =
            if reason.may_pass() { said.or_else(|| time_of(facts, exit)) } else { None };
        let retryable = match retry_after {
            Some(_) => Some(Retryable::Later),
            None => reason.retryable(),
        };
        Self { reason, retryable, retry_after }
    }
}

/// What a provider of models says where the profile knows no reason: in the text of the error or,
/// without one, in the line of standard error that says what went wrong.
fn of_provider(facts: &RunFacts, exit: &ProducerExit) -> Option<(EndReason, Option<RetryAfter>)> {
    let said = text_of_error(facts, exit)?;
    let message = message_in(&said);
    let texts = [said.as_str(), &*message];
    let (reason, after) = texts.into_iter().find_map(reason_of_provider)?;
    Some((reason, after.and_then(RetryAfter::named)))
}

/// When a retry is worth it, in the same text.
fn time_of(facts: &RunFacts, exit: &ProducerExit) -> Option<RetryAfter> {
    RetryAfter::named(time_of_provider(&text_of_error(facts, exit)?)?)
}

fn text_of_error(facts: &RunFacts, exit: &ProducerExit) -> Option<String> {
    let on_stderr = || error_line(exit.stderr.as_deref()?);
    facts.unexplained.clone().or_else(|| facts.error_text.clone()).or_else(on_stderr)
}

/// What the stream says counts first, then standard error, then the exit status.
fn reason(
    end: &EndOfRun<'_>,
    said: Option<EndReason>,
    on_stderr: Option<EndReason>,
    exit: &ProducerExit,
) -> EndReason {
    match end.outcome {
        Outcome::Succeeded => return EndReason::Completed,
        Outcome::TimedOut => return EndReason::Timeout,
        Outcome::Failed | Outcome::Truncated => {}
    }
    let of_profile = end.status.and_then(|status| status.reason);
    let of_status = exit.status.and_then(EndReason::of_status);
    let timed_out = of_status.filter(|it| *it == EndReason::Timeout);
    // Some agents exit with a code above 123 that means something else.
    let is_its_meaning = |it: &EndReason| of_profile.is_none_or(|known| known == *it);
    // Without a terminal event, what the stream says may be about an error that passed.
    if let Some(said) = said.filter(|_| end.stream.terminal != TerminalState::Missing) {
        // An agent that stops at its own limit interrupts its work; its last words name the limit.
        let limits = [EndReason::Budget, EndReason::MaxTurns, EndReason::Timeout];
        let limit = on_stderr.filter(|it| limits.contains(it));
        let limit = limit.or(timed_out.filter(is_its_meaning));
        return limit.filter(|_| said == EndReason::Interrupted).unwrap_or(said);
    }
    if exit.was_interrupted {
        return EndReason::Interrupted;
    }
    match end.cause {
        EndCause::LimitExceeded => return EndReason::Budget,
        EndCause::WrongStart => return EndReason::Config,
        _ => {}
    }
    let stopped = exit.status.and_then(EndReason::of_signal).or(timed_out);
    let stopped = stopped.filter(is_its_meaning);
    let known = stopped.or(said).or(on_stderr).or(of_profile).or(of_status);
    known.unwrap_or(EndReason::Unknown)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;
    use crate::check::end_of_run::{StopReason, StreamEnd};
    use crate::check::tests::end::{BAD, GOOD, OPEN, exited, stopped};
    use crate::check::tests::{agent_with, profile};
    use crate::profile::{ExitCodes, ExitStatus};

    fn decided(
        stream: StreamEnd,
        exit: &ProducerExit,
        codes: &str,
        facts: &RunFacts,
        texts: &str,
    ) -> Why {
        let codes: ExitCodes = serde_json::from_str(codes).expect("exit codes");
        let texts: Value = serde_json::from_str(texts).expect("rules");
        let mut agent = agent_with("end", json!({ "reasons": texts }));
        agent["noise"] = json!([{
            "matches": "^Error: down", "is": "stderr", "reason": "overloaded", "may_recover": true
        }]);
        let status = exit.status.map(|status| codes.interpret(status));
        Why::decide(&EndOfRun::decide(stream, exit, status), facts, exit, &profile(agent))
    }

    fn wrote(lines: &[&str]) -> ProducerExit {
        let stderr = Some(lines.iter().map(|&line| line.to_owned()).collect());
        ProducerExit { stderr, ..exited(1) }
    }

    #[test]
    fn the_stream_comes_before_the_status() {
        let listed = r#"{ "reason": { "2": "auth", "130": "billing", "137": "killed" } }"#;
        let interrupted = ProducerExit { was_interrupted: true, ..exited(130) };
        let limit = Duration::from_secs(1);
        let none = || ProducerExit::default();
        for (stream, exit, codes, said, reason) in [
            (GOOD, exited(0), "{}", None, EndReason::Completed),
            (GOOD, exited(0), "{}", Some(EndReason::RateLimit), EndReason::Completed),
            (BAD, exited(1), "{}", Some(EndReason::RateLimit), EndReason::RateLimit),
            (BAD, exited(1), "{}", None, EndReason::Unknown),
            (OPEN, none(), "{}", None, EndReason::Unknown),
            (OPEN, none(), "{}", Some(EndReason::Network), EndReason::Network),
            (OPEN, interrupted.clone(), "{}", None, EndReason::Interrupted),
            (GOOD, interrupted, "{}", None, EndReason::Completed),
            (OPEN, ExitStatus::Signal(9).into(), "{}", None, EndReason::Killed),
            // The terminal event says why; what came before it may have passed.
            (BAD, ExitStatus::Signal(9).into(), "{}", Some(EndReason::Auth), EndReason::Auth),
            (OPEN, ExitStatus::Signal(9).into(), "{}", Some(EndReason::Auth), EndReason::Killed),
            (OPEN, stopped(StopReason::IdleTimeout { limit }), "{}", None, EndReason::Timeout),
            (OPEN, stopped(StopReason::LimitExceeded), "{}", None, EndReason::Budget),
            // The code of the profile, unless the stream says why; but a signal is a signal.
            (OPEN, exited(2), listed, None, EndReason::Auth),
            (BAD, exited(2), listed, Some(EndReason::RateLimit), EndReason::RateLimit),
            (OPEN, exited(137), listed, Some(EndReason::RateLimit), EndReason::Killed),
            // This agent exits with 130 for another reason than a signal.
            (OPEN, exited(130), listed, None, EndReason::Billing),
            (OPEN, exited(130), "{}", None, EndReason::Interrupted),
            // What `timeout` and shells say.
            (OPEN, exited(124), "{}", None, EndReason::Timeout),
            (OPEN, exited(124), "{}", Some(EndReason::Overloaded), EndReason::Timeout),
            (BAD, exited(124), "{}", Some(EndReason::Overloaded), EndReason::Overloaded),
            // The agent was interrupted by `timeout`, and said so.
            (BAD, exited(124), "{}", Some(EndReason::Interrupted), EndReason::Timeout),
            (OPEN, exited(127), "{}", None, EndReason::Config),
            (OPEN, exited(124), r#"{ "reason": { "124": "tool" } }"#, None, EndReason::Tool),
        ] {
            let facts = RunFacts { reason: said, ..RunFacts::default() };
            let why = decided(stream, &exit, codes, &facts, "[]");
            assert_eq!(why.reason, reason, "{stream:?} {exit:?}");
        }
    }

    /// Goal: an agent that stops itself is not interrupted by the user.
    #[test]
    fn a_limit_of_the_agent_is_no_interruption() {
        let texts = r#"[
            { "matches": "^Stopped: deadline$", "reason": "timeout" },
            { "matches": "^Error: no key", "reason": "auth" }
        ]"#;
        for (said, line, reason) in [
            (EndReason::Interrupted, "Stopped: deadline", EndReason::Timeout),
            (EndReason::Interrupted, "Error: no key", EndReason::Interrupted),
            (EndReason::Auth, "Stopped: deadline", EndReason::Auth),
        ] {
            let facts = RunFacts { reason: Some(said), ..RunFacts::default() };
            let why = decided(BAD, &wrote(&[line]), "{}", &facts, texts);
            assert_eq!(why.reason, reason, "{said:?} {line}");
        }
    }

    #[test]
    fn standard_error_speaks_where_the_stream_is_silent() {
        let texts = r#"[
            { "matches": "^Error: no key", "reason": "auth" },
            { "matches": "^Error: quota, back in (?<after>.*)$", "reason": "rate-limit" }
        ]"#;
        let quota = "Error: quota, back in 12m";
        let said = RunFacts { reason: Some(EndReason::Network), ..RunFacts::default() };
        let silent = RunFacts::default();
        let after = Some(RetryAfter::Seconds(720));
        for (exit, facts, reason, retryable, retry_after) in [
            (wrote(&["Error: no key"]), &silent, EndReason::Auth, Some(Retryable::No), None),
            (wrote(&[quota]), &silent, EndReason::RateLimit, Some(Retryable::Later), after),
            // The last line that says why.
            (
                wrote(&[quota, "Error: no key", "bye"]),
                &silent,
                EndReason::Auth,
                Some(Retryable::No),
                None,
            ),
            (wrote(&["the Error: no key"]), &silent, EndReason::Unknown, None, None),
            // A line that the profile knows from streams with standard error in them.
            (wrote(&["Error: down"]), &silent, EndReason::Overloaded, Some(Retryable::Yes), None),
            (wrote(&["Error: down", "bye"]), &silent, EndReason::Unknown, None, None),
            (wrote(&["Error: no key"]), &said, EndReason::Network, Some(Retryable::Yes), None),
        ] {
            let why = decided(BAD, &exit, "{}", facts, texts);
            assert_eq!(why, Why { reason, retryable, retry_after }, "{exit:?}");
        }
        let good = decided(
            GOOD,
            &ProducerExit { stderr: wrote(&[quota]).stderr, ..exited(0) },
            "{}",
            &silent,
            texts,
        );
        let completed = Why { reason: EndReason::Completed, retryable: None, retry_after: None };
        assert_eq!(good, completed, "a run that succeeded needs no retry");
    }

    #[test]
    fn the_text_of_the_error_may_tell_the_time() {
        let text = "Monthly limit reached. It will reset in 12 days.";
        let days = Some(RetryAfter::Seconds(1_036_800));
        let minute = Some(RetryAfter::Seconds(60));
        for (reason, given, expected) in [
            (EndReason::RateLimit, None, days),
            (EndReason::RateLimit, minute, minute),
            (EndReason::Auth, None, None),
        ] {
            let facts = RunFacts {
                reason: Some(reason),
                retry_after: given,
                error_text: Some(text.to_owned()),
                ..RunFacts::default()
            };
            let why = decided(BAD, &exited(1), "{}", &facts, "[]");
            assert_eq!(why.retry_after, expected, "{reason:?} {given:?}");
        }
    }

    #[test]
    fn only_reasons_that_pass_have_a_time_for_a_retry() {
        let after = Some(RetryAfter::Seconds(60));
        for (reason, retryable, retry_after) in [
            (EndReason::RateLimit, Some(Retryable::Later), after),
            (EndReason::Billing, Some(Retryable::Later), after),
            (EndReason::Overloaded, Some(Retryable::Later), after),
            (EndReason::Auth, Some(Retryable::No), None),
            (EndReason::Crash, None, None),
        ] {
            let facts =
                RunFacts { reason: Some(reason), retry_after: after, ..RunFacts::default() };
            let why = decided(BAD, &exited(1), "{}", &facts, "[]");
            assert_eq!((why.retryable, why.retry_after), (retryable, retry_after), "{reason:?}");
            let retry_for = vec![EndReason::RateLimit];
            let why = decided(BAD, &exited(1), "{}", &RunFacts { retry_for, ..facts }, "[]");
            let counts = reason == EndReason::RateLimit;
            assert_eq!(why.retry_after, after.filter(|_| counts), "only for another reason");
        }
    }
}
