//! Apply sets on a server: members come, change and go.

use kubist::api::core::v1::{ConfigMap, Namespace, Secret};
use kubist::client::{Api, Client, RestMapper};
use kubist::controller::{ApplySet, ApplySetError, ApplySetOutcome, ApplySetParent, PART_OF};

use super::{config_map, create, server, until_gone};

struct World {
    client: Client,
    mapper: RestMapper,
    parent: ApplySetParent,
}

impl World {
    /// Applies config maps, named `name` or `namespace/name`, and secrets, named `secret:name`.
    async fn apply(&self, names: &[&str]) -> Result<ApplySetOutcome, ApplySetError> {
        let (client, mapper) = (self.client.clone(), self.mapper.clone());
        let mut set = ApplySet::new(client, mapper, self.parent.clone(), "op/v1");
        for name in names {
            if let Some(name) = name.strip_prefix("secret:") {
                let mut secret = Secret::default();
                secret.metadata.name = name.into();
                set.add(&secret)?;
                continue;
            }
            let (namespace, name) = name.split_once('/').unwrap_or(("", name));
            let mut map = config_map(name, &[], &[]);
            map.metadata.namespace = namespace.into();
            map.data.insert("from".into(), "the set".into());
            set.add(&map)?;
        }
        set.apply().await
    }

    fn maps(&self, namespace: &str) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), namespace.to_owned())
    }

    async fn annotation(&self, name: &str) -> String {
        let parent = self.maps("default").get("set").await.expect("it is there");
        let name = format!("applyset.kubernetes.io/{name}");
        parent.metadata.annotations[&*name].to_string()
    }
}

fn pruned(outcome: Result<ApplySetOutcome, ApplySetError>) -> Vec<String> {
    let pruned = outcome.expect("it is applied").pruned.into_iter();
    pruned
        .map(|it| format!("{} {}", it.kind, it.name))
        .collect()
}

#[tokio::test]
async fn what_is_not_applied_any_more_is_deleted_in_every_kind_and_namespace() {
    let server = server(false).await;
    let client = server.client();
    let mut other = Namespace::default();
    other.metadata.name = "other".into();
    let namespaces = Api::all(client.clone());
    namespaces.create(&other).await.expect("it is created");
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let parent = create(&maps, config_map("set", &[], &[])).await;
    create(&maps, config_map("bystander", &[], &[])).await;
    let world = World {
        mapper: RestMapper::new(client.clone()),
        parent: ApplySetParent::of(&parent),
        client,
    };

    let first = world.apply(&["a", "b", "other/c", "secret:s"]).await;
    assert_eq!(
        first.as_ref().map(|it| it.applied.len()).ok(),
        Some(4),
        "{first:?}"
    );
    assert!(pruned(first).is_empty());
    assert_eq!(
        world.annotation("contains-group-kinds").await,
        "ConfigMap,Secret"
    );
    assert_eq!(world.annotation("additional-namespaces").await, "other");
    assert_eq!(world.annotation("tooling").await, "op/v1");
    let a = maps.get("a").await.expect("it is there");
    assert_eq!(a.metadata.labels[PART_OF], **world.parent.id());
    assert!(pruned(world.apply(&["a", "b", "other/c", "secret:s"]).await).is_empty());
    let again = maps.get("a").await.expect("it is there");
    assert_eq!(
        again.metadata.resource_version, a.metadata.resource_version,
        "no write"
    );

    let gone = pruned(world.apply(&["b"]).await);
    assert_eq!(
        gone,
        [
            "ConfigMap default/a",
            "ConfigMap other/c",
            "Secret default/s"
        ]
    );
    until_gone(&maps, "a").await;
    until_gone(&world.maps("other"), "c").await;
    assert!(maps.get("bystander").await.is_ok() && maps.get("b").await.is_ok());
    assert_eq!(world.annotation("contains-group-kinds").await, "ConfigMap");
    assert_eq!(world.annotation("additional-namespaces").await, "");

    assert_eq!(pruned(world.apply(&[]).await), ["ConfigMap default/b"]);
    server.shutdown().await;
}

#[tokio::test]
async fn nothing_is_deleted_unless_everything_was_applied_and_the_next_call_finds_all() {
    let server = server(false).await;
    let client = server.client();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let parent = create(&maps, config_map("set", &[], &[])).await;
    let world = World {
        mapper: RestMapper::new(client.clone()),
        parent: ApplySetParent::of(&parent),
        client,
    };
    world.apply(&["a"]).await.expect("it is applied");
    let error = world
        .apply(&["b", "missing/c"])
        .await
        .expect_err("no such namespace");
    let error = error.to_string();
    assert!(
        error.starts_with("ConfigMap missing/c: ") && error.contains("not found"),
        "{error}"
    );
    assert!(maps.get("a").await.is_ok() && maps.get("b").await.is_ok());
    assert_eq!(world.annotation("additional-namespaces").await, "missing");
    let gone = pruned(world.apply(&["d"]).await);
    assert_eq!(gone, ["ConfigMap default/a", "ConfigMap default/b"]);

    let error = world
        .apply(&["d", "d"])
        .await
        .expect_err("twice")
        .to_string();
    assert!(error.contains("it is in the set twice"), "{error}");
    server.shutdown().await;
}
