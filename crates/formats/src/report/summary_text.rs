//! The numbers in reports that a person reads.

use ndjson_check_core::{
    Bound, EndReason, Note, Outcome, Rule, StreamSummary, counted,
    escape::{clipped, visible},
};

use super::headline::{CUT_SHORT, failure_at};
use super::{Headline, RunTotals, duration};

/// Longest name of an agent or a model, in bytes.
const NAME_BYTES_MAX: usize = 60;

/// What exit statuses mean that say nothing else.
pub(super) const RUN_FAILED: &str = "the run failed";

/// The outcome of a stream, with the reason for one that is not a success.
pub(crate) fn outcome(summary: &StreamSummary) -> String {
    let reason = match (summary.outcome, summary.facts.reason) {
        (Outcome::Failed | Outcome::Truncated, Some(reason)) if reason != EndReason::Unknown => {
            format!(" ({})", reason.name())
        }
        _ => String::new(),
    };
    let outcome = match summary.outcome {
        Outcome::Truncated if summary.events == 0 => "no event",
        Outcome::Truncated => CUT_SHORT,
        Outcome::TimedOut => "timed out",
        outcome => outcome.name(),
    };
    format!("{outcome}{reason}")
}

/// What is known of why a run did not succeed: the agent's own words, how its process ended, what
/// the check noted about the end, and the line of standard error that names the error. Not escaped.
pub(super) fn reasons(summary: &StreamSummary, headline: &Headline) -> Vec<String> {
    if headline.is_foreign() {
        // The profile of another agent misreads them.
        return Vec::new();
    }
    let mut reasons: Vec<String> = summary.facts.error_text.iter().cloned().collect();
    // After a timeout we ended it.
    let status = summary.exit_status.filter(|_| summary.outcome != Outcome::TimedOut);
    reasons.extend(status.filter(|status| !status.is_success()).map(|it| it.to_string()));
    let explains = |note: &&Note| match note {
        Note::TimedOut(_) | Note::CutShort { .. } => true,
        Note::ExitStatusMeaning(meaning) => meaning != RUN_FAILED,
        Note::FailureReported { .. } => summary.facts.error_text.is_none(),
        _ => false,
    };
    let notes = news(summary, headline).filter(explains);
    reasons.extend(notes.map(Note::to_string));
    reasons.extend(summary.error_line().map(|line| format!("stderr: {line}")));
    reasons
}

/// The reasons that the headline does not say.
pub(super) fn more_reasons(summary: &StreamSummary, headline: &Headline) -> Vec<String> {
    let status = summary.exit_status.map(|status| status.to_string());
    let mut reasons = reasons(summary, headline);
    reasons.retain(|reason| {
        let begins = ["stderr: ", "the exit status means: "];
        let text = begins.iter().find_map(|begin| reason.strip_prefix(begin)).unwrap_or(reason);
        Some(reason) != status.as_ref() && !headline.says(text)
    });
    reasons
}

/// How many errors and warnings there are, after a dot; nothing for none.
pub(super) fn found(totals: &RunTotals) -> String {
    let found = [(totals.errors, "error"), (totals.warnings, "warning")];
    let found = found.iter().filter(|(count, _)| *count > 0);
    let found = found.map(|(count, what)| counted(*count, what));
    let known = (totals.known > 0).then(|| format!("{} in the baseline", totals.known));
    let found: Vec<String> = found.chain(known).collect();
    if found.is_empty() { String::new() } else { format!(" · {}", found.join(", ")) }
}

/// Who ran, and the most useful numbers, in the same order for every agent. `title` is the name
/// of the agent. Nothing in it misleads.
pub(super) fn figures(title: &str, summary: &StreamSummary) -> Vec<String> {
    let numbers = numbers(summary).into_iter();
    let numbers = numbers.skip_while(|number| number == "0 events");
    names(title, summary).into_iter().chain(numbers).collect()
}

/// The same without what the headline says: the exit status of most failures.
pub(super) fn figures_below(
    title: &str,
    summary: &StreamSummary,
    headline: &Headline,
) -> Vec<String> {
    if headline.is_foreign() {
        return vec![events(summary)];
    }
    let mut figures = figures(title, summary);
    let status = summary.exit_status.map(|status| status.to_string());
    figures.retain(|figure| status.as_ref() != Some(figure) || !headline.rest.contains(figure));
    figures
}

/// What is said of a stream of another agent: by the wrong profile other figures mislead.
pub(super) fn events(summary: &StreamSummary) -> String {
    counted(summary.events, "event")
}

/// The names of the agent and of the model, if the stream shows who ran.
pub(super) fn names(title: &str, summary: &StreamSummary) -> Vec<String> {
    if summary.events == 0 {
        return Vec::new();
    }
    let facts = &summary.facts;
    let version = facts.agent_version.iter().map(|version| format!(" {version}"));
    let agent: String = [agent_in(title).to_owned()].into_iter().chain(version).collect();
    let names = [agent].into_iter().chain(facts.model.clone());
    names.map(|name| clipped(&visible(&name), NAME_BYTES_MAX).into_owned()).collect()
}

/// The name of the agent in the title of its profile.
pub(super) fn agent_in(title: &str) -> &str {
    title.split_once(": ").map_or(title, |(name, _)| name)
}

