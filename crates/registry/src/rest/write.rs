//! Create and update, of objects and of their subresources.

use super::{Created, Rest, Updated, UpdatedObject, Verb};
use crate::raw::Outcome;
use crate::store::{Part, UpdateRequest};
use crate::subresource::Subresource;
use crate::{RequestContext, Stored, pod_subresources, scale};
use kubist_apimachinery::{AnyObject, PostOptions, Preconditions, Status};

impl Rest {
    /// Creates an object in `namespace`. For a subresource, `name` is that of the object; it is
    /// empty otherwise.
    pub async fn create(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        object: Box<dyn AnyObject>,
        options: &PostOptions,
    ) -> Result<Created, Status> {
        self.check_verb(Verb::Create)?;
        match self.subresource {
            Subresource::Binding => {
                let dry_run = options.dry_run;
                pod_subresources::bind(self, cx, namespace, name, &*object, dry_run).await
            }
            Subresource::Eviction => {
                let dry_run = options.dry_run;
                pod_subresources::evict(self, cx, namespace, name, &*object, dry_run).await
            }
            _ => {
                let object = self.to_storage(object)?;
                let store = self.store();
                let created = store.create(&self.shared, cx, namespace, object, options.dry_run);
                Ok(Created::Object(self.serve(&created.await?)?))
            }
        }
    }

    /// Puts what `object` makes of the stored one in its place: PUT and PATCH.
    pub async fn update(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        object: &dyn UpdatedObject,
        options: &PostOptions,
    ) -> Result<Updated, Status> {
        self.check_verb(Verb::Update)?;
        let dry_run = options.dry_run;
        let outcome = match self.subresource {
            Subresource::Scale => {
                let scaled = scale::Scaled {
                    scale: object,
                    name,
                    missing: self.has_no_scale(),
                };
                let request = self.request(cx, namespace, name, &scaled, dry_run);
                let outcome = self.store().update(request).await?;
                let stored = &outcome.stored;
                let scale = scale::of(&**stored.object()?).ok_or_else(|| self.has_no_scale())?;
                let object =
                    Stored::from_object(self.body_kind(), stored.revision(), Box::new(scale));
                return Ok(Updated {
                    object,
                    created: false,
                });
            }
            _ => {
                let served = Served { rest: self, object };
                self.update_stored(cx, namespace, name, &served, dry_run)
                    .await?
            }
        };
        Ok(Updated {
            object: self.serve(&outcome.stored)?,
            created: outcome.created,
        })
    }

    /// The same with an object of the storage version.
    pub(crate) async fn update_stored(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        object: &dyn UpdatedObject,
        dry_run: bool,
    ) -> Result<Outcome, Status> {
        let request = self.request(cx, namespace, name, object, dry_run);
        self.store().update(request).await
    }

    fn request<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: &'a dyn UpdatedObject,
        dry_run: bool,
    ) -> UpdateRequest<'a> {
        let part = match self.subresource {
            Subresource::None | Subresource::Scale => Part::Whole,
            Subresource::Status(_) => Part::Status,
            Subresource::Finalize
            | Subresource::Binding
            | Subresource::Eviction
            | Subresource::PodSpec(_) => Part::Unchecked,
        };
        UpdateRequest {
            shared: &self.shared,
            cx,
            namespace,
            name,
            object,
            part,
            subresource: self.subresource.name(),
            dry_run,
        }
    }

    pub(crate) fn has_no_scale(&self) -> Status {
        let kind = self.facts.kind;
        Status::internal_error(format_args!("{kind} has no scale"))
    }
}

/// An update in the served version, for a store that works in the storage version.
struct Served<'a> {
    rest: &'a Rest,
    object: &'a dyn UpdatedObject,
}

impl UpdatedObject for Served<'_> {
    fn preconditions(&self) -> Preconditions {
        self.object.preconditions()
    }

    fn creates(&self) -> bool {
        self.object.creates()
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let rest = self.rest;
        if std::ptr::eq(rest.kind, rest.store().kind()) {
            return self.object.updated(old);
        }
        let old = old
            .map(|old| rest.to_served(old.boxed_clone()))
            .transpose()?;
        rest.to_storage(self.object.updated(old.as_deref())?)
    }
}
