//! Plugins of a program's own: what they see, and what becomes of their changes.

use crate::fixture::{Fixture, MAPS, config_map};
use kubist_admission::PluginSelection;
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{PostOptions, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Options, Side, Target};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Changes objects by a function.
#[derive(Debug)]
struct Changing(fn(&mut Attributes<'_>));

impl AdmissionPlugin for Changing {
    fn name(&self) -> &'static str {
        "Changing"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        target.is_object("", "configmaps")
    }
    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        (self.0)(attributes);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn what_a_plugin_changes_is_stored() {
    let fixture = Fixture::only(Arc::new(Changing(|attributes| {
        if let Some(map) = attributes.typed_mut::<ConfigMap>() {
            map.data.insert("added".into(), "x".into());
        }
    })))
    .await;
    let created = fixture.create(MAPS, config_map("m")).await;
    let mut created = created.expect("it is valid");
    assert_eq!(created["data"], json!({"added": "x"}));
    created["data"] = json!({"own": "y"});
    let updated = fixture.put(MAPS, "", created).await.expect("it is valid");
    assert_eq!(updated["data"], json!({"own": "y", "added": "x"}));
}

#[tokio::test]
async fn a_plugin_cannot_move_an_object_to_another_namespace() {
    let fixture = Fixture::only(Arc::new(Changing(|attributes| {
        if let Some(object) = attributes.object_mut() {
            object.meta_mut().namespace = "kube-system".into();
        }
    })))
    .await;
    let status = fixture.create(MAPS, config_map("m")).await;
    assert_eq!(status.expect_err("it is elsewhere").code, 400);
}

#[tokio::test]
async fn broken_managed_fields_are_put_back_with_a_warning() {
    let fixture = Fixture::only(Arc::new(Changing(|attributes| {
        if let Some(object) = attributes.object_mut() {
            let entries = &mut object.meta_mut().managed_fields;
            for entry in entries {
                entry.operation = "Nothing".into();
            }
        }
    })))
    .await;
    let (created, warnings) = fixture
        .create_warned(MAPS, json!({"metadata": {"name": "m"}, "data": {"a": "b"}}))
        .await;
    let entries = &created["metadata"]["managedFields"];
    assert_eq!(entries[0]["operation"], "Update");
    let start = ".metadata.managedFields was in an invalid state after admission; this could be \
                 caused by an outdated mutating admission controller; please fix your requests: ";
    assert!(warnings[0].starts_with(start), "{warnings:?}");
}

#[tokio::test]
async fn a_plugin_that_asks_for_it_runs_all_a_second_time() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let fixture = Fixture::only(Arc::new(Changing(|attributes| {
        RUNS.fetch_add(1, Ordering::Relaxed);
        let second = attributes.reinvocation().is_second();
        let noted = attributes.reinvocation().note::<u8>("Changing").copied();
        assert_eq!(noted, second.then_some(7));
        attributes.reinvocation_mut().set_note("Changing", 7_u8);
        attributes.reinvocation_mut().request();
    })))
    .await;
    let created = fixture.create(MAPS, config_map("m")).await;
    created.expect("it is valid");
    assert_eq!(RUNS.load(Ordering::Relaxed), 2);
}

/// Checks what it sees of a create.
#[derive(Debug)]
struct Seeing;

impl AdmissionPlugin for Seeing {
    fn name(&self) -> &'static str {
        "Seeing"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        target.is_object("", "configmaps")
    }
    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let before = attributes.json(Side::New, "v1").await?;
            let mut tree = Value::clone(&before.expect("there is a new object"));
            assert_eq!(tree["metadata"]["generateName"], "m-");
            assert_eq!(attributes.target().name, "");
            tree["data"] = json!({"by": "plugin"});
            attributes.replace(tree).await?;
            let after = attributes.json(Side::New, "v1").await?;
            assert_eq!(after.expect("it is there")["data"]["by"], "plugin");
            assert!(attributes.json(Side::Old, "v1").await?.is_none());
            Ok(())
        })
    }
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        let target = attributes.target();
        // By now the name is generated.
        assert!(target.name.starts_with("m-") && target.namespace == "default");
        let options = attributes.options().to_json(target.operation);
        let expected = json!({
            "kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me",
        });
        assert_eq!(options, Some(expected));
        assert!(matches!(attributes.options(), Options::Post(_)));
        let served: Vec<&str> = attributes
            .equivalents()
            .iter()
            .map(|it| it.version)
            .collect();
        assert_eq!(served, ["v1"]);
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn a_plugin_sees_the_request_and_replaces_its_object() {
    let fixture = Fixture::only(Arc::new(Seeing)).await;
    let options = PostOptions {
        field_manager: "me".into(),
        ..PostOptions::default()
    };
    let map = json!({"metadata": {"generateName": "m-"}});
    let cx = fixture.cx();
    let created = fixture.create_with(&cx, MAPS, map, &options).await;
    assert_eq!(created.expect("it is valid")["data"]["by"], "plugin");
}

#[tokio::test]
async fn own_plugins_run_before_quotas() {
    let own: Arc<dyn AdmissionPlugin> = Arc::new(Seeing);
    let chain = PluginSelection::default().chain(vec![own]);
    let names: Vec<&str> = chain.names().collect();
    assert!(names.ends_with(&["Seeing", "ResourceQuota"]), "{names:?}");
}
