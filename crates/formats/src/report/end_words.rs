//! What ended a run, in the words of a user.

use ndjson_check_core::{EndReason, ExitStatus};

/// What a reason means that the agent gave as a code.
pub(super) fn words(reason: Option<EndReason>) -> Option<&'static str> {
    Some(match reason? {
        EndReason::Auth => "it is not signed in, or may not use the model",
        EndReason::Billing => "the account has no credit left",
        EndReason::RateLimit => "the provider takes no more requests for now",
        EndReason::Overloaded => "the provider failed",
        EndReason::Network => "no connection to the provider",
        EndReason::ModelNotFound => "the provider does not have the model",
        EndReason::ContextOverflow => "the conversation no longer fits the model",
        EndReason::OutputLimit => "the answer reached the limit of the model's output",
        EndReason::Refusal => "the model refused",
        EndReason::ContentFilter => "a filter held the answer back",
        EndReason::MaxTurns => "it reached its limit of turns",
        EndReason::Budget => "it reached its limit of cost",
        EndReason::Permission => "it was not allowed to go on",
        EndReason::Tool => "a tool failed for good",
        EndReason::Config => "its configuration or its arguments are wrong",
        _ => return None,
    })
}

/// Why runs failed, in words that many share.
pub(super) fn failed_because(reason: Option<EndReason>) -> Option<&'static str> {
    Some(match reason? {
        EndReason::Auth => "failed: not signed in",
        EndReason::Billing => "failed: no credit left",
        EndReason::RateLimit => "failed: too many requests",
        EndReason::Overloaded => "failed: the provider failed",
        EndReason::Network => "failed: no connection to the provider",
        EndReason::ModelNotFound => "failed: no such model",
        EndReason::ContextOverflow => "failed: the conversation is too long",
        EndReason::OutputLimit => "failed: the answer is too long",
        EndReason::Refusal => "failed: the model refused",
        EndReason::ContentFilter => "failed: the answer was held back",
        EndReason::MaxTurns => "failed: too many turns",
        EndReason::Budget => "failed: over its budget",
        EndReason::Permission => "failed: not allowed to go on",
        EndReason::Tool => "failed: a tool failed",
        EndReason::Config => "failed: wrong configuration or arguments",
        _ => return None,
    })
}

/// What the exit status says that a shell, or `timeout`, gives in place of the agent.
pub(super) fn of_shell(
    status: Option<ExitStatus>,
    reason: Option<EndReason>,
) -> Option<&'static str> {
    match (status?, reason?) {
        (ExitStatus::Code(124), EndReason::Timeout) => Some("it timed out"),
        (ExitStatus::Code(126), EndReason::Config) => Some("the command cannot be executed"),
        (ExitStatus::Code(127), EndReason::Config) => Some("the command was not found"),
        _ => None,
    }
}

pub(super) fn signal(number: u8) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}
