//! Stage: the limits that a user set for the run.

use std::fmt;
use std::sync::Arc;

use super::calls::CallCounts;
use super::expect::Context;
use crate::check::end_of_run::EndCause;
use crate::check::prices::Prices;
use crate::check::{Limits, MessageUsage, counted};
use crate::facts::RunFacts;
use crate::rules::Rule;
use crate::rules::diagnostic::Diagnostic;

#[derive(Debug)]
pub(crate) struct LimitCheck {
    limited: Vec<Limited>,
    pub(crate) is_exceeded: bool,
    /// If an estimate counts where the agent reports no cost.
    prices: Option<Arc<Prices>>,
    messages: MessageSums,
}

/// Sums of all messages: of sub-agents, too, and before the agent says the sum.
#[derive(Debug, Default)]
struct MessageSums {
    tokens: u64,
    /// By the prices of the user.
    cost: Option<f64>,
}

#[derive(Debug)]
struct Limited {
    of: Figure,
    /// Where the limit is in the configuration file.
    demand: &'static str,
    /// What a stream may not report.
    name: &'static str,
    limit: Amount,
    /// Where the figure passed the limit first (line and offset), and the figure reached since.
    exceeded: Option<((u64, u64), Amount)>,
}

#[derive(Debug, Clone, Copy)]
enum Figure {
    Cost,
    Tokens,
    Turns,
    Calls,
    FailedCalls,
}

#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Amount {
    Dollars(f64),
    Count(u64),
}

/// What the stream shows of a figure.
#[derive(Debug, Clone, Copy)]
struct Reading {
    known: Option<Amount>,
    /// Whether `known` is all of it.
    is_whole: bool,
}

impl LimitCheck {
    pub(crate) fn new(limits: &Limits, prices: &Arc<Prices>) -> Self {
        let Limits { cost, tokens, turns, calls, failed_calls, estimates } = *limits;
        let limits = [
            (Figure::Cost, "limits.cost", "the cost", cost.map(Amount::Dollars)),
            (Figure::Tokens, "limits.tokens", "the tokens", tokens.map(Amount::Count)),
            (Figure::Turns, "limits.turns", "the turns", turns.map(Amount::Count)),
            (Figure::Calls, "limits.calls", "the tool calls", calls.map(Amount::Count)),
            (
                Figure::FailedCalls,
                "limits.failed-calls",
                "which tool calls failed",
                failed_calls.map(Amount::Count),
            ),
        ];
        let limited = limits.into_iter().filter_map(|(of, demand, name, limit)| {
            Some(Limited { of, demand, name, limit: limit?, exceeded: None })
        });
        let prices = estimates.then(|| Arc::clone(prices));
        Self {
            limited: limited.collect(),
            is_exceeded: false,
            prices,
            messages: MessageSums::default(),
        }
    }

    pub(crate) fn message(&mut self, message: &MessageUsage, facts: &RunFacts) {
        let MessageUsage { model, usage, .. } = message;
        let sums = &mut self.messages;
        sums.tokens = sums.tokens.saturating_add(usage.known_tokens().unwrap_or_default());
        let model = model.as_deref().or(facts.model.as_deref());
        if let Some(cost) = self.prices.as_ref().and_then(|prices| prices.cost(model, usage)) {
            *sums.cost.get_or_insert_default() += cost;
        }
    }

    /// Observes the figures after an event at this line and offset.
    pub(crate) fn observe(&mut self, place: (u64, u64), facts: &RunFacts, calls: CallCounts) {
        for limited in &mut self.limited {
            let reading = limited.of.read(facts, calls, self.prices.as_deref());
            let is_reported = matches!(limited.of, Figure::Cost) && facts.cost_usd.is_some();
            let messages = self.messages.of(limited.of).filter(|_| !is_reported);
            let known = reading.known.into_iter().chain(messages);
            let Some(figure) = known.reduce(Amount::larger) else { continue };
            if figure > limited.limit {
                let (first, _) = limited.exceeded.unwrap_or((place, figure));
                limited.exceeded = Some((first, figure));
                self.is_exceeded = true;
            }
        }
    }

