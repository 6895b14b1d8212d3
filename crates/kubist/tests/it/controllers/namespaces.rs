//! The namespace controller.

use super::{config_map, create, server, until, until_gone};
use kubist::api::core::v1::{ConfigMap, Namespace};
use kubist::client::{Api, Patch};
use serde_json::json;

#[tokio::test]
async fn a_namespace_goes_with_everything_in_it() {
    let server = server(false).await;
    let namespaces: Api<Namespace> = Api::all(server.client());
    let mut namespace = Namespace::default();
    namespace.metadata.name = "shop".into();
    namespaces.create(&namespace).await.expect("it is created");
    let maps: Api<ConfigMap> = Api::namespaced(server.client(), "shop");
    for name in ["a", "b", "held"] {
        let finalizers: &[&str] = if name == "held" {
            &["example.com/hold"]
        } else {
            &[]
        };
        let mut map = config_map(name, &[], finalizers);
        map.metadata.namespace = "shop".into();
        create(&maps, map).await;
    }
    namespaces.delete("shop").await.expect("it is deleted");
    let message = until("the namespace says what remains", async || {
        let namespace = namespaces.get("shop").await.expect("it waits");
        assert_eq!(namespace.status.phase, "Terminating");
        let mut conditions = namespace.status.conditions.into_iter();
        conditions.find(|it| it.type_ == "NamespaceFinalizersRemaining" && it.status == "True")
    });
    assert!(message.await.message.contains("example.com/hold in 1"));
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch("held", &release).await.expect("it is let go");
    until_gone(&namespaces, "shop").await;
    server.shutdown().await;
}
