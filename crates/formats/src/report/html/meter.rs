//! Tokens and cost while a run went on.

use ndjson_check_core::{Figures, MessageUsage};

use super::clock::Moment;

const POINTS_MAX: usize = 400;

const POINTS_MIN: usize = 3;

/// What had been used when: sums that never fall.
#[derive(Debug, Default)]
pub(super) struct Meter {
    points: Vec<MeterPoint>,
    /// How often every second point was dropped: each then covers twice as many sums.
    halvings: u32,
    /// The sums that the last point covers.
    in_last: u64,
    /// The tokens of all messages.
    messages: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MeterPoint {
    pub(super) at: Moment,
    pub(super) tokens: u64,
    pub(super) cost: f64,
}

impl Meter {
    pub(super) fn message(&mut self, usage: &MessageUsage, at: Moment) {
        self.messages =
            self.messages.saturating_add(usage.usage.known_tokens().unwrap_or_default());
        self.add(at, self.messages, 0.0);
    }

    /// The agent says what it has used so far.
    pub(super) fn figures(&mut self, figures: &Figures, at: Moment) {
        self.add(
            at,
            figures.usage.known_tokens().unwrap_or_default(),
            figures.cost_usd.unwrap_or_default(),
        );
    }

    fn add(&mut self, at: Moment, tokens: u64, cost: f64) {
        let (known_tokens, known_cost) =
            self.points.last().map_or((0, 0.0), |last| (last.tokens, last.cost));
        if tokens <= known_tokens && cost <= known_cost {
            return;
        }
        let point = MeterPoint { at, tokens: tokens.max(known_tokens), cost: cost.max(known_cost) };
        match self.points.last_mut() {
            Some(last) if self.in_last < 1 << self.halvings => *last = point,
            _ => {
                self.points.push(point);
                self.in_last = 0;
            }
        }
        self.in_last += 1;
        if self.points.len() > POINTS_MAX {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.halvings += 1;
        }
    }

    /// The points, if they are more than a sum at the end, and whether tokens and cost grow.
    pub(super) fn curves(&self) -> (&[MeterPoint], bool, bool) {
        let grows = |value: fn(&MeterPoint) -> f64| {
            let mut values: Vec<f64> =
                self.points.iter().map(value).filter(|it| *it > 0.0).collect();
            values.dedup();
            values.len() >= POINTS_MIN
        };
        #[expect(clippy::cast_precision_loss, reason = "to draw it")]
        let tokens = grows(|point| point.tokens as f64);
        (&self.points, tokens, grows(|point| point.cost))
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::Clock;
    use super::*;

    #[test]
    fn the_points_of_a_long_run_are_even() {
        let (mut meter, mut clock) = (Meter::default(), Clock::default());
        for tokens in 1..=10_000 {
            meter.add(clock.tick(tokens, None), tokens, 0.0);
        }
        let sums: Vec<u64> = meter.curves().0.iter().map(|point| point.tokens).collect();
        assert!((POINTS_MAX / 2..=POINTS_MAX).contains(&sums.len()), "{sums:?}");
        assert_eq!((sums.first(), sums.last()), (Some(&1), Some(&10_000)));
        let widest = sums.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(widest <= Some(10_000 / 200 * 2), "{sums:?}");
    }
}
