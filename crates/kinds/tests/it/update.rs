//! Updating objects.

use crate::fixture::{Fixture, config_map, typed};
use kubist_api::apps::v1::Deployment;
use kubist_api::coordination::v1::Lease;
use kubist_api::core::v1::{ConfigMap, Container};
use kubist_apimachinery::{AnyObject, DeleteOptions, PostOptions, Status, Time};
use kubist_registry::{Replacement, UpdatedObject};
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn deployment(name: &str) -> Deployment {
    let mut object = Deployment::default();
    object.metadata.name = name.into();
    let selector = object.spec.selector.get_or_insert_default();
    selector.match_labels.insert("app".into(), "a".into());
    let template = &mut object.spec.template;
    template.metadata.labels.insert("app".into(), "a".into());
    template.spec.containers.push(Container {
        name: "c".into(),
        image: "nginx".into(),
        ..Container::default()
    });
    object
}

#[tokio::test]
async fn a_write_that_changes_nothing_keeps_the_version() {
    let fixture = Fixture::new().await;
    let created: Deployment = fixture.create(deployment("d")).await;
    let before = fixture.kv.stats().revision;
    let updated = fixture
        .put(deployment("d"))
        .await
        .expect("nothing is wrong");
    assert_eq!(typed::<Deployment>(&updated.object), created);
    assert_eq!(fixture.kv.stats().revision, before);
    assert!(!updated.created);
}

#[tokio::test]
async fn a_version_that_is_not_the_stored_one_is_a_conflict() {
    let fixture = Fixture::new().await;
    let mut object: ConfigMap = fixture.create(config_map("a", "x")).await;
    object.data.insert("a".into(), "1".into());
    fixture.put(object.clone()).await.expect("it is the newest");
    object.data.insert("a".into(), "2".into());
    let status = fixture
        .put(object.clone())
        .await
        .expect_err("it is not the newest");
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please \
         apply your changes to the latest version and try again"
    );
    for unconditional in ["", "0"] {
        object.metadata.resource_version = unconditional.into();
        fixture.put(object.clone()).await.expect("it does not mind");
    }
    object.metadata.resource_version = "abc".into();
    let status = fixture.put(object).await.expect_err("no version");
    assert_eq!(status.code, 400);
}

#[tokio::test]
async fn a_uid_is_a_precondition() {
    let fixture = Fixture::new().await;
    let mut object: ConfigMap = fixture.create(config_map("a", "")).await;
    fixture.put(object.clone()).await.expect("it is this one");
    let uid = std::mem::replace(&mut object.metadata.uid, "other".into());
    let status = fixture.put(object).await.expect_err("it is another");
    assert_eq!(
        status.message,
        format!(
            "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, \
             Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, \
             AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object \
             meta: {uid}"
        )
        .as_str()
    );
}

#[tokio::test]
async fn what_is_not_there_has_no_uid_and_any_version() {
    let fixture = Fixture::new().await;
    let mut lease = Lease::default();
    lease.metadata.name = "l".into();
    lease.metadata.namespace = "default".into();
    lease.metadata.uid = "other".into();
    let status = fixture.put(lease.clone()).await.expect_err("it is none");
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on leases.coordination.k8s.io \"l\": StorageError: invalid \
         object, Code: 4, Key: /registry/leases/default/l, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: "
    );
    lease.metadata.uid = "".into();
    lease.metadata.resource_version = "5".into();
    assert!(fixture.put(lease).await.expect("it is created").created);
}

#[tokio::test]
async fn a_dry_run_conflict_names_the_key_below_the_root() {
    let fixture = Fixture::new().await;
    let mut object: ConfigMap = fixture.create(config_map("a", "")).await;
    let uid = std::mem::replace(&mut object.metadata.uid, "other".into());
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    let replacement = Replacement(Box::new(object));
    let (cx, rest) = (fixture.cx(), fixture.of::<ConfigMap>());
    let updated = rest.update(&cx, "default", "a", &replacement, &options);
    let status = updated.await.expect_err("it is another");
    assert_eq!(
        status.message,
        format!(
            "Operation cannot be fulfilled on configmaps \"a\": StorageError: invalid object, \
             Code: 4, Key: /configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: \
             Precondition failed: UID in precondition: other, UID in object meta: {uid}"
        )
        .as_str()
    );
}

#[tokio::test]
async fn what_the_server_set_stays() {
    let fixture = Fixture::new().await;
    let created: Deployment = fixture.create(deployment("d")).await;
    let mut object = deployment("d");
    object.metadata.generation = 99;
    object.metadata.creation_timestamp = Some(Time::from_unix(1));
    object.status.replicas = 9;
    let updated = fixture.put(object).await.expect("it is ignored");
    assert_eq!(typed::<Deployment>(&updated.object), created);

    let mut object = deployment("d");
    object.metadata.deletion_timestamp = Some(Time::from_unix(978_307_200));
    let status = fixture.put(object).await.expect_err("only DELETE sets it");
    assert_eq!(
        status.message,
        "Deployment.apps \"d\" is invalid: metadata.deletionTimestamp: Invalid value: \
         \"2001-01-01T00:00:00Z\": field is immutable"
    );
    assert_eq!(
        status.causes().len(),
        2,
        "once for the store, once for the kind"
    );
}

