//! Tests of a registry with custom kinds.

use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{AnyObject, FieldError, FieldPath, PostOptions, Status};
use kubist_registry::{
    Created, ForKind, KindStrategy, Kinds, PlainKinds, PlainStrategy, Registry, RegistryConfig,
    Stored, Strategy, User,
};
use kubist_storage::memory::MemoryKv;
use std::sync::Arc;

/// Kinds whose config maps must not be empty; all others are plain.
#[derive(Debug)]
struct Own;

impl Kinds for Own {
    fn strategy(&self, group: &str, plural: &str) -> Arc<dyn Strategy> {
        match (group, plural) {
            ("", "configmaps") => Arc::new(ForKind(NotEmpty)),
            _ => Arc::new(PlainStrategy::default()),
        }
    }
}

#[derive(Debug)]
struct NotEmpty;

impl KindStrategy for NotEmpty {
    type Kind = ConfigMap;

    fn validate(&self, new: &ConfigMap) -> Vec<FieldError> {
        let missing = FieldError::required(&FieldPath::new("data"), "");
        Vec::from_iter(new.data.is_empty().then_some(missing))
    }
}

async fn create(kinds: Arc<dyn Kinds>, object: ConfigMap) -> Result<Stored, Status> {
    let kv = Arc::new(MemoryKv::default());
    let registry = Registry::new(RegistryConfig::new(kv, kinds));
    registry.start().await?;
    let rest = registry.resource("", "v1", "configmaps");
    let rest = rest.expect("it is in the catalog of the API");
    let cx = registry.request(User::default());
    // The namespace `default` exists only if the kinds create it.
    let namespaces = registry.resource("", "v1", "namespaces").expect("it is");
    let mut namespace = kubist_api::core::v1::Namespace::default();
    namespace.metadata.name = "default".into();
    let options = PostOptions::default();
    namespaces
        .create(&cx, "", "", Box::new(namespace), &options)
        .await?;
    let object: Box<dyn AnyObject> = Box::new(object);
    match rest.create(&cx, "default", "", object, &options).await? {
        Created::Object(stored) => Ok(stored),
        Created::Status(status) => Err(*status),
    }
}

fn config_map() -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = "settings".into();
    object
}

#[tokio::test]
async fn a_custom_strategy_is_applied() {
    let status = create(Arc::new(Own), config_map()).await;
    let status = status.expect_err("it is empty");
    assert_eq!(
        status.message,
        "ConfigMap \"settings\" is invalid: data: Required value"
    );
    let mut full = config_map();
    full.data.insert("key".into(), "value".into());
    let stored = create(Arc::new(Own), full).await.expect("it is valid");
    assert!(stored.revision() > 0);
}

#[tokio::test]
async fn kinds_without_special_rules_are_stored_unchanged() {
    let stored = create(Arc::new(PlainKinds), config_map()).await;
    let stored = stored.expect("only the metadata is checked");
    let object = stored.object().expect("it can be read");
    assert_eq!(object.meta().namespace, "default");
    assert!(!object.meta().uid.is_empty());
}
