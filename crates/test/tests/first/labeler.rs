//! A controller that labels config maps.

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::ObjectName;
use kubist::client::{Api, ApiError, Client};
use kubist::controller::{Action, Controller, Manager, ManagerError, Summary};
use kubist::informers::SharedInformerFactory;
use tokio_util::sync::CancellationToken;

/// Runs until the token is cancelled.
pub(crate) async fn run(client: Client, token: CancellationToken) -> Result<Summary, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let controller = Controller::new("labeler", &factory.informer::<ConfigMap>());
    let reconcile = move |key: ObjectName| {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), key.namespace);
        async move {
            let label = |map: &mut ConfigMap| {
                map.metadata.labels.insert("seen".into(), "yes".into());
            };
            maps.edit(&key.name, label).await?; // sends nothing if nothing differs
            Ok::<_, ApiError>(Action::done())
        }
    };
    Manager::new(factory)
        .with(controller, reconcile)
        .run(token)
        .await
}
