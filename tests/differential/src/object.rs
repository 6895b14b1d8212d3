//! Objects and deltas, as traces describe them.

use kubist_apimachinery::{ObjectMeta, ObjectName, Str};
use kubist_cache::{Deleted, Delta, Replacement};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most deltas of a line; a longer batch is reduced to its ends.
const DELTAS_MAX: usize = 40;

/// A state of an object.
#[derive(Deserialize)]
pub(crate) struct Object {
    #[serde(default)]
    ns: Str,
    n: Str,
    v: Str,
    u: Str,
    #[serde(default)]
    l: BTreeMap<Str, Str>,
}

/// A list response.
#[derive(Deserialize)]
pub(crate) struct List {
    objects: Vec<Object>,
    version: Str,
}

impl Object {
    pub(crate) fn into_meta(self) -> Arc<ObjectMeta> {
        Arc::new(ObjectMeta {
            namespace: self.ns,
            name: self.n,
            resource_version: self.v,
            uid: self.u,
            labels: self.l,
            ..ObjectMeta::default()
        })
    }
}

impl List {
    pub(crate) fn into_replacement(self) -> Replacement<ObjectMeta> {
        Replacement {
            resource_version: self.version.into(),
            objects: self.objects.into_iter().map(Object::into_meta).collect(),
            unreadable: Vec::new(),
        }
    }
}

/// `NAMESPACE/NAME`, also where there is no namespace.
pub(crate) fn name_text(name: &ObjectName) -> String {
    format!("{}/{}", name.namespace, name.name)
}

/// `NAMESPACE/NAME@VERSION`.
pub(crate) fn text(object: &ObjectMeta) -> String {
    let ObjectMeta {
        namespace,
        name,
        resource_version,
        ..
    } = object;
    format!("{namespace}/{name}@{resource_version}")
}

pub(crate) fn optional_text(object: Option<&Arc<ObjectMeta>>) -> String {
    object.map_or_else(|| "nothing".to_owned(), |object| text(object))
}

pub(crate) fn sorted_texts(objects: &[Arc<ObjectMeta>]) -> Value {
    let mut texts: Vec<_> = objects.iter().map(|object| text(object)).collect();
    texts.sort_unstable();
    texts.into()
}

/// A popped batch, and whether it belongs to the first list.
pub(crate) fn popped(deltas: &[Delta<ObjectMeta>], initial: bool) -> Value {
    let texts = match deltas {
        [first, .., last] if deltas.len() > DELTAS_MAX => {
            json!([deltas.len(), delta_text(first), delta_text(last)])
        }
        _ => deltas.iter().map(delta_text).collect(),
    };
    json!({ "initial": initial, "deltas": texts })
}

fn delta_text(delta: &Delta<ObjectMeta>) -> String {
    match delta {
        Delta::Added(object) => format!("Added {}", text(object)),
        Delta::Updated(object) => format!("Updated {}", text(object)),
        Delta::Replaced(object) => format!("Replaced {}", text(object)),
        Delta::Sync(object) => format!("Sync {}", text(object)),
        Delta::Deleted(Deleted::Known(object)) => format!("Deleted {}", text(object)),
        Delta::Deleted(Deleted::FinalStateUnknown { name, last_known }) => format!(
            "Deleted gone {}, was {}",
            name_text(name),
            optional_text(last_known.as_ref())
        ),
        Delta::ReplacedAll(list) => {
            let objects: Vec<_> = list.objects.iter().map(|object| text(object)).collect();
            format!(
                "ReplacedAll [{}] at {}",
                objects.join(" "),
                list.resource_version
            )
        }
        Delta::SyncAll => "SyncAll".to_owned(),
        Delta::Bookmark(version) => format!("Bookmark {version}"),
        Delta::Unreadable { name, .. } => format!("Unreadable {}", name_text(name)),
    }
}
