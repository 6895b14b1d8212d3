//! Labels every Pod with the number of its containers.

use kubist::api::core::v1::Pod;
use kubist::apimachinery::{ObjectName, StrOption as _};
use kubist::client::{Api, ApiError, Client, Patch};
use kubist::controller::{Action, Controller, Manager};
use kubist::informers::SharedInformerFactory;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const LABEL: &str = "example.com/containers";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().init();
    let manager = manager(kubist::infer()?);
    manager.run(CancellationToken::new()).await?;
    Ok(())
}

fn manager(client: Client) -> Manager<Client> {
    let factory = SharedInformerFactory::new(client.clone());
    let pods = factory.informer::<Pod>();
    let lister = pods.lister_unsynced(); // complete before the first reconcile
    let reconcile = move |key: ObjectName| {
        let (pod, client) = (lister.get(&key), client.clone());
        async move {
            let Some(pod) = pod else {
                return Ok(Action::done()); // it is gone
            };
            let count = pod.spec.containers.len().to_string();
            if !pod.metadata.labels.get(LABEL).is(&count) {
                let patch = Patch::Merge(json!({"metadata": {"labels": {LABEL: count}}}));
                let pods: Api<Pod> = Api::namespaced(client, key.namespace.clone());
                pods.patch(&key.name, &patch).await?; // on an error, retried with backoff
            }
            Ok::<_, ApiError>(Action::done())
        }
    };
    let controller = Controller::new("containers", &pods).workers(4);
    Manager::new(factory).with(controller, reconcile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::api::core::v1::Container;
    use kubist::{Server, ServerConfig};
    use kubist_test::explore::{Scenario, explore};
    use std::error::Error;
    use std::time::Duration;

    #[tokio::test]
    async fn a_pod_gets_the_number_of_its_containers() -> Result<(), Box<dyn Error>> {
        let server = Server::start(ServerConfig::default()).await?;
        let stop = CancellationToken::new();
        let manager = manager(server.client());
        let test = async {
            let _stop = stop.clone().drop_guard(); // also when the test fails
            let pods: Api<Pod> = Api::namespaced(server.client(), "default");
            let mut pod = Pod::default();
            pod.metadata.name = "web".into();
            pod.spec.containers = ["web", "log"].map(container).into();
            pods.create(&pod).await?;
            let is_labelled =
                |it: Option<&Pod>| it.is_some_and(|it| it.metadata.labels.get(LABEL).is("2"));
            pods.wait_until_within("web", Duration::from_secs(30), is_labelled)
                .await?;
            Ok::<_, Box<dyn Error>>(())
        };
        let (ran, tested) = tokio::join!(manager.run(stop.clone()), test);
        tested?;
        ran?;
        server.shutdown().await;
        Ok(())
    }

    #[test]
    fn it_passes_exploration() {
        let run = |client, stop| async move { manager(client).run(stop).await };
        let scenario = Scenario::new("labels")
            .controller("labeler", run)
            .step("a pod is created", |client| async move {
                let mut pod = Pod::default();
                pod.metadata.name = "web".into();
                pod.spec.containers = ["web", "log"].map(container).into();
                Api::namespaced(client, "default").create(&pod).await
            })
            .step("the label is taken away", |client| async move {
                let pods: Api<Pod> = Api::namespaced(client, "default");
                let patch = json!({"metadata": {"labels": {LABEL: null}}});
                pods.patch("web", &Patch::Merge(patch)).await
            });
        explore(0..60, &scenario).assert_good();
    }

    fn container(name: &str) -> Container {
        Container {
            name: name.into(),
            image: "image:1".into(),
            ..Container::default()
        }
    }
}
