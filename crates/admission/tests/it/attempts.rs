//! What was judged is what is stored: an update that meets another write is judged again.

use crate::fixture::{Fixture, MAPS, config_map};
use kubist_api::core::v1::ConfigMap;
use kubist_apimachinery::{AnyObject, PostOptions, Status};
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use kubist_registry::{BoxFuture, UpdatePath, UpdatedObject};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// Notes what it judges, and intervenes once, with a write of its own.
#[derive(Debug, Default)]
struct Intervening(Mutex<Vec<String>>);

/// Appends to the data of a map.
struct Append(&'static str);

impl UpdatedObject for Append {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old: &dyn Any = old.expect("it exists");
        let mut map = old.downcast_ref::<ConfigMap>().expect("it is one").clone();
        let text = map.data.entry("text".into()).or_default();
        *text = format!("{text}{}", self.0).into();
        Ok(Box::new(map))
    }
}

impl AdmissionPlugin for Intervening {
    fn name(&self) -> &'static str {
        "Intervening"
    }
    fn handles(&self, target: &Target<'_>) -> bool {
        target.operation == Operation::Update && target.is_object("", "configmaps")
    }
    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let map = attributes.typed::<ConfigMap>().expect("it is one");
            let text = map.data["text"].to_string();
            let is_first = {
                let mut judged = self.0.lock();
                judged.push(text);
                judged.len() == 1
            };
            if is_first {
                let maps = attributes.stores().resource("", "configmaps");
                let maps = maps.expect("they are stored");
                let (cx, at) = (attributes.cx(), ("default", "m"));
                maps.update(cx, at, &Append("other"), UpdatePath::Whole, false)
                    .await?;
            }
            Ok(())
        })
    }
}

#[tokio::test]
async fn an_update_that_meets_another_write_is_judged_again() {
    let plugin = Arc::new(Intervening::default());
    let fixture = Fixture::only(Arc::clone(&plugin) as Arc<dyn AdmissionPlugin>).await;
    let created = fixture.create(MAPS, config_map("m")).await;
    created.expect("it is valid");
    let (cx, options) = (fixture.cx(), PostOptions::default());
    let rest = fixture.rest(MAPS, "");
    let updated = rest.update(&cx, "default", "m", &Append("own"), &options);
    updated.await.expect("it is valid");
    assert_eq!(*plugin.0.lock(), ["own", "otherown"]);
    let stored = fixture.get(MAPS, "m").await.expect("it exists");
    assert_eq!(stored["data"]["text"], "otherown");
}
