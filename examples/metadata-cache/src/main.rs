//! Prints the Pods that no controller owns, whom nobody would replace.
//!
//! Names, labels and owners are in the metadata, so the informer keeps nothing else, and the
//! server sends nothing else: a small part of the memory and of the bytes of whole Pods.

use kubist::api::core::v1::Pod;
use kubist::apimachinery::ObjectName;
use kubist::cache::{Lister, Metadata};
use kubist::client::Client;
use kubist::informers::SharedInformerFactory;
use std::error::Error;
use std::io::Write as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let orphans = orphans_of(kubist::infer()?).await?;
    let mut out = std::io::stdout().lock();
    for name in orphans {
        writeln!(out, "{name}")?;
    }
    Ok(())
}

/// Fills a cache and reads it once. A program that goes on reads the lister again when it likes.
async fn orphans_of(client: Client) -> Result<Vec<ObjectName>, Box<dyn Error>> {
    let factory = SharedInformerFactory::new(client);
    let pods = factory.informer::<Metadata<Pod>>();
    factory.start();
    let lister = pods.synced().await?;
    let orphans = orphans(&lister);
    factory.shutdown().await;
    Ok(orphans)
}

fn orphans(pods: &Lister<Metadata<Pod>>) -> Vec<ObjectName> {
    let pods = pods.list();
    let orphans = pods.iter().filter(|pod| {
        let mut owners = pod.metadata.owner_references.iter();
        !owners.any(|it| it.controller == Some(true))
    });
    let name = |pod: &Metadata<Pod>| {
        let metadata = &pod.metadata;
        ObjectName::new(metadata.namespace.clone(), metadata.name.clone())
    };
    let mut names: Vec<ObjectName> = orphans.map(|pod| name(pod)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist::api::core::v1::{ConfigMap, Container};
    use kubist::client::Api;
    use kubist::controller::{set_controller_reference, set_owner_reference};
    use kubist::{Server, ServerConfig};

    fn pod(name: &str) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.name = name.into();
        pod.metadata.namespace = "default".into();
        pod.spec.containers = vec![Container {
            name: "main".into(),
            image: "image:1".into(),
            ..Container::default()
        }];
        pod
    }

    #[tokio::test]
    async fn pods_without_a_controller_are_found() -> Result<(), Box<dyn Error>> {
        let server = Server::start(ServerConfig::default()).await?;
        let pods: Api<Pod> = Api::namespaced(server.client(), "default");
        let maps: Api<ConfigMap> = Api::namespaced(server.client(), "default");
        let mut owner = ConfigMap::default();
        owner.metadata.name = "owner".into();
        let owner = maps.create(&owner).await?;

        let (mut controlled, mut owned) = (pod("controlled"), pod("owned"));
        set_controller_reference(&owner, &mut controlled)?;
        set_owner_reference(&owner, &mut owned)?;
        for pod in [&pod("alone"), &controlled, &owned] {
            pods.create(pod).await?;
        }
        let orphans = orphans_of(server.client()).await?;
        let orphans: Vec<String> = orphans.iter().map(ToString::to_string).collect();
        assert_eq!(orphans, ["default/alone", "default/owned"]);
        server.shutdown().await;
        Ok(())
    }
}
