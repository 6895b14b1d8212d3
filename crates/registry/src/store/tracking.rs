//! `Tracking`: who owns the fields of what a request writes, at one served version.

use crate::store::Store;
use crate::store::field_managers::FieldManagers;
use crate::store::reset_filter::reset_filter;
use crate::store::track_fields::TrackFields;
use crate::stored::scheme::Scheme;
use crate::strategy::context::RequestContext;
use crate::strategy::conversion_memo::ConversionMemo;
use kubist_api::Kind;
use kubist_apimachinery::{
    AnyObject, FIELD_MANAGER_LENGTH_MAX, ManagedFieldsEntry, PostOptions, Status, Str, Time,
};
use kubist_field_manager::{FieldFilter, FieldManager, ObjectConverter, UpdateRequest};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A path through which the objects of a store are written.
#[derive(Clone, Copy)]
pub(crate) struct WritePath<'a> {
    pub(crate) store: &'a Store,
    pub(crate) scheme: &'static Scheme,
    /// The kind in the served version.
    pub(crate) kind: &'static Kind,
    /// The kind of the written objects: that of the subresource, if it has its own.
    pub(crate) body_kind: &'static Kind,
    /// The subresource name; empty for the object itself.
    pub(crate) subresource: &'static str,
}

/// Tracks the writes of one request.
pub(crate) struct Tracking<'a> {
    path: WritePath<'a>,
    manager: Str,
    now: Time,
    memo: Arc<ConversionMemo>,
}

impl<'a> WritePath<'a> {
    /// Tracks the writes of a request.
    pub(crate) fn tracking(self, cx: &RequestContext, options: &PostOptions) -> Tracking<'a> {
        Tracking {
            path: self,
            manager: manager_name(cx, options),
            now: cx.now(),
            memo: Arc::clone(&cx.conversions),
        }
    }

    /// Returns the field manager of this version and subresource.
    pub(crate) fn field_manager(&self) -> Result<Arc<FieldManager>, Status> {
        let managers = &self.store.field_managers;
        managers.get(self.body_kind, self.subresource, || self.filters())
    }

    /// Returns the converter between the versions of the kind.
    pub(crate) fn converter<'b>(
        &self,
        memo: &'b ConversionMemo,
    ) -> impl ObjectConverter + use<'a, 'b>
    where
        'a: 'b,
    {
        let managers: &'a FieldManagers = &self.store.field_managers;
        managers.converter(self.scheme, memo)
    }

    /// Returns the fields that can have owners, by API version.
    fn filters(&self) -> BTreeMap<Str, FieldFilter> {
        let store = self.store;
        let filter = reset_filter(&*store.strategy, store.has_status, self.subresource);
        let Some(filter) = filter else {
            return BTreeMap::new();
        };
        let facts = self.kind.facts();
        // As upstream, the object of a custom resource has a filter for its own version only.
        let is_own = self.kind.is_custom() && self.subresource.is_empty();
        let same =
            |kind: &&Kind| (kind.facts().group, kind.facts().kind) == (facts.group, facts.kind);
        let built_in = kubist_api::KINDS.iter().filter(same);
        let built_in = built_in.map(|kind| Str::from(kind.facts().api_version));
        let others = store.field_managers.versions().filter(|_| !is_own);
        let versions = built_in.chain(others).chain([facts.api_version.into()]);
        versions.map(|version| (version, filter.clone())).collect()
    }
}

impl TrackFields for Tracking<'_> {
    fn track(
        &self,
        old: Option<&dyn AnyObject>,
        new: &dyn AnyObject,
    ) -> Result<Vec<ManagedFieldsEntry>, Status> {
        let WritePath { store, scheme, .. } = self.path;
        let (stored, served) = (store.kind(), self.path.kind);
        if std::ptr::eq(stored, served) {
            return self.entries(old, new);
        }
        let converted =
            |object: &dyn AnyObject| scheme.convert(object.boxed_clone(), stored, served);
        let old = old.map(converted).transpose()?;
        self.entries(old.as_deref(), &*converted(new)?)
    }
}

impl Tracking<'_> {
    /// Returns the managed fields after a write in the served version.
    pub(crate) fn entries(
        &self,
        old: Option<&dyn AnyObject>,
        new: &dyn AnyObject,
    ) -> Result<Vec<ManagedFieldsEntry>, Status> {
        let manager = self.path.field_manager()?;
        let request = UpdateRequest {
            live: old,
            new,
            manager: &self.manager,
            now: self.now,
        };
        let entries = manager.update(&request, &self.path.converter(&self.memo));
        entries.map_err(Status::internal_error)
    }
}

/// Returns the name of the manager of a request.
pub(crate) fn manager_name(cx: &RequestContext, options: &PostOptions) -> Str {
    if options.field_manager.is_empty() {
        manager_of(&cx.user_agent)
    } else {
        options.field_manager.clone()
    }
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
