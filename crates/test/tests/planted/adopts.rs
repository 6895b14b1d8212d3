//! Deletes by name, and so what somebody else has created under that name meanwhile.

use crate::support::{Case, NAMESPACE, Reconciled, Version, create, delete, is_parent, manage};
use crate::support::{or_exists, or_gone, parent, secret};
use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{DeleteOptions, ObjectName};
use kubist::cache::Lister;
use kubist::client::{Api, ApiError, Client};
use kubist::controller::{Action, Controller};
use kubist::informers::SharedInformerFactory;
use kubist_test::explore::{Problem, Scenario, State};
use std::sync::Arc;

/// The label of what belongs to the user.
const MINE: &str = "example.com/mine";
/// The label of what the controller has made.
const MADE: &str = "example.com/made";

pub(crate) const CASE: Case = Case {
    name: "takes by name what it does not own",
    scenario,
    is_found: |problem| matches!(problem, Problem::Invariant { .. }),
};

fn scenario(version: Version) -> Scenario {
    Scenario::new("names")
        .controller("secrets", move |client, stop| {
            let factory = SharedInformerFactory::new(client.clone());
            let parents = factory.informer::<ConfigMap>();
            let secrets = factory.informer::<Secret>();
            let this = Arc::new(Reconciler {
                client,
                parents: parents.lister_unsynced(),
                secrets: secrets.lister_unsynced(),
                version,
            });
            let by_name = |it: &Secret| vec![ObjectName::new(NAMESPACE, &*it.metadata.name)];
            let controller = Controller::new("secrets", &parents).watches(&secrets, by_name);
            let reconcile = move |key| {
                let this = Arc::clone(&this);
                async move { this.reconcile(&key).await }
            };
            manage(factory, controller, reconcile, stop)
        })
        .step("a site is opened", |client| {
            create(client, parent("site", &[]))
        })
        .step("the site is closed", |client| {
            delete::<ConfigMap>(client, "site")
        })
        .step("the user puts a secret in its place", put_mine)
        .invariant("what belongs to the user is kept", mine_is_kept)
}

async fn put_mine(client: Client) -> Result<(), ApiError> {
    loop {
        delete::<Secret>(client.clone(), "site").await?;
        let mut mine = secret("site");
        mine.metadata.labels.insert(MINE.into(), "yes".into());
        match create(client.clone(), mine).await {
            Err(error) if error.is_already_exists() => {}
            created => return created.map(drop),
        }
    }
}

fn mine_is_kept(state: &State) -> Result<(), String> {
    let Some(change) = state.change() else {
        return Ok(());
    };
    let labels = change
        .before()
        .and_then(|it| it.pointer("/metadata/labels"));
    let is_mine = labels.is_some_and(|it| it.get(MINE).is_some());
    if is_mine && change.after().is_none() {
        return Err("the user's secret was deleted".to_owned());
    }
    Ok(())
}

struct Reconciler {
    client: Client,
    parents: Lister<ConfigMap>,
    secrets: Lister<Secret>,
    version: Version,
}

impl Reconciler {
    async fn reconcile(&self, key: &ObjectName) -> Reconciled {
        let is_wanted = self.parents.get(key).is_some_and(|it| is_parent(&it));
        let made = self.secrets.get(key);
        let made = made.filter(|it| it.metadata.labels.contains_key(MADE));
        match (is_wanted, made) {
            (true, None) => {
                let mut secret = secret(&key.name);
                secret.metadata.labels.insert(MADE.into(), "yes".into());
                or_exists(create(self.client.clone(), secret).await)?;
            }
            (false, Some(made)) => {
                let mut options = DeleteOptions::default();
                if self.version.is_fixed() {
                    options = options.with_uid(made.metadata.uid.clone());
                }
                let secrets: Api<Secret> = Api::namespaced(self.client.clone(), NAMESPACE);
                match secrets.delete_with(&key.name, &options).await {
                    // It is another one by now, as the cache will show.
                    Err(error) if error.is_conflict() => {}
                    deleted => or_gone(deleted)?,
                }
            }
            _ => {}
        }
        Ok(Action::done())
    }
}
