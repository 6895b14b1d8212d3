//! `Table`: the metrics of one family, one for each combination of labels.
//!
//! A kind with its verbs and scopes has dozens of metrics, and a server may serve a thousand kinds
//! of definitions. So a metric here is a few numbers and its labels are static strings, and the
//! metrics of a kind end with it.

use super::distribution::Distribution;
use super::exposition::Family;
use hashbrown::HashMap;
use kubist_registry::metrics::Count;
use parking_lot::RwLock;
use prometheus::proto::MetricFamily;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The labels of a metric; those that its family does not have are empty. The fields are in the
/// order in which Prometheus sorts labels.
#[derive(Clone, Copy, Debug, Default, Eq, PartialOrd, Ord)]
pub(crate) struct Labels {
    pub(super) code: u16,
    pub(super) component: &'static str,
    pub(super) dry_run: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) scope: &'static str,
    pub(super) subresource: &'static str,
    pub(super) verb: &'static str,
    pub(super) version: &'static str,
}

impl Labels {
    /// All but the code; what tells most metrics apart is first.
    fn texts(&self) -> [&'static str; 8] {
        let Self {
            code: _,
            component,
            dry_run,
            group,
            resource,
            scope,
            subresource,
            verb,
            version,
        } = *self;
        [
            resource,
            verb,
            group,
            version,
            subresource,
            scope,
            component,
            dry_run,
        ]
    }

    fn value(&self, name: &str) -> Cow<'static, str> {
        Cow::Borrowed(match name {
            "code" => return self.code.to_string().into(),
            "component" => self.component,
            "dry_run" => self.dry_run,
            "group" => self.group,
            "resource" => self.resource,
            "scope" => self.scope,
            "subresource" => self.subresource,
            "verb" => self.verb,
            "version" => self.version,
            _ => "",
        })
    }
}

/// The same text is most often the same string, which is cheaper to tell than to read.
impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        let mut texts = self.texts().into_iter().zip(other.texts());
        self.code == other.code
            && texts.all(|(own, other)| std::ptr::eq(own, other) || own == other)
    }
}

/// Of what any number of metrics may differ in: the rest, which has a few values, is compared.
impl Hash for Labels {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
        for text in &self.texts()[..5] {
            text.hash(state);
        }
    }
}

/// A number that goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicI64);

impl Gauge {
    pub(crate) fn increment(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn decrement(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn add(&self, more: i64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[expect(clippy::cast_precision_loss, reason = "it counts requests")]
    pub(super) fn value(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64
    }
}

/// A metric in a table.
pub(super) trait Row: Sized {
    /// The type of the family.
    const FAMILY: fn(&'static str, &'static str, &'static [&'static str]) -> Family;

    fn add_to(&self, family: &mut Family, labels: &[&str]);
}

impl Row for Count {
    const FAMILY: fn(&'static str, &'static str, &'static [&'static str]) -> Family =
        Family::counter;

    fn add_to(&self, family: &mut Family, labels: &[&str]) {
        family.count(labels, self.value());
    }
}

impl Row for Gauge {
    const FAMILY: fn(&'static str, &'static str, &'static [&'static str]) -> Family = Family::gauge;

    fn add_to(&self, family: &mut Family, labels: &[&str]) {
        family.set(labels, self.value());
    }
}

impl Row for Distribution {
    const FAMILY: fn(&'static str, &'static str, &'static [&'static str]) -> Family =
        Family::histogram;

    fn add_to(&self, family: &mut Family, labels: &[&str]) {
        family.observed(labels, &self.state());
    }
}

/// A family of metrics.
pub(super) struct Table<M> {
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    new: fn() -> M,
    rows: RwLock<HashMap<Labels, Arc<M>>>,
}

impl<M: Row> Table<M> {
    /// Creates an empty family with these labels, which are sorted.
    pub(super) fn new(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
        new: fn() -> M,
    ) -> Self {
        debug_assert!(labels.is_sorted(), "{name}");
        Self {
            name,
            help,
            labels,
            new,
            rows: RwLock::default(),
        }
    }

