//! The costs of the rules of a definition, and their limits.

use kubist_apimachinery::{FieldError, FieldPath};
use std::cmp::Reverse;

/// The maximum estimated cost of one rule.
const RULE_COST_MAX: u64 = 10_000_000;
/// The maximum estimated cost of all rules of a schema.
const TOTAL_COST_MAX: u64 = 100_000_000;
/// The number of expensive rules that are reported.
const REPORTED: usize = 4;

/// The costs so far.
#[derive(Debug, Default)]
pub(super) struct RuleCosts {
    total: u64,
    /// The most expensive rules, in descending order.
    expensive: Vec<(u64, FieldPath)>,
}

impl RuleCosts {
    /// Adds the cost of an expression.
    pub(super) fn add(&mut self, path: &FieldPath, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost < TOTAL_COST_MAX / 100 {
            return;
        }
        self.expensive.push((cost, path.clone()));
        self.expensive.sort_by_key(|it| Reverse(it.0));
        self.expensive.truncate(REPORTED);
    }

    /// Returns the errors of the total cost.
    pub(super) fn total_errors(&self, path: &FieldPath) -> Vec<FieldError> {
        if self.total <= TOTAL_COST_MAX {
            return Vec::new();
        }
        let detail = "contributed to estimated rule cost total exceeding cost limit for entire \
                      OpenAPIv3 schema";
        let expensive = self.expensive.iter();
        let expensive = expensive.map(|(_, path)| FieldError::forbidden(path, detail));
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let total = FieldError::forbidden(path, excess(what, self.total, TOTAL_COST_MAX));
        expensive.chain([total]).collect()
    }
}

/// Returns the error of an expression that costs too much.
pub(super) fn cost_error(path: &FieldPath, what: &str, cost: u64) -> Option<FieldError> {
    (cost > RULE_COST_MAX).then(|| FieldError::forbidden(path, excess(what, cost, RULE_COST_MAX)))
}

#[expect(clippy::cast_precision_loss, reason = "a factor is not exact")]
fn excess(what: &str, cost: u64, max: u64) -> String {
    let factor = cost as f64 / max as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding \
         maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
