//! Get, list and watch.

use super::{ListPage, Rest, Verb};
use crate::rest::scale;
use crate::rest::subresource::Subresource;
use crate::storage::error::Operation;
use crate::storage::list::{list_version, parse_version};
use crate::storage::predicate::Predicate;
use crate::storage::upstream_form::lacks_watch_cache_upstream;
use crate::storage::watch::EventStream;
use crate::storage::{ListRequest, Listed, Scope, StorageWatchRequest, Unreadable};
use crate::stored::Stored;
use crate::stored::scheme::StoredKind;
use crate::strategy::ALWAYS_SELECTABLE;
use crate::strategy::context::RequestContext;
use kubist_apimachinery::{
    FieldSelector, ListOptions, OptionsError, ResourceVersion, Selector, Status,
};
use std::sync::Arc;
use std::time::Duration;

/// The maximum of undecodable objects that the warnings of a list name.
const WARNED_MAX: usize = 10;

impl Rest {
    /// Reads one object, not older than `version` (if that is set). For a subresource, returns its
    /// view of the object.
    pub async fn get(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        version: &ResourceVersion,
    ) -> Result<Stored, Status> {
        let _ = cx;
        self.check_verb(Verb::Get)?;
        let store = self.store();
        let key = store.storage.keys().key(namespace, name)?;
        let resource = self.group_resource();
        let parsed = if lacks_watch_cache_upstream(&resource) {
            list_version(version)?
        } else {
            parse_version(version)?
        };
        let not_older_than = (!version.is_unset()).then_some(parsed);
        let found = store.storage.get(&key, not_older_than).await;
        let found = found.map_err(|error| error.to_status(Operation::Get, &resource, name))?;
        let stored = found.ok_or_else(|| Status::not_found(&resource, name))?;
        if matches!(self.subresource, Subresource::Scale) {
            let scale = scale::of(
                &**stored.object()?,
                self.scale_paths().as_ref(),
                self.scheme(),
            )?
            .ok_or_else(|| self.has_no_scale())?;
            let kind = StoredKind::plain(self.body_kind());
            return Ok(Stored::from_object(
                kind,
                stored.revision(),
                Box::new(scale),
            ));
        }
        self.serve(&stored)
    }

    /// Lists the matching objects of a namespace (of all, if it is empty). Objects that cannot be
    /// decoded cause an error that names them, or, if the request asks for the rest, are omitted
    /// with a warning each.
    pub async fn list(
        &self,
        cx: &RequestContext,
        namespace: &str,
        options: &ListOptions,
    ) -> Result<ListPage, Status> {
        self.check_verb(Verb::List)?;
        let listed = self.listed(namespace, None, options).await?;
        if !cx.skip_unreadable {
            return self.page(listed.complete()?);
        }
        self.warn_of(cx, &listed.unreadable);
        self.page(listed)
    }

    /// Warns about each object that a list omits because it cannot be decoded, up to a limit.
    fn warn_of(&self, cx: &RequestContext, unreadable: &[Unreadable]) {
        let Some(first) = unreadable.first() else {
            return;
        };
        let resource = self.group_resource();
        let (number, key) = (unreadable.len(), &first.key);
        let message = "a list omits stored objects that cannot be decoded";
        tracing::warn!(%resource, number, key, "{message}");
        for it in unreadable.iter().take(WARNED_MAX) {
            let (namespace, name) = self.store().storage.keys().names(it.key.as_bytes());
            let within = match namespace {
                "" => String::new(),
                namespace => format!(" in namespace {namespace:?}"),
            };
            let why = &it.status.message;
            cx.warn(format!(
                "{resource} {name:?}{within} cannot be read and is not listed: {why}"
            ));
        }
        if let Some(more @ 1..) = number.checked_sub(WARNED_MAX) {
            cx.warn(format!(
                "{more} more {resource} cannot be read and are not listed"
            ));
        }
    }

    pub(super) async fn list_unchecked(
        &self,
        namespace: &str,
        name: Option<&str>,
        options: &ListOptions,
    ) -> Result<ListPage, Status> {
        let listed = self.listed(namespace, name, options).await?.complete()?;
        self.page(listed)
    }

