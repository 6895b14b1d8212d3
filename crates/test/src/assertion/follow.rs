//! `Follow`: the objects that an assertion looks at, as their watch shows them: every version of
//! each, in order.

use futures_util::StreamExt as _;
use kubist::apimachinery::wire::{Encode, Encoding};
use kubist::apimachinery::{FieldSelector, ListOptions, Object, Selector};
use kubist::cache::WatchItem;
use kubist::client::WatchOn;
use kubist::client::{Api, ApiError};
use serde_json::Value;

/// The objects now, and what changed last.
pub(super) struct Follow<K> {
    api: Api<K>,
    options: ListOptions,
    /// By namespace and name.
    objects: Vec<K>,
    events: Option<WatchOn<K>>,
    last: Last,
}

/// The object that changed last.
#[derive(Debug, Default)]
pub(super) struct Last {
    pub(super) object: Option<Value>,
    /// Its version before.
    pub(super) before: Option<Value>,
    pub(super) deleted: bool,
}

impl<K: Object + Encode> Follow<K> {
    /// `name`: the object to follow; none for all.
    pub(super) fn new(api: Api<K>, name: Option<&str>, labels: Selector) -> Self {
        let field_selector = name.map_or_else(FieldSelector::default, |name| {
            FieldSelector::equals("metadata.name", name)
        });
        Self {
            api,
            options: ListOptions {
                field_selector,
                label_selector: labels,
                ..ListOptions::default()
            },
            objects: Vec::new(),
            events: None,
            last: Last::default(),
        }
    }

    /// The objects, by namespace and name.
    pub(super) fn objects(&self) -> &[K] {
        &self.objects
    }

    pub(super) fn into_objects(self) -> Vec<K> {
        self.objects
    }

    pub(super) fn last(&self) -> &Last {
        &self.last
    }

    /// Returns whether the objects could have changed: at first they are listed, then it waits for
    /// the next event.
    ///
    /// Cancel safe: an event is applied or not yet taken.
    pub(super) async fn change(&mut self) -> Result<(), ApiError> {
        loop {
            let Some(events) = &mut self.events else {
                return self.list().await;
            };
            match events.next().await {
                Some(Ok(WatchItem::Added(object) | WatchItem::Modified(object))) => {
                    self.put(object);
                    return Ok(());
                }
                Some(Ok(WatchItem::Deleted(object))) => {
                    self.remove(&object);
                    return Ok(());
                }
                Some(Ok(WatchItem::Bookmark { .. })) => {}
                // What cannot be decoded is an error of the list.
                Some(Ok(WatchItem::Invalid(_))) | None => self.events = None,
                Some(Err(error)) if error.is_expired() || error.is_gone() => self.events = None,
                Some(Err(error)) => return Err(error),
            }
        }
    }

    async fn list(&mut self) -> Result<(), ApiError> {
        let list = self.api.list(&self.options).await?;
        let options = ListOptions {
            resource_version: list.metadata.resource_version.into(),
            ..self.options.clone()
        };
        self.events = Some(self.api.watch_on(&options)?);
        self.objects = list.items;
        self.objects.sort_by_key(Object::object_name);
        // The one that was written last.
        let version = |it: &&K| it.resource_version().parse::<u64>().unwrap_or_default();
        if let Some(newest) = self.objects.iter().max_by_key(version) {
            self.last = Last {
                object: tree(newest),
                before: None,
                deleted: false,
            };
        }
        Ok(())
    }

    fn put(&mut self, object: K) {
        let object_tree = tree(&object);
        let place = self.place(&object);
        let before = match place {
            Ok(index) => tree(&std::mem::replace(&mut self.objects[index], object)),
            Err(index) => {
                self.objects.insert(index, object);
                None
            }
        };
        self.last = Last {
            object: object_tree,
            before,
            deleted: false,
        };
    }

    fn remove(&mut self, object: &K) {
        let place = self.place(object);
        let before = place
            .ok()
            .and_then(|index| tree(&self.objects.remove(index)));
        self.last = Last {
            object: tree(object),
            before,
            deleted: true,
        };
    }

    fn place(&self, object: &K) -> Result<usize, usize> {
        let name = object.object_name();
        self.objects
            .binary_search_by_key(&name, Object::object_name)
    }
}

/// Returns an object as JSON; none if it cannot be expressed so.
fn tree<K: Encode>(object: &K) -> Option<Value> {
    let text = object.encode(Encoding::Json).ok()?;
    serde_json::from_slice(&text).ok()
}
