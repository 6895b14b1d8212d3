//! Deletions are admitted, each object of a collection by itself.

use crate::fixture::{Fixture, MAPS, config_map};
use kubist_apimachinery::{DeleteOptions, ListOptions, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use parking_lot::Mutex;
use std::sync::Arc;

/// Notes deletions, and refuses those of `kept`.
#[derive(Debug, Default)]
struct Keeping(Mutex<Vec<(String, String)>>);

impl AdmissionPlugin for Keeping {
    fn name(&self) -> &'static str {
        "Keeping"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Delete
    }
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        assert!(attributes.object().is_none());
        let old = attributes.old_object().expect("a deletion is of an object");
        let (requested, name) = (attributes.target().name, old.meta().name.to_string());
        let judged = if name == "kept" {
            Err(attributes.forbidden("it is kept"))
        } else {
            Ok(())
        };
        self.0.lock().push((requested.to_owned(), name));
        Box::pin(std::future::ready(judged))
    }
}

#[tokio::test]
async fn a_deletion_is_judged_by_the_object_that_it_is_about() {
    let plugin = Arc::new(Keeping::default());
    let fixture = Fixture::only(Arc::clone(&plugin) as Arc<dyn AdmissionPlugin>).await;
    for name in ["a", "kept"] {
        let created = fixture.create(MAPS, config_map(name)).await;
        created.expect("it is valid");
    }
    fixture.delete(MAPS, "a").await.expect("nothing keeps it");
    let status = fixture.delete(MAPS, "kept").await;
    assert_eq!(
        status.expect_err("it is kept").message,
        "configmaps \"kept\" is forbidden: it is kept"
    );
    let both = |name: &str| (name.to_owned(), name.to_owned());
    assert_eq!(*plugin.0.lock(), [both("a"), both("kept")]);
}

#[tokio::test]
async fn the_deletion_of_a_collection_names_no_object() {
    let plugin = Arc::new(Keeping::default());
    let fixture = Fixture::only(Arc::clone(&plugin) as Arc<dyn AdmissionPlugin>).await;
    for name in ["a", "b", "kept"] {
        let created = fixture.create(MAPS, config_map(name)).await;
        created.expect("it is valid");
    }
    let (cx, rest) = (fixture.cx(), fixture.rest(MAPS, ""));
    let (list, options) = (ListOptions::default(), DeleteOptions::default());
    let deleted = rest.delete_collection(&cx, "default", &list, &options);
    assert_eq!(
        deleted.await.expect_err("one is kept").message,
        "configmaps \"Unknown\" is forbidden: it is kept"
    );
    let judged = std::mem::take(&mut *plugin.0.lock());
    let unnamed = |name: &str| (String::new(), name.to_owned());
    assert_eq!(*judged, [unnamed("a"), unnamed("b"), unnamed("kept")]);
    drop(judged);
    assert!(fixture.get(MAPS, "a").await.is_err());
    assert!(fixture.get(MAPS, "kept").await.is_ok());
}
