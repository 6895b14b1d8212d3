//! The controller of default service accounts: every active namespace has a `ServiceAccount` named
//! `default`, as upstream's controller makes it. Pods run as it unless they name another.
//!
//! It only creates: an account that is there is left as it is, so two such controllers do not
//! disturb each other.

use crate::created::{self, ACTIVE};
use kubist_api::core::v1::{Namespace, ServiceAccount};
use kubist_apimachinery::ObjectName;
use kubist_cache::{Lister, Selection};
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use tokio_util::sync::CancellationToken;

const NAME: &str = "default";

/// Runs until `token` is cancelled.
///
/// # Errors
/// Namespaces or accounts could not be listed for two minutes.
pub async fn run(client: Client, token: CancellationToken) -> Result<Stats, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let namespaces = factory.informer::<Namespace>();
    let named = Selection::all().with_fields(format!("metadata.name={NAME}"));
    let accounts = factory.informer_of::<ServiceAccount>(&named);
    let controller = Controller::new("serviceaccount", &namespaces)
        .watches(&accounts, |account: &ServiceAccount| {
            vec![ObjectName::cluster(account.metadata.namespace.clone())]
        });
    let reconciler = ServiceAccounts {
        client,
        namespaces: namespaces.lister_unsynced(),
        accounts: accounts.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

struct ServiceAccounts {
    client: Client,
    namespaces: Lister<Namespace>,
    accounts: Lister<ServiceAccount>,
}

impl Reconciler for ServiceAccounts {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let namespace = self.namespaces.get(&key);
        let is_active = namespace.is_some_and(|it| it.status.phase == *ACTIVE);
        let own = ObjectName::new(key.name.clone(), NAME);
        if !is_active || self.accounts.get(&own).is_some() {
            return Ok(Action::done());
        }
        let mut account = ServiceAccount::default();
        account.metadata.name = NAME.into();
        let api = Api::<ServiceAccount>::namespaced(self.client.clone(), key.name);
        created::unless_needless(api.create(&account).await)?;
        Ok(Action::done())
    }
}
