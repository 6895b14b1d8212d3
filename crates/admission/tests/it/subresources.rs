//! Subresources are admitted, with what their requests carry.

use crate::fixture::{DEPLOYMENTS, Fixture, PODS, pod};
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Side, Target};
use parking_lot::Mutex;
use serde_json::json;
use std::sync::Arc;

/// Notes what it sees of subresources, and may change scales.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<String>>);

impl AdmissionPlugin for Noting {
    fn name(&self) -> &'static str {
        "Noting"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        !target.subresource.is_empty()
    }
    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            if attributes.target().subresource != "scale" {
                return Ok(());
            }
            let scale = attributes.json(Side::New, "autoscaling/v1").await?;
            let mut scale = (*scale.expect("it is new")).clone();
            if scale["spec"]["replicas"] == 5 {
                scale["spec"]["replicas"] = 4.into();
                attributes.replace(scale).await?;
            }
            Ok(())
        })
    }
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let target = attributes.target();
            let kind = target.kind.facts();
            let new = attributes.json(Side::New, kind.api_version).await?;
            let seen = new.map_or(json!(null), |it| it["kind"].clone());
            let text = format!(
                "{} {}/{} {} {} {seen}",
                target.operation,
                target.resource.plural,
                target.subresource,
                target.name,
                kind.kind,
            );
            self.0.lock().push(text);
            Ok(())
        })
    }
}

async fn fixture() -> (Arc<Noting>, Fixture) {
    let plugin = Arc::new(Noting::default());
    let own = Arc::clone(&plugin) as Arc<dyn AdmissionPlugin>;
    (plugin, Fixture::only(own).await)
}

#[tokio::test]
async fn a_scale_is_admitted_as_a_scale() {
    let (plugin, fixture) = fixture().await;
    let mut template = pod("", json!({}));
    template["metadata"] = json!({"labels": {"a": "b"}});
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    });
    let created = fixture.create(DEPLOYMENTS, deployment).await;
    created.expect("it is valid");
    let scale = json!({
        "metadata": {"name": "d", "namespace": "default"},
        "spec": {"replicas": 5},
    });
    let scaled = fixture.put(DEPLOYMENTS, "scale", scale).await;
    assert_eq!(scaled.expect("it is valid")["spec"]["replicas"], 4);
    let stored = fixture.get(DEPLOYMENTS, "d").await.expect("it exists");
    assert_eq!(stored["spec"]["replicas"], 4);
    let expected = "UPDATE deployments/scale d Scale \"Scale\"";
    assert_eq!(*plugin.0.lock(), [expected]);
}

#[tokio::test]
async fn bindings_and_evictions_are_admitted_and_what_they_do_is_not() {
    let (plugin, fixture) = fixture().await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    created.expect("it is valid");
    let binding = json!({
        "metadata": {"name": "p"},
        "target": {"kind": "Node", "name": "n"},
    });
    let bound = fixture.act(PODS, ("p", "binding"), binding).await;
    bound.expect("it is free");
    let eviction = json!({"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 0}});
    let evicted = fixture.act(PODS, ("p", "eviction"), eviction).await;
    evicted.expect("nothing protects it");
    assert_eq!(
        *plugin.0.lock(),
        [
            "CREATE pods/binding p Binding \"Binding\"",
            "CREATE pods/eviction p Eviction \"Eviction\"",
        ]
    );
}

#[tokio::test]
async fn a_status_is_admitted_as_the_object() {
    let (plugin, fixture) = fixture().await;
    let created = fixture.create(PODS, pod("p", json!({}))).await;
    let mut pod = created.expect("it is valid");
    pod["status"]["message"] = "m".into();
    let updated = fixture.put(PODS, "status", pod).await;
    assert_eq!(updated.expect("it is valid")["status"]["message"], "m");
    assert_eq!(*plugin.0.lock(), ["UPDATE pods/status p Pod \"Pod\""]);
}
