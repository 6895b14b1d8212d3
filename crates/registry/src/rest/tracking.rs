//! Field ownership of writes through a served resource.

use super::Rest;
use crate::store::field_managers::object_of;
use crate::store::reset_filter::reset_filter;
use crate::store::track_fields::TrackFields;
use crate::strategy::context::RequestContext;
use kubist_api::Kind;
use kubist_apimachinery::wire::to_json_value;
use kubist_apimachinery::{
    AnyObject, FIELD_MANAGER_LENGTH_MAX, ManagedFieldsEntry, PostOptions, Status, StatusCause,
    StatusDetails, StatusReason, Str, Time,
};
use kubist_field_manager::{
    ApplyError, ApplyRequest, Conflicts, FieldFilter, FieldManager, LiveObject, UpdateRequest,
    is_too_deep,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tracks the writes of one request.
pub(crate) struct Tracking<'a> {
    rest: &'a Rest,
    manager: Str,
    now: Time,
}

/// A configuration to apply.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "callers fill it in")]
pub struct AppliedConfig<'a> {
    /// The configuration.
    pub config: &'a Value,
    /// The name of the manager.
    pub manager: &'a str,
    /// Whether it takes over fields of other managers.
    pub force: bool,
}

impl Rest {
    pub(crate) fn tracking(&self, cx: &RequestContext, options: &PostOptions) -> Tracking<'_> {
        let manager = if options.field_manager.is_empty() {
            manager_of(&cx.user_agent)
        } else {
            options.field_manager.clone()
        };
        Tracking {
            rest: self,
            manager,
            now: cx.now(),
        }
    }

    /// Merges a configuration into an object of the served version (or into the scale of one), and
    /// returns the new object with its managed fields. `None` stands for an object that does not
    /// exist.
    ///
    /// # Errors
    /// The error for the client: 409 for conflicts.
    pub fn merge_applied(
        &self,
        cx: &RequestContext,
        old: Option<&dyn AnyObject>,
        applied: &AppliedConfig<'_>,
    ) -> Result<Box<dyn AnyObject>, Status> {
        let manager = self.field_manager();
        let (live, entries) = match old {
            Some(old) => without_managers(old),
            None => (manager.empty.clone(), Vec::new()),
        };
        if live.is_null() {
            // An apply to nothing would replace the object by the configuration.
            let why = "the stored object is nested too deeply to be applied";
            return Err(Status::internal_error(why));
        }
        let request = ApplyRequest {
            live: LiveObject {
                object: &live,
                entries: &entries,
                exists: old.is_some(),
            },
            config: applied.config,
            manager: applied.manager,
            force: applied.force,
            now: cx.now(),
        };
        let store = self.store();
        let converter = store.field_managers.converter(self.scheme());
        let made = match manager.apply(&request, &converter) {
            Err(ApplyError::Failed(why)) => match self.declared(live.clone()) {
                None => Err(ApplyError::Failed(why)),
                Some(declared) => {
                    let mut again = request;
                    again.live.object = &declared;
                    manager.apply(&again, &converter)
                }
            },
            made => made,
        };
        let made = made.map_err(|error| refusal(&error))?;
        let mut object = match (made.object, old) {
            (None, Some(old)) => old.boxed_clone(),
            (made, _) => object_of(made.as_ref().unwrap_or(&live), self.body_kind())?,
        };
        object.meta_mut().managed_fields = storable(made.entries)?;
        Ok(object)
    }

    /// Returns the field manager of this version and subresource.
    pub(crate) fn field_manager(&self) -> Arc<FieldManager> {
        let subresource = self.subresource.name();
        let store = self.store();
        store
            .field_managers
            .get(self.body_kind(), subresource, || self.filters())
    }

    /// Returns the fields that can have owners, by API version.
    fn filters(&self) -> BTreeMap<Str, FieldFilter> {
        let store = self.store();
        let filter = reset_filter(&*store.strategy, store.has_status, self.subresource.name());
        let Some(filter) = filter else {
            return BTreeMap::new();
        };
        let facts = self.kind.facts();
        let same =
            |kind: &&Kind| (kind.facts().group, kind.facts().kind) == (facts.group, facts.kind);
        let versions = kubist_api::KINDS.iter().filter(same);
        let versions = versions.map(|kind| kind.facts().api_version);
        let versions = versions.chain([facts.api_version]);
        versions
            .map(|version| (version.into(), filter.clone()))
            .collect()
    }
}

