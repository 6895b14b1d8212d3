//! The cases of upstream's REST storage tester, for every served resource.
//!
//! The tests are generic. For each resource, they use only its discovery data and a minimal valid
//! object.

mod create;
mod delete;
mod growth;
mod minimal;
mod read;
mod update;

use crate::fixture::{Fixture, names, options};
use kubist_apimachinery::wire::{DecodeContext, merge_json};
use kubist_apimachinery::{AnyObject, DeleteOptions, PostOptions, ResourceVersion, Status};
use kubist_registry::{Created, Deleted, Dependents, Replacement, Rest, Stored};
use serde_json::{Value, json};
use std::sync::Arc;

/// One resource under test, in an otherwise empty registry.
struct Tester {
    fixture: Fixture,
    rest: Arc<Rest>,
}

/// The resource in the messages of failed checks.
type Who = String;

impl Tester {
    async fn new(group: &str, version: &str, plural: &str) -> Self {
        let fixture = Fixture::new().await;
        let rest = fixture.rest(group, version, plural);
        let mut other = kubist_api::core::v1::Namespace::default();
        other.metadata.name = "other".into();
        if plural != "namespaces" {
            fixture.create(other).await;
        }
        Self { fixture, rest }
    }

    fn who(&self) -> Who {
        let facts = self.rest.facts();
        format!("{}/{} {}", facts.group, facts.version, facts.plural)
    }

    fn namespace(&self) -> &'static str {
        if self.rest.facts().namespaced {
            "default"
        } else {
            ""
        }
    }

    /// Returns a valid object. Kinds with a fixed name ignore `name`.
    fn object(&self, name: &str) -> Box<dyn AnyObject> {
        self.object_for("default", name)
    }

    /// Like [`Self::object`], for kinds that contain a namespace in a field.
    fn object_for(&self, namespace: &str, name: &str) -> Box<dyn AnyObject> {
        let mut tree = minimal::object(self.rest.facts(), namespace);
        if tree["metadata"]["name"].is_null() {
            tree["metadata"]["name"] = json!(name);
        }
        tree["metadata"]["labels"]["of"] = json!(name);
        self.decode(&tree)
    }

    fn decode(&self, tree: &Value) -> Box<dyn AnyObject> {
        let mut object = self.rest.new_object().expect("it has metadata");
        let text = tree.to_string();
        merge_json(&mut *object, text.as_bytes(), &mut DecodeContext::new())
            .unwrap_or_else(|error| panic!("{}: {error}", self.who()));
        object
    }

    fn has_own_name(&self) -> bool {
        !minimal::object(self.rest.facts(), "default")["metadata"]["name"].is_null()
    }

    async fn create_in(
        &self,
        namespace: &str,
        object: Box<dyn AnyObject>,
        dry_run: bool,
    ) -> Result<Stored, Status> {
        let options = PostOptions {
            dry_run,
            ..PostOptions::default()
        };
        let cx = self.fixture.cx();
        match self
            .rest
            .create(&cx, namespace, "", object, &options)
            .await?
        {
            Created::Object(stored) => Ok(stored),
            Created::Status(status) => Err(*status),
        }
    }

    async fn create(&self, name: &str) -> Box<dyn AnyObject> {
        let created = self.create_in(self.namespace(), self.object(name), false);
        let created = created.await;
        let created = created.unwrap_or_else(|status| panic!("{}: {status:?}", self.who()));
        object_of(&created)
    }

    async fn get_in(&self, namespace: &str, name: &str) -> Result<Stored, Status> {
        let any = ResourceVersion::default();
        self.rest
            .get(&self.fixture.cx(), namespace, name, &any)
            .await
    }

    async fn get(&self, name: &str) -> Result<Stored, Status> {
        self.get_in(self.namespace(), name).await
    }

    async fn put(&self, object: Box<dyn AnyObject>) -> Result<Stored, Status> {
        let name = object.meta().name.clone();
        let new = Replacement(object);
        let options = PostOptions::default();
        let cx = self.fixture.cx();
        let updated = self
            .rest
            .update(&cx, self.namespace(), &name, &new, &options);
        Ok(updated.await?.object)
    }

    async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Deleted, Status> {
        let cx = self.fixture.cx();
        self.rest.delete(&cx, self.namespace(), name, options).await
    }

    async fn list(&self, query: &str) -> Vec<String> {
        let cx = self.fixture.cx();
        let options = options(query);
        let page = self.rest.list(&cx, self.namespace(), &options);
        names(
            &page
                .await
                .unwrap_or_else(|status| panic!("{}: {status}", self.who())),
        )
    }
}

/// Reports whether an object's deletion is not immediate: because of its kind, because its
/// dependents are orphaned, or because it has initial finalizers.
fn waits(rest: &Rest, object: &dyn AnyObject) -> bool {
    let plural = rest.facts().plural;
    matches!(plural, "namespaces" | "customresourcedefinitions")
        || rest.strategy().facts().default_dependents == Dependents::Orphan
        || !object.meta().finalizers.is_empty()
}

fn object_of(stored: &Stored) -> Box<dyn AnyObject> {
    stored.object().expect("readable").boxed_clone()
}

fn code<T>(result: Result<T, Status>) -> i32 {
    result.map_or_else(|status| status.code, |_| 200)
}

/// Returns every served resource that can be created: group, version and plural name.
async fn everything() -> Vec<(&'static str, &'static str, &'static str)> {
    let fixture = Fixture::new().await;
    let mut all: Vec<_> = fixture
        .registry
        .resources()
        .map(|rest| rest.facts())
        .filter(|facts| facts.verbs.contains(&"create"))
        .map(|facts| (facts.group, facts.version, facts.plural))
        .collect();
    all.sort_unstable();
    assert!(all.len() > 80, "{} resources", all.len());
    all
}

/// Runs a test for every served resource.
async fn over_all(test: impl AsyncFn(&Tester)) {
    for (group, version, plural) in everything().await {
        test(&Tester::new(group, version, plural).await).await;
    }
}
