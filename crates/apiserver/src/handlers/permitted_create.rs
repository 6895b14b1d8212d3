//! `PermittedCreate`: an update that creates a missing object only for those who may create it.
//!
//! Whoever may patch or update need not be allowed to create, as upstream. The permission is asked
//! for only when the object is found to be missing: the update stops there, and is made again once
//! it is permitted. What is stored is judged anew by the second one.

use crate::authorization::authorizer::Denial;
use crate::handlers::call::Call;
use crate::handlers::target::Target;
use kubist_apimachinery::{AnyObject, PostOptions, Preconditions, Status};
use kubist_authorization::{Action, Attributes, ResourceAction};
use kubist_registry::{Updated, UpdatedObject, Updater};
use std::sync::atomic::{AtomicBool, Ordering};

/// An update that stops where it would create.
struct PermittedCreate<'a> {
    object: &'a dyn UpdatedObject,
    is_missing: AtomicBool,
}

impl UpdatedObject for PermittedCreate<'_> {
    fn preconditions(&self) -> Preconditions {
        self.object.preconditions()
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        if old.is_none() {
            self.is_missing.store(true, Ordering::Relaxed);
            // Nobody sees it.
            return Err(Status::unauthorized());
        }
        self.object.updated(old)
    }

    fn has_managers(&self) -> bool {
        self.object.has_managers()
    }

    fn creates(&self) -> bool {
        self.object.creates()
    }
}

/// Updates an object, or creates it if the user may.
pub(super) async fn update(
    call: &Call<'_>,
    target: &Target,
    updater: &dyn Updater,
    object: &dyn UpdatedObject,
    options: &PostOptions,
) -> Result<Updated, Status> {
    let (namespace, name) = (&target.namespace, &target.name);
    if !call.server.authorization.allows_all() {
        let permitted = PermittedCreate {
            object,
            is_missing: AtomicBool::new(false),
        };
        let updated = updater
            .update(call.cx, namespace, name, &permitted, options)
            .await;
        if !permitted.is_missing.load(Ordering::Relaxed) {
            return updated;
        }
        permit(call, target).await?;
    }
    updater
        .update(call.cx, namespace, name, object, options)
        .await
}

/// Authorizes a create of the object of a request.
async fn permit(call: &Call<'_>, target: &Target) -> Result<(), Status> {
    let facts = target.rest.facts();
    let resource = ResourceAction {
        group: facts.group,
        version: facts.version,
        resource: facts.plural,
        namespace: &target.namespace,
        name: &target.name,
        ..ResourceAction::default()
    };
    let attributes = Attributes {
        user: &call.cx.user,
        verb: "create",
        action: Action::Resource(resource),
    };
    match call
        .server
        .authorization
        .check(attributes, None, None)
        .await
    {
        Ok(()) => Ok(()),
        Err(Denial::Forbidden(status)) => Err(*status),
        Err(Denial::Failed(why)) => Err(Status::internal_error(why)),
    }
}