#[tokio::test]
async fn the_generation_counts_changes_of_the_spec() {
    let fixture = Fixture::new().await;
    fixture.create(deployment("d")).await;
    let mut object = deployment("d");
    object.spec.replicas = Some(2);
    let generation = |updated: kubist_registry::Updated| {
        updated.object.object().expect("readable").meta().generation
    };
    assert_eq!(
        generation(fixture.put(object.clone()).await.expect("fine")),
        2
    );
    object.metadata.labels.insert("a".into(), "b".into());
    assert_eq!(
        generation(fixture.put(object.clone()).await.expect("fine")),
        2
    );
    object.metadata.annotations.insert("a".into(), "b".into());
    assert_eq!(
        generation(fixture.put(object.clone()).await.expect("fine")),
        3
    );
    object.status.replicas = 5;
    assert_eq!(
        generation(
            fixture
                .put_subresource("status", object)
                .await
                .expect("fine")
        ),
        3
    );
}

#[tokio::test]
async fn the_status_has_its_own_path() {
    let fixture = Fixture::new().await;
    let created: Deployment = fixture.create(deployment("d")).await;
    let mut object = deployment("d");
    object.spec.replicas = Some(7);
    object.metadata.labels.insert("z".into(), "z".into());
    object.status.replicas = 9;
    let updated = fixture
        .put_subresource("status", object)
        .await
        .expect("fine");
    let updated: Deployment = typed(&updated.object);
    assert_eq!(updated.status.replicas, 9);
    assert_eq!(
        (&updated.spec, &updated.metadata.labels),
        (&created.spec, &created.metadata.labels)
    );
    assert!(updated.metadata.resource_version != created.metadata.resource_version);
}

#[tokio::test]
async fn the_last_finalizer_of_a_deleted_object_ends_it() {
    let fixture = Fixture::new().await;
    let mut object = config_map("a", "");
    object.metadata.finalizers.push("example.com/f".into());
    fixture.create(object).await;
    let deleted = fixture
        .delete::<ConfigMap>("a", DeleteOptions::default())
        .await;
    assert!(!deleted.expect("it waits").gone);

    let mut object: ConfigMap = fixture.get("a").await.expect("it waits");
    assert_eq!(object.metadata.deletion_grace_period_seconds, Some(0));
    object.metadata.finalizers.push("example.com/g".into());
    let status = fixture.put(object.clone()).await.expect_err("too late");
    assert!(status.message.contains("no new finalizers can be added"));
    object.metadata.finalizers.clear();
    let last = fixture.put(object.clone()).await.expect("it may go");
    // Its manager owned the finalizers only.
    object.metadata.managed_fields.clear();
    assert_eq!(typed::<ConfigMap>(&last.object), object);
    assert!(
        fixture
            .get::<ConfigMap>("a")
            .await
            .is_err_and(|it| it.is_not_found())
    );
}

#[tokio::test]
async fn an_update_of_nothing_is_not_found() {
    let fixture = Fixture::new().await;
    let status = fixture
        .put(config_map("a", ""))
        .await
        .expect_err("there is none");
    assert_eq!(status.message, "configmaps \"a\" not found");
}

/// Counts its calls, and makes a concurrent write before its first result.
struct Interrupted<'a> {
    fixture: &'a Fixture,
    asked: AtomicUsize,
}

impl UpdatedObject for Interrupted<'_> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut object = old.expect("it exists").boxed_clone();
        if self.asked.fetch_add(1, Ordering::Relaxed) == 0 {
            let key = "/registry/configmaps/default/a";
            // Writing the same content again still counts as a write.
            let kv: &dyn kubist_storage::Kv = &self.fixture.kv;
            let read = futures_util::FutureExt::now_or_never(kv.get(key.as_bytes(), None));
            let found = read
                .expect("memory answers at once")
                .expect("open")
                .kv
                .expect("there");
            let value = found.value.clone();
            let put = kubist_storage::PutRequest::new(key, value, kubist_storage::Expected::Any);
            let put = futures_util::FutureExt::now_or_never(kv.put(put));
            put.expect("memory answers at once").expect("open");
        }
        let annotations = &mut object.meta_mut().annotations;
        annotations.insert("by".into(), "patch".into());
        Ok(object)
    }
}

#[tokio::test]
async fn an_update_is_tried_again_when_another_comes_in_between() {
    let fixture = Fixture::new().await;
    fixture.create(config_map("a", "")).await;
    let update = Interrupted {
        fixture: &fixture,
        asked: AtomicUsize::new(0),
    };
    let rest = fixture.of::<ConfigMap>();
    let options = PostOptions::default();
    let updated = rest
        .update(&fixture.cx(), "default", "a", &update, &options)
        .await;
    let updated: ConfigMap = typed(&updated.expect("the second try succeeds").object);
    assert_eq!(
        updated.metadata.annotations.get("by").map(|it| &**it),
        Some("patch")
    );
    assert_eq!(update.asked.into_inner(), 2);
}

#[tokio::test]
async fn a_dry_run_shows_the_change_and_keeps_the_object() {
    let fixture = Fixture::new().await;
    let created: Deployment = fixture.create(deployment("d")).await;
    let mut object = deployment("d");
    object.spec.replicas = Some(4);
    let replacement = Replacement(Box::new(object));
    let options = PostOptions {
        dry_run: true,
        ..PostOptions::default()
    };
    let rest = fixture.of::<Deployment>();
    let shown = rest
        .update(&fixture.cx(), "default", "d", &replacement, &options)
        .await;
    let shown: Deployment = typed(&shown.expect("it is valid").object);
    assert_eq!(
        (shown.spec.replicas, shown.metadata.generation),
        (Some(4), 2)
    );
    assert_eq!(
        shown.metadata.resource_version,
        created.metadata.resource_version
    );
    assert_eq!(
        fixture.get::<Deployment>("d").await.expect("it exists"),
        created
    );
}
