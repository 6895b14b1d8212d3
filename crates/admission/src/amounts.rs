//! `Amounts`: resources by name, and how they are added, compared and printed.

use kubist_apimachinery::{Quantity, Str};
use std::collections::BTreeMap;

/// Resources by name.
pub(crate) type Amounts = BTreeMap<Str, Quantity>;

/// Adds amounts.
pub(crate) fn add(sums: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        match sums.get_mut(name) {
            Some(sum) => *sum += amount,
            None => {
                sums.insert(name.clone(), amount.clone());
            }
        }
    }
}

/// Raises amounts to those that are greater or new.
pub(crate) fn raise(greatest: &mut Amounts, amounts: &Amounts) {
    for (name, amount) in amounts {
        if greatest.get(name).is_none_or(|it| amount > it) {
            greatest.insert(name.clone(), amount.clone());
        }
    }
}

/// Returns the first amounts less the second. What would be negative is zero, also of names that
/// only the second has.
pub(crate) fn less(amounts: &Amounts, others: &Amounts) -> Amounts {
    let mut left = Amounts::new();
    for (name, amount) in amounts {
        let amount = match others.get(name) {
            Some(other) => amount.clone() - other,
            None => amount.clone(),
        };
        let amount = if amount.signum() > 0 {
            amount
        } else {
            Quantity::default()
        };
        left.insert(name.clone(), amount);
    }
    for name in others.keys() {
        left.entry(name.clone()).or_default();
    }
    left
}

/// Returns the amounts of the names for which `wanted` holds.
pub(crate) fn only(amounts: &Amounts, wanted: impl Fn(&str) -> bool) -> Amounts {
    let kept = amounts.iter().filter(|(name, _)| wanted(name));
    kept.map(|(name, amount)| (name.clone(), amount.clone()))
        .collect()
}

/// Returns amounts as upstream prints them: `cpu=1,pods=2`.
pub(crate) fn text(amounts: &Amounts) -> String {
    let texts = amounts
        .iter()
        .map(|(name, amount)| format!("{name}={amount}"));
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(pairs: &[(&str, &str)]) -> Amounts {
        let made = pairs.iter().map(|(name, amount)| {
            let amount = amount.parse().expect("it is a quantity");
            (Str::from(*name), amount)
        });
        made.collect()
    }

    #[test]
    fn amounts_are_added_raised_and_lessened_by_name() {
        let mut sum = amounts(&[("cpu", "100m"), ("memory", "1Gi")]);
        add(&mut sum, &amounts(&[("cpu", "1"), ("pods", "2")]));
        assert_eq!(text(&sum), "cpu=1100m,memory=1Gi,pods=2");
        raise(&mut sum, &amounts(&[("cpu", "1"), ("pods", "3")]));
        assert_eq!(text(&sum), "cpu=1100m,memory=1Gi,pods=3");
        let left = less(&sum, &amounts(&[("cpu", "2"), ("pods", "1"), ("x", "1")]));
        assert_eq!(text(&left), "cpu=0,memory=1Gi,pods=2,x=0");
        assert_eq!(text(&only(&left, |name| name == "pods")), "pods=2");
    }
}
