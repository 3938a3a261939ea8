//! What tokens cost by the prices of a user: an estimate, where the agent reports no cost.

use super::NameGlob;
use crate::facts::{RunFacts, Usage};

/// The tokens for which a price is given.
const TOKENS_PRICED: f64 = 1e6;

/// What a million tokens of a model cost, in US dollars.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Price {
    /// A glob for the names of the models. `*` is also for a model that the stream does not name.
    pub model: String,
    /// Tokens sent to the model.
    pub input: f64,
    /// Tokens that the model wrote.
    pub output: f64,
    /// Tokens read from a cache; the price of other input, if there is none.
    pub cache_read: Option<f64>,
    /// Tokens written to a cache; the price of other input, if there is none.
    pub cache_write: Option<f64>,
}

impl Price {
    /// Without prices of a cache.
    pub fn new(model: &str, input: f64, output: f64) -> Self {
        Self { model: model.to_owned(), input, output, cache_read: None, cache_write: None }
    }
}

/// Several prices; of those that match, the one with the longest glob counts.
#[derive(Debug, Default)]
pub(crate) struct Prices(Vec<(NameGlob, Price)>);

impl Prices {
    pub(crate) fn new(prices: Vec<Price>) -> Result<Self, String> {
        let with_glob = prices.into_iter().map(|price| Ok((NameGlob::new(&price.model)?, price)));
        let mut prices = with_glob.collect::<Result<Vec<_>, String>>()?;
        prices.sort_by_key(|(_, price)| std::cmp::Reverse(price.model.len()));
        Ok(Self(prices))
    }

    /// What a run cost so far, if the agent does not say it, and says the tokens.
    pub(crate) fn estimate(&self, facts: &RunFacts) -> Option<f64> {
        match facts.cost_usd {
            Some(_) => None,
            None => self.cost(facts.model.as_deref(), &facts.usage),
        }
    }

    /// What these tokens of a model cost, if a price applies.
    pub(crate) fn cost(&self, model: Option<&str>, usage: &Usage) -> Option<f64> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let is_for = |(glob, price): &&(NameGlob, Price)| match model {
            Some(model) => glob.is_for(model),
            None => price.model == "*",
        };
        let (_, price) = self.0.iter().find(is_for)?;
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let cost = |tokens: u64, price: f64| tokens as f64 * price / TOKENS_PRICED;
        let cached = [
            (usage.cache_read_tokens, price.cache_read),
            (usage.cache_write_tokens, price.cache_write),
        ];
        let cached = cached.iter().map(|(tokens, of_cache)| {
            cost(tokens.unwrap_or_default(), of_cache.unwrap_or(price.input))
        });
        Some(cost(input, price.input) + cost(output, price.output) + cached.sum::<f64>())
    }
}
