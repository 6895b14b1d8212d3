//! The indexer's byte budget: which objects are admitted, whole or reduced to metadata.

use super::Indexer;
use crate::{BudgetError, BudgetStats, ByteBudget, OverBudget, Weigh};
use kubist_apimachinery::Object;
use std::collections::VecDeque;
use std::sync::Arc;

/// The number of refusals kept for [`Indexer::take_budget_errors`]; older ones are dropped.
pub const BUDGET_ERRORS_MAX: usize = 100;

/// A budget and its usage. It holds functions instead of a trait bound, so that stores of forms
/// without a known size exist.
pub(super) struct Budget<K> {
    limit: ByteBudget,
    weight: fn(&K) -> u64,
    without_body: fn(&K) -> Option<K>,
    is_whole: fn(&K) -> bool,
    used: u64,
    degraded: u64,
    degraded_total: u64,
    refused_total: u64,
    errors: VecDeque<BudgetError>,
}

impl<K: Weigh> Indexer<K> {
    /// Limits the memory of the objects from now on. Objects that are already stored stay.
    pub fn set_budget(&mut self, limit: ByteBudget) {
        self.set_limit(limit, K::weight, K::without_body, K::is_whole);
    }
}

impl<K: Object> Indexer<K> {
    /// Does the same as [`Self::set_budget`] for objects without a smaller form, such as decoded
    /// ones: objects that do not fit are refused. `weight` returns an object's size in bytes and
    /// must return the same at each call; [`ByteBudget::decoded_weight`] and
    /// [`ByteBudget::projected_weight`] are suitable.
    pub fn set_refusing_budget(&mut self, max_bytes: u64, weight: fn(&K) -> u64) {
        let over = OverBudget::Refuse;
        self.set_limit(ByteBudget { max_bytes, over }, weight, |_| None, |_| true);
    }

    fn set_limit(
        &mut self,
        limit: ByteBudget,
        weight: fn(&K) -> u64,
        without_body: fn(&K) -> Option<K>,
        is_whole: fn(&K) -> bool,
    ) {
        let mut budget = Budget {
            limit,
            weight,
            without_body,
            is_whole,
            used: 0,
            degraded: 0,
            degraded_total: 0,
            refused_total: 0,
            errors: VecDeque::new(),
        };
        for object in self.state().objects.iter() {
            budget.count(object);
        }
        self.budget = Some(budget);
    }
}

impl<K: Object> Indexer<K> {
    /// Returns the usage of the budget; all zero without a budget.
    pub fn budget_stats(&self) -> BudgetStats {
        self.budget.as_ref().map(Budget::stats).unwrap_or_default()
    }

    /// Returns the refusals since the last call, at most [`BUDGET_ERRORS_MAX`].
    pub fn take_budget_errors(&mut self) -> Vec<BudgetError> {
        let budget = self.budget.as_mut();
        budget.map_or_else(Vec::new, |it| it.errors.drain(..).collect())
    }

    /// Returns the form in which an object is admitted in place of `old`, if it is admitted.
    pub(super) fn admit(&mut self, object: Arc<K>, old: Option<&Arc<K>>) -> Option<Arc<K>> {
        match &mut self.budget {
            Some(budget) => budget.admit(object, old),
            None => Some(object),
        }
    }
}

impl<K: Object> Budget<K> {
    fn stats(&self) -> BudgetStats {
        BudgetStats {
            max_bytes: self.limit.max_bytes,
            used_bytes: self.used,
            degraded: self.degraded,
            degraded_total: self.degraded_total,
            refused_total: self.refused_total,
        }
    }

    fn admit(&mut self, object: Arc<K>, old: Option<&Arc<K>>) -> Option<Arc<K>> {
        let freed = old.map_or(0, |old| (self.weight)(old));
        let bytes = (self.weight)(&object);
        let others = self.used.saturating_sub(freed);
        if others.saturating_add(bytes) > self.limit.max_bytes {
            match self.limit.over {
                OverBudget::DegradeToMetadata => {
                    if let Some(cut) = (self.without_body)(&object) {
                        self.degraded_total += 1;
                        self.exchange(&cut, old);
                        return Some(Arc::new(cut));
                    }
                }
                OverBudget::Refuse => {
                    self.refused_total += 1;
                    if self.errors.len() == BUDGET_ERRORS_MAX {
                        self.errors.pop_front();
                    }
                    self.errors.push_back(BudgetError {
                        object: object.object_name(),
                        bytes,
                        used: others,
                        max_bytes: self.limit.max_bytes,
                    });
                    return None;
                }
            }
        }
        self.exchange(&object, old);
        Some(object)
    }

    fn exchange(&mut self, new: &K, old: Option<&Arc<K>>) {
        if let Some(old) = old {
            self.discount(old);
        }
        self.count(new);
    }

    pub(super) fn count(&mut self, object: &K) {
        self.used = self.used.saturating_add((self.weight)(object));
        self.degraded += u64::from(!(self.is_whole)(object));
    }

    pub(super) fn discount(&mut self, object: &K) {
        self.used = self.used.saturating_sub((self.weight)(object));
        self.degraded = self
            .degraded
            .saturating_sub(u64::from(!(self.is_whole)(object)));
    }

    /// Resets the usage before a list, which brings everything anew.
    pub(super) fn begin(&mut self) {
        self.used = 0;
        self.degraded = 0;
    }

    /// Reports whether a list may restore the body of an object whose version did not change.
    pub(super) fn completes(&self, held: &K, object: &K) -> bool {
        let bytes = (self.weight)(object);
        !(self.is_whole)(held)
            && (self.is_whole)(object)
            && self.used.saturating_add(bytes) <= self.limit.max_bytes
    }
}