    /// Returns the metric with these labels.
    pub(super) fn get(&self, labels: Labels) -> Arc<M> {
        if let Some(known) = self.rows.read().get(&labels) {
            return Arc::clone(known);
        }
        let mut rows = self.rows.write();
        Arc::clone(rows.entry(labels).or_insert_with(|| Arc::new((self.new)())))
    }

    /// Uses the metric with these labels.
    pub(super) fn with(&self, labels: Labels, count: impl FnOnce(&M)) {
        if let Some(known) = self.rows.read().get(&labels) {
            return count(known);
        }
        count(&self.get(labels));
    }

    /// Drops the metrics of resources that are not served and not in use. Returns whether others
    /// that are not served remain.
    pub(super) fn retain(&self, is_served: &dyn Fn(&Labels) -> bool) -> bool {
        let (mut remain, mut rows) = (false, self.rows.write());
        rows.retain(|labels, row| {
            let is_served = labels.resource.is_empty() || is_served(labels);
            let in_use = !is_served && Arc::strong_count(row) > 1;
            remain |= in_use;
            is_served || in_use
        });
        // Without room for those that are gone.
        if rows.capacity() > 4 * rows.len() {
            rows.shrink_to_fit();
        }
        remain
    }

    fn sorted(&self) -> Vec<(Labels, Arc<M>)> {
        let rows = self.rows.read();
        let mut rows: Vec<_> = rows
            .iter()
            .map(|(it, row)| (*it, Arc::clone(row)))
            .collect();
        rows.sort_unstable_by_key(|(labels, _)| *labels);
        rows
    }

    /// Returns the family, if it has metrics.
    pub(super) fn family(&self) -> Option<MetricFamily> {
        let family = M::FAMILY(self.name, self.help, self.labels);
        self.fill(family, M::add_to)
    }

    /// Adds each metric, with the values of its labels, to a family.
    fn fill(
        &self,
        mut family: Family,
        add: impl Fn(&M, &mut Family, &[&str]),
    ) -> Option<MetricFamily> {
        for (labels, row) in self.sorted() {
            let values = self.labels.iter().map(|name| labels.value(name));
            let values: Vec<Cow<'_, str>> = values.collect();
            let values: Vec<&str> = values.iter().map(|it| &**it).collect();
            add(&row, &mut family, &values);
        }
        family.finish()
    }
}

impl Table<Distribution> {
    /// Returns the number of observations as a family of its own.
    pub(super) fn counts(&self, name: &'static str, help: &'static str) -> Option<MetricFamily> {
        let family = Family::counter(name, help, self.labels);
        self.fill(family, |row, family, values| {
            family.count(values, row.state().count());
        })
    }
}

/// Returns the family of a single gauge for each value of one label.
pub(super) fn gauges(
    name: &'static str,
    help: &'static str,
    labels: &'static [&'static str],
    values: &[(&str, &Gauge)],
) -> Option<MetricFamily> {
    let mut family = Family::gauge(name, help, labels);
    for (label, gauge) in values {
        family.set(&[*label], gauge.value());
    }
    family.finish()
}

/// Returns the family of a counter without labels.
pub(super) fn counter(
    name: &'static str,
    help: &'static str,
    count: &Count,
) -> Option<MetricFamily> {
    let mut family = Family::counter(name, help, &[]);
    family.count(&[], count.value());
    family.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_of_a_resource_that_is_gone_end_once_they_are_not_in_use() {
        let table = Table::new("x", "x", &["resource"], Gauge::default);
        let of = |resource| Labels {
            resource,
            ..Labels::default()
        };
        for resource in ["", "pods", "widgets"] {
            table.with(of(resource), Gauge::increment);
        }
        let held = table.get(of("widgets"));
        let is_served = |labels: &Labels| labels.resource == "pods";
        assert!(table.retain(&is_served), "a request still counts in it");
        assert_eq!(table.sorted().len(), 3);
        drop(held);
        assert!(!table.retain(&is_served));
        let left = table.sorted().into_iter().map(|it| it.0.resource);
        assert_eq!(left.collect::<Vec<_>>(), ["", "pods"]);
        assert!(table.family().is_some());
    }
}
