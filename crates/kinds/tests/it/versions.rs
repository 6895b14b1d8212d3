//! One resource in several groups and versions.

use crate::fixture::{Fixture, options, typed};
use kubist_api::autoscaling::{v1, v2};
use kubist_api::core::v1::Event as CoreEvent;
use kubist_api::events::v1::Event;
use kubist_apimachinery::{PostOptions, ResourceVersion};
use kubist_registry::WatchEvent;

#[tokio::test]
async fn events_are_one_resource_in_two_groups() {
    let fixture = Fixture::new().await;
    let mut event = CoreEvent::default();
    event.metadata.name = "e".into();
    event.metadata.namespace = "default".into();
    event.involved_object.kind = "Pod".into();
    event.involved_object.name = "p".into();
    event.involved_object.namespace = "default".into();
    event.message = "started".into();
    event.count = 3;
    event.reason = "Started".into();
    event.type_ = "Normal".into();
    fixture.create(event).await;
    let seen: Event = fixture.get("e").await.expect("it is there");
    assert_eq!(
        (&*seen.note, &*seen.regarding.name, seen.deprecated_count),
        ("started", "p", 3)
    );
    let page = fixture.list::<Event>("").await.expect("fine");
    assert_eq!(page.items[0].kind().facts().group, "events.k8s.io");

    let mut other = seen.clone();
    other.metadata.uid = "other".into();
    let status = fixture.put(other).await.expect_err("it is another");
    let beginning = "Operation cannot be fulfilled on events.events.k8s.io \"e\": StorageError";
    assert!(status.message.starts_with(beginning), "{status}");
    let details = status.details.expect("they name the object");
    assert_eq!(
        (&*details.group, &*details.kind),
        ("events.k8s.io", "events")
    );

    let rest = fixture.of::<Event>();
    let watch = rest
        .watch(&fixture.cx(), "default", None, &options(""), None)
        .await;
    let events = watch.expect("fine").next().await.expect("it is there");
    let [WatchEvent::Added(stored)] = &events[..] else {
        panic!("one exists: {events:?}");
    };
    assert_eq!(typed::<Event>(stored), seen);
}

#[tokio::test]
async fn an_old_version_of_an_autoscaler_loses_nothing() {
    let fixture = Fixture::new().await;
    let mut old = v1::HorizontalPodAutoscaler::default();
    old.metadata.name = "h".into();
    old.spec.max_replicas = 3;
    old.spec.target_cpu_utilization_percentage = Some(80);
    old.spec.scale_target_ref.api_version = "apps/v1".into();
    old.spec.scale_target_ref.kind = "Deployment".into();
    old.spec.scale_target_ref.name = "d".into();
    let created: v1::HorizontalPodAutoscaler = fixture.create(old).await;
    assert_eq!(created.spec.target_cpu_utilization_percentage, Some(80));
    let new: v2::HorizontalPodAutoscaler = fixture.get("h").await.expect("it is there");
    assert_eq!((new.spec.max_replicas, new.spec.metrics.len()), (3, 1));
    assert_eq!(
        new.metadata.resource_version,
        created.metadata.resource_version
    );

    // A PUT of the unchanged object changes nothing.
    let updated = fixture.put(created.clone()).await.expect("fine");
    assert_eq!(
        typed::<v1::HorizontalPodAutoscaler>(&updated.object),
        created
    );
}

#[tokio::test]
async fn every_resource_is_created_read_and_deleted() {
    let fixture = Fixture::new().await;
    let mut served = 0;
    for rest in fixture.registry.resources() {
        let any = ResourceVersion::default();
        let status = rest.get(&fixture.cx(), "default", "none", &any).await;
        assert!(status.is_err_and(|it| it.is_not_found()), "{rest:?}");
        let namespace = if rest.facts().namespaced {
            "default"
        } else {
            ""
        };
        let page = rest
            .list(&fixture.cx(), namespace, &options("limit=1"))
            .await;
        assert!(
            !page.expect("fine").metadata.resource_version.is_empty(),
            "{rest:?}"
        );
        let mut object = rest.new_object().expect("it has metadata");
        object.meta_mut().name = "x.y".into();
        let options = PostOptions {
            dry_run: true,
            ..PostOptions::default()
        };
        // Some kinds accept an empty object, others do not.
        let created = rest
            .create(&fixture.cx(), namespace, "", object, &options)
            .await;
        assert!(
            created.is_ok() || created.is_err_and(|it| it.code == 422),
            "{rest:?}"
        );
        served += 1;
    }
    assert!(served > 80, "{served}");
}

#[tokio::test]
async fn versions_that_are_not_settled_are_served_when_they_are_turned_on() {
    use kubist_registry::RuntimeConfig;
    let set = |text: &str| {
        let parsed: RuntimeConfig = text.parse().expect("it is valid");
        move |config: &mut kubist_registry::RegistryConfig| config.runtime_config = parsed
    };
    let versions = |fixture: &Fixture, group: &str| {
        let groups = fixture.registry.groups();
        let found = groups.iter().find(|it| it.name == *group);
        let versions = found.into_iter().flat_map(|it| it.versions.clone());
        versions
            .map(|it| it.version.to_string())
            .collect::<Vec<_>>()
    };
    let stable = Fixture::with(set("")).await;
    assert_eq!(versions(&stable, "resource.k8s.io"), ["v1"]);
    assert_eq!(versions(&stable, "internal.apiserver.k8s.io"), [""; 0]);
    let claims = |fixture: &Fixture, version| {
        let found = fixture
            .registry
            .resource("resource.k8s.io", version, "resourceclaims");
        found.is_some()
    };
    assert!(claims(&stable, "v1") && !claims(&stable, "v1beta1"));
    let beta = Fixture::with(set("resource.k8s.io/v1beta1=true")).await;
    assert_eq!(versions(&beta, "resource.k8s.io"), ["v1", "v1beta1"]);
    assert!(claims(&beta, "v1beta1"));
    let all = Fixture::with(set("api/all=true")).await;
    assert_eq!(versions(&all, "internal.apiserver.k8s.io"), ["v1alpha1"]);
}
