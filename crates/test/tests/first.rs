//! A first test: a controller that labels config maps.

use kubist::api::core::v1::ConfigMap;
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::client::{Api, ApiError};
use kubist::controller::{Action, Controller, Manager};
use kubist::informers::SharedInformerFactory;
use kubist_test::TestServer;

#[tokio::test(start_paused = true)]
async fn config_maps_are_labelled() -> kubist_test::Result {
    let server = TestServer::start().await?;
    drop(server.run("labeler", |client, token| {
        let factory = SharedInformerFactory::new(client.clone());
        let controller = Controller::new("labeler", &factory.informer::<ConfigMap>());
        let reconcile = move |key: ObjectName| {
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), key.namespace);
            async move {
                let label =
                    |it: &mut ConfigMap| it.metadata.labels.insert("seen".into(), "yes".into());
                maps.edit(&key.name, |it| drop(label(it))).await?;
                Ok::<_, ApiError>(Action::done())
            }
        };
        async move {
            Manager::new(factory)
                .with(controller, reconcile)
                .run(token)
                .await
        }
    })?);
    server
        .apply_yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
        .await?;
    let maps = server.object::<ConfigMap>("default", "a");
    maps.eventually(|it| it.metadata.labels.get("seen").is("yes"))
        .await?;
    Ok(())
}
