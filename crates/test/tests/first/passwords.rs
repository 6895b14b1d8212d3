//! A controller that makes a secret for each config map with a label, and notes its name in the
//! map. A crash between the two writes leaves a secret that nobody knows, and so does a lost
//! answer.

use kubist::api::core::v1::{ConfigMap, Secret};
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::{Action, Controller, Manager, ManagerError, Summary};
use kubist::informers::SharedInformerFactory;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// Runs until the token is cancelled.
pub(crate) async fn run(client: Client, token: CancellationToken) -> Result<Summary, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let controller = Controller::new("passwords", &factory.informer::<ConfigMap>());
    let reconcile = move |key: ObjectName| {
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), key.namespace.clone());
        let secrets: Api<Secret> = Api::namespaced(client.clone(), key.namespace);
        async move {
            let map = maps.get_opt(&key.name).await?;
            let Some(map) = map.filter(|it| it.metadata.labels.get("shop").is("yes")) else {
                return Ok(Action::done());
            };
            if !map.data.contains_key("secret") {
                let mut secret = Secret::default();
                secret.metadata.generate_name = format!("{}-", key.name).into();
                let created = secrets.create(&secret).await?;
                let note = Patch::Merge(json!({"data": {"secret": created.metadata.name}}));
                maps.patch(&key.name, &note).await?;
            }
            Ok::<_, ApiError>(Action::done())
        }
    };
    let manager = Manager::new(factory).with(controller, reconcile);
    manager.run(token).await
}