impl TrackFields for Tracking<'_> {
    fn track(&self, old: Option<&dyn AnyObject>, new: &mut dyn AnyObject) {
        let rest = self.rest;
        let (stored, served) = (rest.store().kind(), rest.kind);
        let tracked = if std::ptr::eq(stored, served) {
            self.entries(old, new)
        } else {
            let converted = |object: &dyn AnyObject| rest.to_served(object.boxed_clone());
            old.map(converted).transpose().and_then(|old| {
                let new = converted(new)?;
                self.entries(old.as_deref(), &*new)
            })
        };
        let tracked = tracked.or_else(|error| match self.declared_entries(old, new) {
            Ok(Some(entries)) => Ok(entries),
            Ok(None) | Err(_) => Err(error),
        });
        let tracked = tracked.and_then(storable);
        let managed_fields = tracked.unwrap_or_else(|error| {
            let (kind, name) = (served.facts().kind, &new.meta().name);
            tracing::error!(kind, %name, %error, "fields are not tracked");
            Vec::new()
        });
        new.meta_mut().managed_fields = managed_fields;
    }
}

impl Tracking<'_> {
    /// Returns the managed fields after a write of a custom object with undeclared fields, which
    /// have no owners; none if there are no such fields.
    fn declared_entries(
        &self,
        old: Option<&dyn AnyObject>,
        new: &dyn AnyObject,
    ) -> Result<Option<Vec<ManagedFieldsEntry>>, Status> {
        let rest = self.rest;
        let served = |object: &dyn AnyObject| rest.to_served(object.boxed_clone());
        let declared = |object: &dyn AnyObject| -> Result<_, Status> {
            let object = served(object)?;
            let declared = rest.without_undeclared(&*object)?;
            Ok((declared.is_some(), declared.unwrap_or(object)))
        };
        let (old, new) = (old.map(declared).transpose()?, declared(new)?);
        if !new.0 && old.as_ref().is_none_or(|it| !it.0) {
            return Ok(None);
        }
        let old = old.as_ref().map(|it| &*it.1);
        self.entries(old, &*new.1).map(Some)
    }

    /// Returns the managed fields after a write in the served version.
    pub(crate) fn entries(
        &self,
        old: Option<&dyn AnyObject>,
        new: &dyn AnyObject,
    ) -> Result<Vec<ManagedFieldsEntry>, Status> {
        let manager = self.rest.field_manager();
        let (live, before) = match old {
            Some(old) => without_managers(old),
            None => (manager.empty.clone(), Vec::new()),
        };
        let (object, entries) = without_managers(new);
        let request = UpdateRequest {
            live: LiveObject {
                object: &live,
                entries: &before,
                exists: old.is_some(),
            },
            object: &object,
            entries: &entries,
            manager: &self.manager,
            now: self.now,
        };
        let store = self.rest.store();
        let converter = store.field_managers.converter(self.rest.scheme());
        manager
            .update(&request, &converter)
            .map_err(Status::internal_error)
    }
}

/// Returns managed fields that can be read again.
fn storable(entries: Vec<ManagedFieldsEntry>) -> Result<Vec<ManagedFieldsEntry>, Status> {
    if entries.iter().any(is_too_deep) {
        return Err(Status::internal_error("fields are nested too deeply"));
    }
    Ok(entries)
}

/// Returns an object as JSON, and its managed fields.
fn without_managers(object: &dyn AnyObject) -> (Value, Vec<ManagedFieldsEntry>) {
    let mut plain = object.boxed_clone();
    let entries = std::mem::take(&mut plain.meta_mut().managed_fields);
    (to_json_value(&*plain), entries)
}

/// Returns the name of a manager without a field manager option: the user agent up to the first
/// slash, printable characters only.
fn manager_of(user_agent: &str) -> Str {
    let name = user_agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for character in name
        .chars()
        .filter(|it| kubist_apimachinery::go_text::is_print(*it))
    {
        if manager.len() + character.len_utf8() > FIELD_MANAGER_LENGTH_MAX {
            break;
        }
        manager.push(character);
    }
    manager.into()
}

/// Returns the answer to an apply that failed.
fn refusal(error: &ApplyError) -> Status {
    match error {
        ApplyError::BadRequest(why) => Status::bad_request(why),
        ApplyError::Conflicts(conflicts) => conflict(conflicts),
        // Upstream's error has no reason.
        ApplyError::Failed(why) => Status::failure(500, StatusReason::Unknown, why),
    }
}

fn conflict(conflicts: &Conflicts) -> Status {
    let cause = |it: &kubist_field_manager::Conflict| StatusCause {
        reason: "FieldManagerConflict".into(),
        message: format!("conflict with {}", it.manager).into(),
        field: it.field().into(),
    };
    let details = StatusDetails {
        causes: conflicts.conflicts().iter().map(cause).collect(),
        ..StatusDetails::default()
    };
    Status::failure(409, StatusReason::Conflict, conflicts.to_string()).with_details(details)
}
