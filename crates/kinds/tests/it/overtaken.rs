//! Writes are committed only on the state that was checked, despite concurrent writes.

mod creates;
mod deletes;
mod evictions;
mod matrix;
mod stored_versions;

use crate::custom;
use crate::fixture::{Fixture, config_map};
use crate::turnstile::{Pair, at_every_call, at_every_call_of};
use kubist_apimachinery::{AnyObject, PostOptions, Status};
use kubist_registry::{Rest, Stored, UpdatedObject};

/// An update of the current object, like a patch.
pub(crate) struct Edit<F>(pub(crate) F);

impl<F: Fn(&mut dyn AnyObject) + Send + Sync> UpdatedObject for Edit<F> {
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let mut object = old.expect("it exists").boxed_clone();
        (self.0)(&mut *object);
        Ok(object)
    }
}

/// Defines widgets, which both servers serve. Neither observes later changes of the definition.
async fn define_widgets(pair: &Pair) {
    let widgets = custom::definition("widgets", "Widget", &custom::versions());
    pair.second.create(widgets).await;
    for fixture in [&pair.first, &pair.second] {
        tokio::select! {
            () = fixture.registry.run_definitions() => {}
            _ = custom::served(fixture, "v1") => {}
        }
    }
}

/// Patches an object.
pub(crate) async fn patch(
    fixture: &Fixture,
    rest: &Rest,
    name: &str,
    edit: impl Fn(&mut dyn AnyObject) + Send + Sync,
) -> Result<Stored, Status> {
    let namespace = if rest.facts().namespaced {
        "default"
    } else {
        ""
    };
    let (cx, options) = (fixture.cx(), PostOptions::default());
    let edit = Edit(edit);
    let updated = rest.update(&cx, namespace, name, &edit, &options);
    Ok(updated.await?.object)
}
