//! The controller of `ClusterRole`s that combine others: `rules` of a role with an
//! `aggregationRule` are those of all roles that its selectors select, as upstream's controller
//! writes them.
//!
//! Rules of the selected roles come in the order of the roles' names, each once. Who may write such
//! a role's `aggregationRule` is the API server's business.

use kubist_api::rbac::v1::{ClusterRole, PolicyRule};
use kubist_apimachinery::{Object as _, ObjectName, Selector};
use kubist_cache::Lister;
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs until `token` is cancelled.
///
/// # Errors
/// `ClusterRole`s could not be listed for two minutes.
pub async fn run(client: Client, token: CancellationToken) -> Result<Stats, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let roles = factory.informer::<ClusterRole>();
    // Any role can be a part of any other, so all are looked at: there are few, and a burst of
    // changes is one key.
    let controller = Controller::keyed("cluster-role-aggregation")
        .watches(&roles, |_: &ClusterRole| vec![ObjectName::default()]);
    let reconciler = Aggregation {
        api: Api::all(client),
        roles: roles.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

struct Aggregation {
    api: Api<ClusterRole>,
    roles: Lister<ClusterRole>,
}

impl Reconciler for Aggregation {
    async fn reconcile(&self, _all: ObjectName) -> Result<Action, Error> {
        let mut roles = self.roles.list();
        roles.sort_by(|one, other| one.name().cmp(other.name()));
        for role in roles.iter().filter(|it| it.aggregation_rule.is_some()) {
            let rules = combined(role, &roles);
            if rules == role.rules {
                continue;
            }
            let mut updated = ClusterRole::clone(role);
            updated.rules = rules;
            match self.api.replace(&updated).await {
                // A newer state is on its way.
                Err(error) if error.is_conflict() || error.is_not_found() => {}
                written => drop(written?),
            }
        }
        Ok(Action::done())
    }
}

/// Returns the rules of all roles that a role selects; the roles are sorted.
fn combined(role: &ClusterRole, roles: &[Arc<ClusterRole>]) -> Vec<PolicyRule> {
    let selectors = role.aggregation_rule.iter();
    let selectors = selectors.flat_map(|it| &it.cluster_role_selectors);
    // The API server refuses selectors that are none.
    let selectors: Vec<Selector> = selectors.filter_map(|it| it.try_into().ok()).collect();
    let mut rules: Vec<PolicyRule> = Vec::new();
    for selector in &selectors {
        for part in roles.iter().filter(|it| it.name() != role.name()) {
            if !selector.matches(|key| part.metadata.labels.get(key).map(|it| &**it)) {
                continue;
            }
            for rule in &part.rules {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::rbac::v1::AggregationRule;
    use kubist_apimachinery::LabelSelector;

    fn role(name: &str, label: Option<&str>, verbs: &[&str]) -> Arc<ClusterRole> {
        let mut role = ClusterRole::default();
        role.metadata.name = name.into();
        if let Some(label) = label {
            role.metadata.labels.insert(label.into(), "true".into());
        }
        let rule = |verb: &&str| PolicyRule {
            verbs: vec![(*verb).into()],
            ..PolicyRule::default()
        };
        role.rules = verbs.iter().map(rule).collect();
        Arc::new(role)
    }

    #[test]
    fn rules_come_by_the_names_of_their_roles_and_each_once() {
        let mut all = ClusterRole::default();
        all.metadata.name = "all".into();
        all.metadata.labels.insert("part".into(), "true".into());
        let mut selector = LabelSelector::default();
        selector.match_labels.insert("part".into(), "true".into());
        all.aggregation_rule = Some(Box::new(AggregationRule {
            cluster_role_selectors: vec![selector],
        }));
        let roles = [
            role("a", Some("part"), &["list", "get"]),
            role("b", None, &["delete"]),
            role("c", Some("part"), &["get", "watch"]),
        ];
        let verbs = combined(&all, &roles);
        let verbs: Vec<&str> = verbs.iter().map(|it| &*it.verbs[0]).collect();
        assert_eq!(verbs, ["list", "get", "watch"]);
    }
}