    pub(crate) fn finish(
        &self,
        (facts, calls): (&RunFacts, CallCounts),
        context: Context,
        found: &mut Vec<Diagnostic>,
    ) {
        let was_stopped = context.cause == EndCause::LimitExceeded;
        for Limited { of, demand, name, limit, exceeded } in &self.limited {
            let reading = of.read(facts, calls, self.prices.as_deref());
            // A call that failed may turn out to have been refused. If the limit ended the run,
            // the figure at that time is reported.
            // A cost that the agent reports in the end replaces an estimate.
            let is_replaced = match of {
                Figure::FailedCalls => true,
                Figure::Cost => facts.cost_usd.is_some(),
                Figure::Tokens | Figure::Turns | Figure::Calls => false,
            };
            let reached = exceeded.map(|(place, figure)| match reading.known {
                Some(known) if !was_stopped && is_replaced => (place, known),
                _ => (place, figure),
            });
            if let Some(((line, offset), figure)) = reached.filter(|(_, it)| it > limit) {
                let is_reported = facts.cost_usd.is_some_and(|it| figure == Amount::Dollars(it));
                let is_estimate = matches!(of, Figure::Cost) && !is_reported;
                let by = if is_estimate { " by your prices" } else { "" };
                let (reached, limit) = match (of.reached(figure), limit.to_string()) {
                    // Digits that are not shown differ.
                    (reached, limit_text) if reached.ends_with(&format!(" {limit_text}")) => {
                        (format!("cost {figure:#}"), format!("{limit:#}"))
                    }
                    both => both,
                };
                let message = format!("the run {reached}{by}; the limit is {limit}");
                let mut diagnostic = Diagnostic::new(Rule::LimitExceeded, message);
                diagnostic.note = was_stopped.then(|| "the run was ended".to_owned());
                found.push(diagnostic.at(line, offset).of_demand(demand));
            } else if !reading.is_whole
                || !context.shows_calls && matches!(of, Figure::Calls | Figure::FailedCalls)
            {
                let has_prices = matches!(of, Figure::Cost) && self.prices.is_some();
                let usage = &facts.usage;
                let has_tokens = usage.input_tokens.is_some() && usage.output_tokens.is_some();
                let prices = match (has_prices, has_tokens) {
                    (false, _) => "",
                    (true, true) => ", and no price applies",
                    (true, false) if self.messages.tokens > 0 => " or all of the tokens",
                    (true, false) => " or the tokens",
                };
                let message =
                    format!("the limit is {limit}, but the stream does not report {name}{prices}");
                found.push(Diagnostic::new(Rule::LimitUnknown, message).of_demand(demand));
            }
        }
    }
}

impl MessageSums {
    fn of(&self, figure: Figure) -> Option<Amount> {
        match figure {
            Figure::Tokens => (self.tokens > 0).then_some(Amount::Count(self.tokens)),
            Figure::Cost => self.cost.map(Amount::Dollars),
            Figure::Turns | Figure::Calls | Figure::FailedCalls => None,
        }
    }
}

impl Figure {
    fn read(self, facts: &RunFacts, calls: CallCounts, prices: Option<&Prices>) -> Reading {
        let whole = |known: Option<Amount>| Reading { known, is_whole: known.is_some() };
        let usage = &facts.usage;
        match self {
            Self::Cost => {
                let estimate = || prices?.estimate(facts);
                whole(facts.cost_usd.or_else(estimate).map(Amount::Dollars))
            }
            Self::Turns => whole(facts.turns.map(Amount::Count)),
            Self::Calls => whole(Some(Amount::Count(calls.total))),
            Self::FailedCalls => {
                Reading { known: Some(Amount::Count(calls.failed)), is_whole: calls.unknown == 0 }
            }
            Self::Tokens => Reading {
                known: usage.known_tokens().map(Amount::Count),
                is_whole: usage.input_tokens.is_some() && usage.output_tokens.is_some(),
            },
        }
    }

    /// What the run did.
    fn reached(self, amount: Amount) -> String {
        match (self, amount) {
            (Self::Tokens, Amount::Count(count)) => format!("used {}", counted(count, "token")),
            (Self::Turns, Amount::Count(count)) => {
                format!("took {} by the agent's count", counted(count, "turn"))
            }
            (Self::Calls, Amount::Count(count)) => format!("made {}", counted(count, "tool call")),
            (Self::FailedCalls, Amount::Count(count)) => {
                format!("had {}", counted(count, "failed tool call"))
            }
            (_, amount) => format!("cost {amount}"),
        }
    }
}

impl Amount {
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dollars(dollars) if out.alternate() => write!(out, "${dollars}"),
            Self::Dollars(dollars) => {
                let text = format!("{dollars:.4}");
                // Cents, and more digits if there are any.
                let cents = text.strip_suffix("00").unwrap_or(&text);
                write!(out, "${cents}")
            }
            Self::Count(count) => count.fmt(out),
        }
    }
}
