//! `WebhookTable`: the configurations in force, compiled.

use super::hook::Hook;
use super::metrics::WebhookMetrics;
use crate::matching::{Operations, ResourceIndex};
use kubist_api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use kubist_apimachinery::Str;
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The configurations in force. Shared by the plugins and by whoever follows the configurations; a
/// change counts for every request that is admitted after it.
#[derive(Debug, Default)]
pub struct WebhookTable {
    validating: RwLock<Arc<Hooks>>,
    mutating: RwLock<Arc<Hooks>>,
    metrics: WebhookMetrics,
}

/// The webhooks of one kind of configurations.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    by_configuration: BTreeMap<Str, Vec<Arc<Hook>>>,
    index: ResourceIndex,
}

/// The name of a configuration, and its webhooks.
type Configured = (Str, Vec<Arc<Hook>>);

impl WebhookTable {
    /// Returns what is counted of calls.
    pub fn metrics(&self) -> &WebhookMetrics {
        &self.metrics
    }

    /// Adds or replaces a configuration of validating webhooks.
    pub fn put_validating(&self, of: &ValidatingWebhookConfiguration) {
        let (name, hooks) = validating(of);
        change(&self.validating, |all| drop(all.insert(name, hooks)));
    }

    /// Adds or replaces a configuration of mutating webhooks.
    pub fn put_mutating(&self, of: &MutatingWebhookConfiguration) {
        let (name, hooks) = mutating(of);
        change(&self.mutating, |all| drop(all.insert(name, hooks)));
    }

    /// Removes a configuration of validating webhooks, if it is there.
    pub fn remove_validating(&self, name: &str) {
        change(&self.validating, |all| drop(all.remove(name)));
    }

    /// Removes a configuration of mutating webhooks, if it is there.
    pub fn remove_mutating(&self, name: &str) {
        change(&self.mutating, |all| drop(all.remove(name)));
    }

    /// Replaces all configurations of validating webhooks, in one step.
    pub fn replace_validating(&self, all: &[&ValidatingWebhookConfiguration]) {
        let all = all.iter().map(|it| validating(it)).collect();
        change(&self.validating, |known| *known = all);
    }

    /// Replaces all configurations of mutating webhooks, in one step.
    pub fn replace_mutating(&self, all: &[&MutatingWebhookConfiguration]) {
        let all = all.iter().map(|it| mutating(it)).collect();
        change(&self.mutating, |known| *known = all);
    }

    pub(super) fn validating(&self) -> Arc<Hooks> {
        Arc::clone(&self.validating.read())
    }

    pub(super) fn mutating(&self) -> Arc<Hooks> {
        Arc::clone(&self.mutating.read())
    }

    pub(super) fn may_validate(&self, plural: &str, operation: Operations) -> bool {
        self.validating.read().index.may_match(plural, operation)
    }

    pub(super) fn may_mutate(&self, plural: &str, operation: Operations) -> bool {
        self.mutating.read().index.may_match(plural, operation)
    }
}

impl Hooks {
    /// Returns the webhooks by the names of their configurations, and in each in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.by_configuration.values().flatten()
    }

    fn of(by_configuration: BTreeMap<Str, Vec<Arc<Hook>>>) -> Self {
        let mut index = ResourceIndex::default();
        for hook in by_configuration.values().flatten() {
            hook.criteria.rules().iter().for_each(|it| index.add(it));
        }
        Self {
            by_configuration,
            index,
        }
    }
}

/// Returns what identifies each webhook: names need not be unique.
fn ids<'a>(
    configuration: &'a str,
    names: impl Iterator<Item = &'a str> + 'a,
) -> impl Iterator<Item = String> + 'a {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    names.map(move |name| {
        let count = seen.entry(name).or_default();
        let mut id = format!("{configuration}/{name}/");
        // Writing to a string cannot fail.
        let _written = write!(id, "{count}");
        *count += 1;
        id
    })
}

fn validating(of: &ValidatingWebhookConfiguration) -> Configured {
    let name = &of.metadata.name;
    let names = of.webhooks.iter().map(|it| &*it.name);
    let hooks = of.webhooks.iter().zip(ids(name, names));
    let hooks = hooks.map(|(it, id)| Arc::new(Hook::validating(it, name, &id)));
    (name.clone(), hooks.collect())
}

fn mutating(of: &MutatingWebhookConfiguration) -> Configured {
    let name = &of.metadata.name;
    let names = of.webhooks.iter().map(|it| &*it.name);
    let hooks = of.webhooks.iter().zip(ids(name, names));
    let hooks = hooks.map(|(it, id)| Arc::new(Hook::mutating(it, name, &id)));
    (name.clone(), hooks.collect())
}

fn change(hooks: &RwLock<Arc<Hooks>>, change: impl FnOnce(&mut BTreeMap<Str, Vec<Arc<Hook>>>)) {
    let mut hooks = hooks.write();
    let mut all = hooks.by_configuration.clone();
    change(&mut all);
    *hooks = Arc::new(Hooks::of(all));
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::admissionregistration::v1::{RuleWithOperations, ValidatingWebhook};

    fn configuration(name: &str, hooks: &[&str]) -> ValidatingWebhookConfiguration {
        let rule = RuleWithOperations {
            operations: vec!["CREATE".into()],
            api_groups: vec!["".into()],
            api_versions: vec!["v1".into()],
            resources: vec!["pods/*".into()],
            scope: None,
        };
        let mut of = ValidatingWebhookConfiguration::default();
        of.metadata.name = name.into();
        of.webhooks = hooks
            .iter()
            .map(|name| ValidatingWebhook {
                name: (*name).into(),
                rules: vec![rule.clone()],
                ..ValidatingWebhook::default()
            })
            .collect();
        of
    }

    #[test]
    fn webhooks_are_called_by_the_names_of_their_configurations() {
        let table = WebhookTable::default();
        table.put_validating(&configuration("b", &["x", "x"]));
        table.put_validating(&configuration("a", &["z", "y"]));
        let hooks = table.validating();
        let ids: Vec<&str> = hooks.iter().map(|it| &*it.id).collect();
        assert_eq!(ids, ["a/z/0", "a/y/0", "b/x/0", "b/x/1"]);
    }

    #[test]
    fn what_no_rule_names_is_not_looked_at() {
        let table = WebhookTable::default();
        assert!(!table.may_validate("pods", Operations::CREATE));
        table.put_validating(&configuration("a", &["x"]));
        assert!(table.may_validate("pods", Operations::CREATE));
        assert!(!table.may_validate("pods", Operations::DELETE));
        assert!(!table.may_validate("services", Operations::CREATE));
        assert!(!table.may_mutate("pods", Operations::CREATE));
        table.remove_validating("a");
        assert!(!table.may_validate("pods", Operations::CREATE));
    }
}