/// Whether a note is wrong about the stream.
pub(super) fn misleads(note: &Note, headline: &Headline) -> bool {
    match note {
        // By the profile of another agent all notes mislead.
        _ if headline.is_foreign() => !note.is_of_check(),
        // There is no event to which a profile applies.
        Note::ProfileFallback { .. } => true,
        _ => false,
    }
}

/// The notes that say what neither the headline nor a finding says.
pub(super) fn news<'s>(
    summary: &'s StreamSummary,
    headline: &'s Headline,
) -> impl Iterator<Item = &'s Note> {
    summary.notes.iter().filter(|note| is_news(note, summary, headline))
}

fn is_news(note: &Note, summary: &StreamSummary, headline: &Headline) -> bool {
    let found = |rule| summary.rule_counts.contains_key(&rule);
    match note {
        _ if misleads(note, headline) => false,
        Note::OutcomeUnknown => headline.passed,
        // It is about the list of the json report.
        Note::LimitReached(Bound::ToolCalls) => false,
        // A finding, or the sentence, says the same.
        Note::ExitStatusMeaning(meaning) if meaning == RUN_FAILED => headline.passed,
        Note::ExitStatusMeaning(_) if found(Rule::ExitStatusContradictsResult) => false,
        Note::CutShort { no_terminal_event: true, .. } if found(Rule::TruncatedLine) => false,
        Note::FailureReported { .. } if found(Rule::SuccessAfterFatalError) => false,
        Note::FailureReported { line, sign } => {
            let is_said = headline.rest == failure_at(summary, *line, *sign);
            headline.passed || summary.facts.error_text.is_none() && !is_said
        }
        _ => true,
    }
}

/// The most useful numbers of one stream, in the same order for every agent.
pub(super) fn numbers(summary: &StreamSummary) -> Vec<String> {
    let mut numbers = Vec::new();
    if summary.known > 0 {
        numbers.push(format!("{} in the baseline", summary.known));
    }
    numbers.push(events(summary));
    let facts = &summary.facts;
    numbers.extend(facts.turns.map(|turns| counted(turns, "turn")));
    let calls = summary.call_counts;
    if calls.total > 0 {
        let others = [
            (calls.failed, "failed"),
            (calls.rejected, "rejected"),
            (calls.denied, "denied"),
            (calls.unfinished, "unfinished"),
            (calls.unknown, "outcome unknown"),
        ];
        numbers.push(format!("{}{}", counted(calls.total, "call"), aside(listed(&others))));
    }
    numbers.extend(summary.exit_status.map(|status| status.to_string()));
    numbers.extend(facts.cost_usd.map(dollars));
    let estimate = facts.estimated_cost_usd;
    numbers.extend(estimate.map(|cost| format!("about {} by your prices", dollars(cost))));
    if let Some(tokens) = facts.usage.tokens_in() {
        let cached = facts.usage.cache_read_tokens.filter(|cached| *cached > 0);
        let cached = cached.map(|cached| format!("{} cached", short(cached)));
        let unit = if tokens == 1 { "token" } else { "tokens" };
        let cached = aside(cached.unwrap_or_default());
        numbers.push(format!("{} {unit} in{cached}", short(tokens)));
    }
    if let Some(tokens) = facts.usage.output_tokens {
        let unit = match tokens {
            _ if facts.usage.tokens_in().is_some() => "out",
            1 => "token out",
            _ => "tokens out",
        };
        numbers.push(format!("{} {unit}", short(tokens)));
    }
    numbers.extend(facts.duration_ms.map(duration));
    numbers
}

/// In parentheses, with a space before them; nothing for nothing.
fn aside(text: String) -> String {
    if text.is_empty() { text } else { format!(" ({text})") }
}

/// Cents, and more digits of what is less than ten cents.
pub fn dollars(cost: f64) -> String {
    if cost == 0.0 || cost >= 0.1 { format!("${cost:.2}") } else { format!("${cost:.4}") }
}

/// With three digits: `138`, `1.23 k`, `69.6 k`, `6.05 M`.
pub fn short(number: u64) -> String {
    if number < 1_000 {
        return number.to_string();
    }
    let units = [(1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    // From half a step below the next unit on, the number is rounded to one of it.
    let is_of = |(unit, _): &&(u64, _)| number < 1_000 * unit - unit / 2;
    let Some((unit, name)) = units.iter().find(is_of).or(units.last()) else {
        return number.to_string();
    };
    let rounded = |step: u64| number.saturating_add(step / 2) / step;
    let (hundredths, tenths) = (rounded(unit / 100), rounded(unit / 10));
    match () {
        () if hundredths < 1_000 => format!("{}.{:02} {name}", hundredths / 100, hundredths % 100),
        () if tenths < 1_000 => format!("{}.{} {name}", tenths / 10, tenths % 10),
        () => format!("{} {name}", rounded(*unit)),
    }
}

/// With a space between groups of three digits.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(" ")
}

/// The counts that are not zero.
fn listed(counts: &[(u64, &str)]) -> String {
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_rounded() {
        for (number, text) in [
            (999, "999"),
            (1_000, "1.00 k"),
            (9_994, "9.99 k"),
            (9_995, "10.0 k"),
            (39_556, "39.6 k"),
            (99_950, "100 k"),
            (999_499, "999 k"),
            (999_500, "1.00 M"),
            (6_049_999, "6.05 M"),
            (1_234_500_000_000, "1235 G"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
