//! All mutating verbs.

use super::rows::{JsonEdit, OLD, Row};
use crate::fixture::{Fixture, options};
use kubist_apimachinery::{DeleteOptions, PostOptions, Status};
use kubist_registry::Rest;
use serde_json::{Value, json};

/// A finalizer that is added later and never removed.
pub(super) const NEW: &str = "x.io/new";
/// A label that is added later.
pub(super) const LABEL: &str = "later";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    /// Patches the labels.
    Label,
    AddFinalizer,
    RemoveFinalizer,
    /// Patches the desired state.
    Edit,
    /// Updates with the initial resource version.
    Put,
    Status,
    Scale,
    Delete,
    /// Deletes without a grace period.
    DeleteNow,
    /// Deletes the initial resource version.
    DeleteThis,
    DeleteCollection,
    /// Deletes the object and creates another.
    Replace,
}

impl Verb {
    pub(super) const ALL: [Self; 13] = [
        Self::Create,
        Self::Label,
        Self::AddFinalizer,
        Self::RemoveFinalizer,
        Self::Edit,
        Self::Put,
        Self::Status,
        Self::Scale,
        Self::Delete,
        Self::DeleteNow,
        Self::DeleteThis,
        Self::DeleteCollection,
        Self::Replace,
    ];

    pub(super) fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Reports whether the verb requires that no object with the name exists.
    pub(super) fn needs_none(self) -> bool {
        self == Self::Create
    }

    pub(super) fn suits(self, row: &Row) -> bool {
        match self {
            Self::Edit => row.edit.is_some(),
            Self::Status => row.status.is_some(),
            Self::Scale => row.scales,
            Self::DeleteCollection => row.plural != "namespaces",
            _ => true,
        }
    }

    /// Runs the verb on an object. Returns the resource version in the response, or zero without
    /// one.
    pub(super) async fn run(
        self,
        fixture: &Fixture,
        row: &'static Row,
        of: &str,
        before: u64,
    ) -> Result<u64, Status> {
        let rest = &*row.rest(fixture);
        let call = Call {
            fixture,
            rest,
            namespace: row.namespace(fixture),
            name: &row.name(of),
        };
        match self {
            Self::Create => row.create(fixture, of).await,
            Self::Label => {
                let label = |it: &mut Value| it["metadata"]["labels"][LABEL] = json!("x");
                call.patch(rest, &label).await
            }
            Self::AddFinalizer => call.patch(rest, &add).await,
            Self::RemoveFinalizer => call.patch(rest, &remove).await,
            Self::Edit => call.patch(rest, &row.edit.expect("it suits")).await,
            Self::Put => {
                let put = |it: &mut Value| {
                    it["metadata"]["annotations"] = json!({"put": "x"});
                    it["metadata"]["resourceVersion"] = json!(before.to_string());
                };
                call.patch(rest, &put).await
            }
            Self::Status => {
                let part = rest.subresource("status").expect("it suits");
                call.patch(&part, &row.status.expect("it suits")).await
            }
            Self::Scale => {
                let part = rest.subresource("scale").expect("it suits");
                let scale = |it: &mut Value| it["spec"]["replicas"] = json!(3);
                call.patch(&part, &scale).await
            }
            Self::Delete => call.delete(DeleteOptions::default()).await,
            Self::DeleteNow => call.delete(at_once()).await,
            Self::DeleteThis => {
                let mut this = DeleteOptions::default();
                let preconditions = this.preconditions.get_or_insert_default();
                preconditions.resource_version = Some(before.to_string().into());
                call.delete(this).await
            }
            Self::DeleteCollection => {
                let list = options(&format!("labelSelector=name={of}"));
                let (cx, now) = (fixture.cx(), DeleteOptions::default());
                let deleted = rest.delete_collection(&cx, call.namespace, &list, &now);
                deleted.await.map(|_| 0)
            }
            Self::Replace => {
                drop(call.patch(rest, &remove).await);
                drop(call.delete(at_once()).await);
                row.create(fixture, of).await
            }
        }
    }
}

fn at_once() -> DeleteOptions {
    DeleteOptions {
        grace_period_seconds: Some(0),
        ..DeleteOptions::default()
    }
}

fn add(object: &mut Value) {
    let finalizers = &mut object["metadata"]["finalizers"];
    let mut all = finalizers.as_array().cloned().unwrap_or_default();
    if !all.contains(&json!(NEW)) {
        all.push(json!(NEW));
    }
    *finalizers = json!(all);
}

fn remove(object: &mut Value) {
    let finalizers = &mut object["metadata"]["finalizers"];
    let mut all = finalizers.as_array().cloned().unwrap_or_default();
    all.retain(|it| *it != OLD);
    *finalizers = json!(all);
}

struct Call<'a> {
    fixture: &'a Fixture,
    rest: &'a Rest,
    namespace: &'a str,
    name: &'a str,
}

impl Call<'_> {
    async fn patch(
        &self,
        rest: &Rest,
        edit: &(dyn Fn(&mut Value) + Send + Sync),
    ) -> Result<u64, Status> {
        let (cx, options) = (self.fixture.cx(), PostOptions::default());
        let edit = JsonEdit { rest, edit };
        let updated = rest.update(&cx, self.namespace, self.name, &edit, &options);
        Ok(updated.await?.object.revision())
    }

    async fn delete(&self, options: DeleteOptions) -> Result<u64, Status> {
        let cx = self.fixture.cx();
        let deleted = self.rest.delete(&cx, self.namespace, self.name, &options);
        deleted.await.map(|_| 0)
    }
}