    /// Lists all objects that can be decoded. For internal use: the list must not be treated as
    /// complete.
    pub(crate) async fn list_readable(&self) -> Result<ListPage, Status> {
        let listed = self.listed("", None, &ListOptions::default()).await?;
        self.page(listed)
    }

    async fn listed(
        &self,
        namespace: &str,
        name: Option<&str>,
        options: &ListOptions,
    ) -> Result<Listed, Status> {
        let predicate = self.selected(options)?;
        let store = self.store();
        let scope = Scope { namespace, name };
        let resource = self.group_resource();
        let request = ListRequest {
            resource: &resource,
            scope,
            predicate: &predicate,
            options,
        };
        store.storage.list(request).await
    }

    fn page(&self, listed: Listed) -> Result<ListPage, Status> {
        let items = if std::ptr::eq(self.store().kind(), self.kind) {
            listed.items
        } else {
            let items = listed.items.iter().map(|stored| self.serve(stored));
            items.collect::<Result<_, _>>()?
        };
        Ok(ListPage {
            metadata: listed.metadata,
            items,
        })
    }

    /// Watches the matching objects of a namespace (of all, if it is empty), or one object.
    /// `timeout`: when the caller is going to end the watch.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect.
    pub async fn watch(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: Option<&str>,
        options: &ListOptions,
        timeout: Option<Duration>,
    ) -> Result<EventStream, Status> {
        self.check_verb(Verb::Watch)?;
        let position = options.watch_position();
        position.map_err(|error| error.to_status())?;
        let predicate = self.predicate(&options.label_selector, &options.field_selector)?;
        if let Some(name) = name {
            check_name(&options.field_selector, name)?;
        }
        let request = StorageWatchRequest {
            kind: self.kind,
            scope: Scope { namespace, name },
            predicate: &predicate,
            options,
            timeout,
            skip_unreadable: cx.skip_unreadable,
        };
        let store = self.store();
        let events = store.storage.watch(request).await?;
        Ok(match &store.ends {
            Some(ends) => events.ending_with(ends.clone()),
            None => events,
        })
    }

    /// Returns the predicate of list options, after checking that they are valid for a list. Errors
    /// of the continue token are found later, while reading, as upstream.
    pub(super) fn selected(&self, options: &ListOptions) -> Result<Predicate, Status> {
        if let Err(error @ OptionsError::Invalid { .. }) = options.list_position() {
            return Err(error.to_status());
        }
        self.predicate(&options.label_selector, &options.field_selector)
    }

    pub(super) fn predicate(
        &self,
        labels: &Selector,
        fields: &FieldSelector,
    ) -> Result<Predicate, Status> {
        let strategy = Arc::clone(self.strategy());
        for term in fields.terms() {
            self.check_field(term.field.as_str())?;
        }
        let selectable = strategy.facts().selectable_fields;
        let kinds = &self.stores.kinds;
        let fields = kinds.stored_fields(self.facts, fields, selectable)?;
        Predicate::new(labels.clone(), fields, strategy)
    }

    /// Rejects a field that is not selectable for custom objects; built-in kinds have their own
    /// messages.
    fn check_field(&self, field: &str) -> Result<(), Status> {
        let [name, namespace] = ALWAYS_SELECTABLE;
        let is_known = field == name
            || (field == namespace && self.facts.namespaced)
            || self.strategy().facts().selectable_fields.contains(&field);
        if is_known || !self.kind.is_custom() {
            return Ok(());
        }
        let message = format!("field label not supported: {field}");
        Err(Status::bad_request(message))
    }
}

/// Rejects the field selector of a watch of one object unless it selects just this object.
fn check_name(fields: &FieldSelector, name: &str) -> Result<(), Status> {
    if fields.is_everything() || fields.exact("metadata.name") == Some(name) {
        return Ok(());
    }
    Err(Status::bad_request(
        "fieldSelector metadata.name doesn't match requested name",
    ))
}
