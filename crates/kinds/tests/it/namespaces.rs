//! The lifecycle of namespaces, and the initial objects of every cluster.

use crate::fixture::{Fixture, config_map, typed};
use kubist_api::core::v1::{ConfigMap, Namespace, Service};
use kubist_api::rbac::v1::ClusterRoleBinding;
use kubist_api::scheduling::v1::PriorityClass;
use kubist_apimachinery::{DeleteOptions, ListOptions, PropagationPolicy};
use kubist_registry::{Created, Registry, RegistryConfig, Replacement};
use std::sync::Arc;

#[tokio::test]
async fn a_cluster_begins_with_namespaces_and_a_service() {
    let fixture = Fixture::new().await;
    let page = fixture.of::<Namespace>();
    let page = page
        .list(&fixture.cx(), "", &ListOptions::default())
        .await
        .expect("fine");
    let names = crate::fixture::names(&page);
    assert_eq!(
        names,
        ["default", "kube-node-lease", "kube-public", "kube-system"]
    );
    let service: Service = fixture.get("kubernetes").await.expect("it is there");
    assert_eq!(service.spec.cluster_ip, "10.96.0.1");
    assert!(
        fixture
            .get::<PriorityClass>("system-node-critical")
            .await
            .is_ok()
    );
    assert!(
        fixture
            .get::<ClusterRoleBinding>("cluster-admin")
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_second_start_changes_nothing() {
    let fixture = Fixture::new().await;
    let before = fixture.kv.stats().revision;
    let again = Registry::new(RegistryConfig::new(
        Arc::new(fixture.kv.clone()),
        kubist_kinds::BuiltIn::shared(),
    ));
    again.start().await.expect("all is there");
    assert_eq!(fixture.kv.stats().revision, before);
}

#[tokio::test]
async fn nothing_is_created_in_a_namespace_that_is_missing_or_ending() {
    let fixture = Fixture::new().await;
    let nope = fixture.create_in("nope", config_map("a", ""), false).await;
    assert_eq!(
        nope.expect_err("no such namespace").message,
        "namespaces \"nope\" not found"
    );

    let mut namespace = Namespace::default();
    namespace.metadata.name = "n".into();
    namespace.spec.finalizers.push("kubernetes".into());
    fixture.create_in("", namespace, false).await.expect("fine");
    fixture
        .create_in("n", config_map("a", ""), false)
        .await
        .expect("fine");
    let deleted = fixture
        .delete::<Namespace>("n", DeleteOptions::default())
        .await
        .expect("fine");
    assert!(!deleted.gone && matches!(deleted.answer, Created::Object(_)));
    let namespace: Namespace = fixture.get("n").await.expect("it waits for its contents");
    assert_eq!(namespace.status.phase, "Terminating");

    let status = fixture
        .create_in("n", config_map("b", ""), false)
        .await
        .expect_err("it ends");
    assert_eq!(
        status.message,
        "configmaps \"b\" is forbidden: unable to create new content in namespace n because it \
         is being terminated"
    );
    assert_eq!(status.causes()[0].reason, "NamespaceTerminating");
    assert_eq!(status.code, 403);
}

#[tokio::test]
async fn a_namespace_ends_when_its_finalizers_are_gone() {
    let fixture = Fixture::new().await;
    let mut namespace = Namespace::default();
    namespace.metadata.name = "n".into();
    namespace.spec.finalizers.push("kubernetes".into());
    fixture.create_in("", namespace, false).await.expect("fine");
    fixture
        .delete::<Namespace>("n", DeleteOptions::default())
        .await
        .expect("fine");
    let mut namespace: Namespace = fixture.get("n").await.expect("it waits");
    namespace.spec.finalizers.clear();
    let finalize = fixture
        .of::<Namespace>()
        .subresource("finalize")
        .expect("it has one");
    let replacement = Replacement(Box::new(namespace));
    let options = kubist_apimachinery::PostOptions::default();
    finalize
        .update(&fixture.cx(), "", "n", &replacement, &options)
        .await
        .expect("it may go");
    assert!(
        fixture
            .get::<Namespace>("n")
            .await
            .is_err_and(|it| it.is_not_found())
    );
}

#[tokio::test]
async fn a_namespace_is_marked_first_and_then_only_waits() {
    let fixture = Fixture::new().await;
    let mut namespace = Namespace::default();
    namespace.metadata.name = "n".into();
    let created = fixture.create_in("", namespace, false).await;
    let uid = typed::<Namespace>(&created.expect("fine")).metadata.uid;
    let delete = async |options| fixture.delete::<Namespace>("n", options).await;
    let other = DeleteOptions::default().with_uid("other");
    let status = delete(other).await.expect_err("it is another");
    assert_eq!(
        status.message,
        format!(
            "Operation cannot be fulfilled on namespaces \"n\": Precondition failed: UID in \
             precondition: other, UID in object meta: {uid}"
        )
        .as_str()
    );
    // Upstream interprets the older option this way for namespaces only.
    let before = DeleteOptions {
        orphan_dependents: Some(false),
        ..DeleteOptions::default()
    };
    delete(before).await.expect("it begins");
    let marked: Namespace = fixture.get("n").await.expect("it waits");
    assert_eq!(marked.metadata.finalizers, ["foregroundDeletion"]);
    assert_eq!(marked.metadata.deletion_grace_period_seconds, None);
    let orphan = DeleteOptions::default().with_propagation(PropagationPolicy::Orphan);
    delete(orphan).await.expect("it waits on");
    let waiting: Namespace = fixture.get("n").await.expect("it waits");
    assert_eq!(waiting, marked);
}

#[tokio::test]
async fn some_namespaces_stay() {
    let fixture = Fixture::new().await;
    let status = fixture
        .delete::<Namespace>("default", DeleteOptions::default())
        .await;
    assert_eq!(
        status.expect_err("it stays").message,
        "namespaces \"default\" is forbidden: this namespace may not be deleted"
    );
}

#[tokio::test]
async fn names_that_are_no_names_are_refused() {
    let fixture = Fixture::new().await;
    let rest = fixture.of::<ConfigMap>();
    for name in ["", "..", "a/b"] {
        let any = kubist_apimachinery::ResourceVersion::default();
        let status = rest.get(&fixture.cx(), "default", name, &any).await;
        assert_eq!(status.expect_err("no name").code, 400, "{name}");
    }
}
