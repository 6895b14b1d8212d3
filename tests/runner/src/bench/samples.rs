//! `Samples`: one figure as several rounds found it, with its median and its spread.
//!
//! The spread is half the range that is left without the lowest and the highest round, as a share
//! of the median. Such a round is usually one during which the machine did something else; with
//! fewer than five rounds there are too few to leave any out.

use super::table::fixed;
use serde_json::{Value, json};

/// Rounds from which the lowest and the highest are left out of the spread.
const TRIMMED: usize = 5;

/// The values of a figure, in ascending order; none of them is NaN or infinite.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    /// Takes the values of all rounds. Rounds without a figure are left out.
    pub(super) fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().filter(|it| it.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// Returns the figure of a single measurement.
    pub(super) fn once(value: f64) -> Self {
        Self::new([value])
    }

    /// Returns the median, or NaN if no round had the figure.
    pub(super) fn median(&self) -> f64 {
        let (above, below) = (self.0.len() / 2, self.0.len().saturating_sub(1) / 2);
        match (self.0.get(below), self.0.get(above)) {
            (Some(below), Some(above)) => f64::midpoint(*below, *above),
            _ => f64::NAN,
        }
    }

    /// Returns the spread as a share of the median: 0.06 is ±6 %. `None` with a single round, which
    /// says nothing about it.
    pub(super) fn spread(&self) -> Option<f64> {
        let last = self.0.len().checked_sub(1).filter(|&last| last > 0)?;
        let left_out = usize::from(self.0.len() >= TRIMMED);
        let range = self.0[last - left_out] - self.0[left_out];
        let median = self.median().abs();
        // Rounds that all found nothing agree.
        Some(if range > 0.0 {
            range / 2.0 / median
        } else {
            0.0
        })
    }

    /// Returns the same in another unit.
    pub(super) fn times(&self, factor: f64) -> Self {
        Self::new(self.0.iter().map(|it| it * factor))
    }

    /// Returns the median in this form, with the spread: `4.2 µs ±6 %`.
    pub(super) fn show(&self, form: impl Fn(f64) -> String) -> String {
        let median = form(self.median());
        match self.spread() {
            Some(spread) => format!("{median} ±{:.0} %", spread * 100.0),
            None => median,
        }
    }

    /// Returns the median with this many decimals, with the spread.
    pub(super) fn fixed(&self, digits: usize) -> String {
        self.show(|it| fixed(it, digits))
    }

    pub(super) fn json(&self) -> Value {
        json!({"median": self.median(), "spread": self.spread(), "rounds": self.0})
    }

    /// Reads what [`Samples::json`] wrote: the rounds are all of it.
    pub(super) fn of_json(json: &Value) -> Self {
        let rounds = json["rounds"].as_array().into_iter().flatten();
        Self::new(rounds.filter_map(Value::as_f64))
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn the_median_of_rounds_is_in_the_middle_whatever_their_order() {
        assert!((Samples::new([9.0, 1.0, 2.0]).median() - 2.0).abs() < 1e-9);
        assert!((Samples::new([1.0, 2.0, 3.0, 9.0]).median() - 2.5).abs() < 1e-9);
        assert!(Samples::new([]).median().is_nan());
    }

    #[test]
    fn five_rounds_have_the_spread_of_those_in_the_middle() {
        let samples = Samples::new([1.0, 95.0, 100.0, 105.0, 900.0]);
        assert!((samples.spread().unwrap() - 0.05).abs() < 1e-9);
        assert_eq!(samples.fixed(0), "100 ±5 %");
    }

    #[test]
    fn fewer_rounds_have_the_spread_of_all_and_one_has_none() {
        let samples = Samples::new([80.0, 100.0, 120.0]);
        assert!((samples.spread().unwrap() - 0.2).abs() < 1e-9);
        assert_eq!(Samples::once(7.0).spread(), None);
        assert_eq!(Samples::once(7.0).fixed(1), "7.0");
    }

    #[test]
    fn a_round_without_the_figure_is_left_out() {
        let samples = Samples::new([f64::NAN, 3.0, 3.0]);
        assert_eq!(samples.fixed(0), "3 ±0 %");
        assert_eq!(Samples::new([f64::NAN]).fixed(0), "–");
    }

    #[test]
    fn rounds_that_all_found_nothing_agree() {
        assert_eq!(Samples::new([0.0, 0.0, 0.0]).spread(), Some(0.0));
    }

    #[test]
    fn a_figure_is_the_same_after_it_was_stored() {
        let samples = Samples::new([1.5, 2.5, 4.0]).times(2.0);
        assert_eq!(Samples::of_json(&samples.json()), samples);
    }
}
