//! Delete one object, or all that the selectors match.

use super::{Deleted, ListPage, Rest, Verb};
use crate::storage::predicate::Predicate;
use crate::store::action::Created;
use crate::store::admission::options::Options;
use crate::store::delete::{DeleteCall, IGNORE_READ_ERROR, Selection};
use crate::stored::Stored;
use crate::strategy::context::RequestContext;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kubist_apimachinery::{DeleteOptions, FieldError, FieldPath, GroupKind, ListOptions, Status};

/// The page size of a collection delete without a limit of its own.
const COLLECTION_PAGE: i64 = 10_000;

impl Rest {
    /// Deletes an object, or starts its deletion: it may wait for a grace period or for finalizers.
    /// An object that cannot be decoded is deleted only with the option for that.
    pub async fn delete(
        &self,
        cx: &RequestContext,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Deleted, Status> {
        self.check_verb(Verb::Delete)?;
        let store = self.store();
        let deletion = options.checked().map_err(|error| error.to_status())?;
        if deletion.ignore_read_error {
            let status = store.delete_unreadable(namespace, name).await;
            let status = status.map_err(|status| self.in_own_group(status))?;
            return Ok(Deleted {
                answer: Created::Status(Box::new(status)),
                gone: true,
            });
        }
        self.warn_of_delete(cx, options);
        let call = DeleteCall {
            stores: &self.stores,
            cx,
            namespace,
            name,
            options,
            selection: None,
            admitting: self.admitting(Options::Delete(options), None),
        };
        let outcome = store.delete(call).await;
        let outcome = outcome.map_err(|status| self.in_own_group(status))?;
        let stored = &outcome.stored;
        let answer = if !outcome.gone || store.strategy.facts().returns_deleted {
            Created::Object(self.serve(stored)?)
        } else {
            let object = self.serve(stored)?;
            let status = store.success(&**object.object()?);
            Created::Status(Box::new(self.in_own_group(status)))
        };
        Ok(Deleted {
            answer,
            gone: outcome.gone,
        })
    }

    /// Deletes everything that the selectors match, with as many concurrent
    /// [workers](crate::RegistryConfig::delete_collection_workers) as configured. Returns the list
    /// of the objects found. Not atomic: the first error ends it, but an object that is already
    /// gone is no error. An object that no longer matches since it was listed is kept, and so is
    /// another object of the same name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future keeps the remaining objects.
    pub async fn delete_collection(
        &self,
        cx: &RequestContext,
        namespace: &str,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<ListPage, Status> {
        self.check_verb(Verb::DeleteCollection)?;
        let predicate = self.selected(list)?;
        let deletion = options.checked().map_err(|error| error.to_status())?;
        if deletion.ignore_read_error {
            let path = FieldPath::new(IGNORE_READ_ERROR);
            let why = "is not allowed with DELETECOLLECTION, try again after removing the option";
            let error = FieldError::invalid(&path, true, why);
            let kind = GroupKind::new("meta.k8s.io", "DeleteOptions");
            return Err(Status::invalid(&kind, "", &[error]));
        }
        self.warn_of_delete(cx, options);
        let mut list = list.clone();
        let paged = list.limit == 0;
        if paged {
            list.limit = COLLECTION_PAGE;
        }
        let mut all = ListPage::default();
        loop {
            let page = self.list_unchecked(namespace, None, &list).await?;
            self.delete_all(cx, &page.items, options, &predicate)
                .await?;
            let next = page.metadata.continue_.clone();
            all.items.extend(page.items);
            all.metadata = page.metadata;
            if !paged || next.is_empty() {
                return Ok(all);
            }
            list.continue_ = next;
            list.resource_version = kubist_apimachinery::ResourceVersion::default();
            list.resource_version_match = kubist_apimachinery::Str::default();
        }
    }

    /// Warns about dependents if the delete options do not specify their treatment, even if there
    /// is nothing to delete.
    fn warn_of_delete(&self, cx: &RequestContext, options: &DeleteOptions) {
        if let Some(warning) = (self.strategy().facts().delete_warning)(options) {
            cx.warn(warning);
        }
    }

    /// Deletes these objects, several at a time. After the first error, the others are cancelled.
    async fn delete_all(
        &self,
        cx: &RequestContext,
        items: &[Stored],
        options: &DeleteOptions,
        predicate: &Predicate,
    ) -> Result<(), Status> {
        let mut waiting = items.iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.stores.delete_collection_workers {
                let Some(stored) = waiting.next() else {
                    break;
                };
                running.push(self.delete_one(cx, stored, options, predicate));
            }
            match running.next().await {
                Some(deleted) => deleted?,
                None => return Ok(()),
            }
        }
    }

    async fn delete_one(
        &self,
        cx: &RequestContext,
        stored: &Stored,
        options: &DeleteOptions,
        predicate: &Predicate,
    ) -> Result<(), Status> {
        let meta = stored.object()?.meta();
        let call = DeleteCall {
            stores: &self.stores,
            cx,
            namespace: &meta.namespace,
            name: &meta.name,
            options,
            selection: Some(Selection {
                uid: &meta.uid,
                predicate,
            }),
            admitting: self.admitting(Options::Delete(options), None),
        };
        match self.store().delete(call).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(()),
        }
    }
}
