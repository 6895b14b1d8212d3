//! Create and update, of objects and of their subresources.

use super::{Rest, Updated, Verb};
use crate::rest::scale::{self, ScaleOwners, ScaleView};
use crate::rest::subresource::Subresource;
use crate::store::GroupRules;
use crate::store::action::{ActionCall, Created};
use crate::store::admission::operation::Operation;
use crate::store::admission::options::Options;
use crate::store::admission::target::Target;
use crate::store::create::CreateCall;
use crate::store::resource_store::ResourceStore;
use crate::store::tracking::Tracking;
use crate::store::update::{UpdateRequest, UpdateScope};
use crate::store::updated_object::UpdatedObject;
use crate::stored::Stored;
use crate::stored::scheme::StoredKind;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{AnyObject, PostOptions, Preconditions, Status};

impl Rest {
    /// Creates an object in `namespace`. For a subresource, `name` is the object's name; it is
    /// empty otherwise.
    pub async fn create(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        mut object: Box<dyn AnyObject>,
        options: &PostOptions,
    ) -> Result<Created, Status> {
        self.check_verb(Verb::Create)?;
        let dry_run = options.dry_run;
        let admitting = self.admitting(Options::Post(options), None);
        if let Subresource::Action(subresource, action) = self.subresource {
            if let Some(admitting) = admitting {
                let target = Target {
                    operation: Operation::Create,
                    resource: self.facts,
                    subresource,
                    kind: self.body_kind(),
                    namespace,
                    name,
                    dry_run,
                };
                admitting.admit_action(cx, target, &mut object).await?;
            }
            let call = ActionCall {
                store: &ResourceStore::new(&self.stores, &self.store),
                cx,
                subresource,
                namespace,
                name,
                body: &*object,
                dry_run,
            };
            return action.act(call).await;
        }
        let object = self.to_storage(object)?;
        let call = CreateCall {
            stores: &self.stores,
            cx,
            dry_run,
            tracking: &self.tracking(cx, options),
            rules: self.group_rules(),
            admitting,
        };
        let created = self.store().create(call, namespace, object).await;
        let created = created.map_err(|status| self.in_own_group(status))?;
        Ok(Created::Object(self.serve(&created)?))
    }

    /// Replaces the stored object by the result of `object`: PUT and PATCH.
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
        if matches!(self.subresource, Subresource::Scale) {
            let tracking = self.tracking(cx, options);
            let object = self.rescale(cx, (namespace, name), object, &tracking, options);
            let object = object.await?;
            return Ok(Updated {
                object,
                created: false,
            });
        }
        let served = Served { rest: self, object };
        let tracking = self.tracking(cx, options);
        let request = UpdateRequest {
            tracking: (!object.has_managers()).then_some(&tracking),
            admitting: self.admitting(Options::Post(options), None),
            ..self.request(cx, namespace, name, &served, dry_run)
        };
        let outcome = self.store().update(request).await;
        let outcome = outcome.map_err(|status| self.in_own_group(status))?;
        Ok(Updated {
            object: self.serve(&outcome.stored)?,
            created: outcome.created,
        })
    }

    /// Replaces the storage group in an error of the store by the requested group: events are
    /// served by two groups.
    pub(super) fn in_own_group(&self, mut status: Status) -> Status {
        let store = self.store();
        let Some(details) = &mut status.details else {
            return status;
        };
        let is_same = self.facts.group == store.group;
        if is_same || !details.group.is_empty() || details.kind != store.plural {
            return status;
        }
        details.group = self.facts.group.into();
        let name = &details.name;
        let stored = format!("{} {name:?}", store.resource());
        let asked = format!("{} {name:?}", self.group_resource());
        status.message = status.message.replacen(&stored, &asked, 1).into();
        status
    }

    /// Updates a scale through its workload.
    async fn rescale(
        &self,
        cx: &RequestContext,
        (namespace, name): (&str, &str),
        object: &dyn UpdatedObject,
        tracking: &Tracking<'_>,
        options: &PostOptions,
    ) -> Result<Stored, Status> {
        let paths = self.scale_paths();
        let scaled = scale::Scaled {
            scale: object,
            owners: Some(ScaleOwners {
                rest: self,
                tracking,
            }),
            resource: self.group_resource(),
            name,
            missing: self.has_no_scale(),
            paths: paths.as_ref(),
            scheme: self.scheme(),
        };
        let view = ScaleView {
            paths: paths.as_ref(),
            scheme: self.scheme(),
            missing: self.has_no_scale(),
        };
        let request = UpdateRequest {
            admitting: self.admitting(Options::Post(options), Some(&view)),
            ..self.request(cx, namespace, name, &scaled, options.dry_run)
        };
        let stored = self.store().update(request).await?.stored;
        let scale = scale::of(&**stored.object()?, paths.as_ref(), self.scheme())?
            .ok_or_else(|| self.has_no_scale())?;
        let kind = StoredKind::plain(self.body_kind());
        Ok(Stored::from_object(
            kind,
            stored.revision(),
            Box::new(scale),
        ))
    }

    fn request<'a>(
        &'a self,
        cx: &'a RequestContext,
        namespace: &'a str,
        name: &'a str,
        object: &'a dyn UpdatedObject,
        dry_run: bool,
    ) -> UpdateRequest<'a> {
        UpdateRequest {
            stores: &self.stores,
            cx,
            namespace,
            name,
            object,
            scope: self.update_scope(),
            subresource: self.subresource.name(),
            dry_run,
            tracking: None,
            rules: self.group_rules(),
            admitting: None,
        }
    }

    /// Returns the validation rules of the group that objects are written through.
    pub(super) fn group_rules(&self) -> Option<GroupRules> {
        self.stores.kinds.group_rules(self.facts)
    }

    /// Returns the fields of the object that an update through this path may change.
    pub(super) fn update_scope(&self) -> UpdateScope {
        match self.subresource {
            Subresource::None | Subresource::Scale => UpdateScope::Whole,
            Subresource::Status(_) => UpdateScope::Status,
            Subresource::Finalize | Subresource::Action(..) | Subresource::Other(_) => {
                UpdateScope::Other
            }
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

    fn has_managers(&self) -> bool {
        self.object.has_managers()
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
