//! The statuses of etcd failures.

use crate::etcd::{Etcd, Release};
use kubist::api::core::v1::{Container, EnvVar, Pod};
use kubist::apimachinery::{ListOptions, PostOptions, Status};
use kubist::registry::{Created, Registry, RegistryConfig, User};
use kubist::storage_etcd::{Config, EtcdKv};
use std::sync::Arc;
use std::time::Duration;

/// An environment variable of this size makes a request too large for etcd.
const TOO_LARGE_BYTES: usize = 1_700_000;

fn registry(etcd: &Etcd) -> Registry {
    let config = Config {
        request_timeout: Duration::from_secs(2),
        ..Config::new([etcd.url()])
    };
    let kv = EtcdKv::new(config).unwrap();
    Registry::new(RegistryConfig::new(
        Arc::new(kv),
        kubist_kinds::BuiltIn::shared(),
    ))
}

async fn create(registry: &Registry, value: String) -> Result<Created, Status> {
    let mut pod = Pod::default();
    pod.metadata.name = "it".into();
    pod.spec.containers = vec![Container {
        name: "it".into(),
        image: "it".into(),
        env: vec![EnvVar {
            name: "VALUE".into(),
            value: value.into(),
            ..EnvVar::default()
        }],
        ..Container::default()
    }];
    let pods = registry.resource("", "v1", "pods").unwrap();
    let cx = registry.request(User::default());
    let options = PostOptions::default();
    pods.create(&cx, "default", "", Box::new(pod), &options)
        .await
}

#[tokio::test]
async fn what_etcd_finds_too_large_is_413() {
    let Some(etcd) = Etcd::start(Release::Packaged).await else {
        return;
    };
    let registry = registry(&etcd);
    registry.start().await.unwrap();
    let status = create(&registry, "x".repeat(TOO_LARGE_BYTES)).await;
    let status = status.unwrap_err();
    assert_eq!(
        (status.code, &*status.reason),
        (413, "RequestEntityTooLarge"),
        "{}",
        status.message
    );
    assert!(
        status.message.contains("the object is too large: 17") && !status.message.contains("most"),
        "{}",
        status.message
    );
    create(&registry, "x".to_owned()).await.unwrap();
}

#[tokio::test]
async fn an_etcd_that_is_gone_is_a_timeout_that_says_when_to_come_back() {
    let Some(mut etcd) = Etcd::start(Release::Current).await else {
        return;
    };
    let registry = registry(&etcd);
    registry.start().await.unwrap();
    etcd.kill();
    let pods = registry.resource("", "v1", "pods").unwrap();
    let cx = registry.request(User::default());
    let listed = pods.list(&cx, "default", &ListOptions::default()).await;
    let statuses = [
        listed.map(drop).unwrap_err(),
        create(&registry, "x".to_owned())
            .await
            .map(drop)
            .unwrap_err(),
    ];
    for status in statuses {
        assert_eq!(
            (status.code, &*status.reason),
            (500, "ServerTimeout"),
            "{}",
            status.message
        );
        let details = status.details.unwrap();
        assert_eq!(details.retry_after_seconds, 2);
    }
    assert!(etcd.run().await);
    create(&registry, "x".to_owned()).await.unwrap();
}
