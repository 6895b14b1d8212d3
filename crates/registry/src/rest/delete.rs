//! Delete one object, or all that selectors select.

use super::{Deleted, ListPage, Rest, Verb};
use crate::storage::predicate::Predicate;
use crate::store::action::Created;
use crate::store::delete::{DeleteCall, IGNORE_READ_ERROR, Only};
use crate::stored::Stored;
use crate::strategy::context::RequestContext;
use futures_util::stream::{FuturesUnordered, StreamExt};
use kubist_apimachinery::{DeleteOptions, FieldError, FieldPath, GroupKind, ListOptions, Status};

/// Objects listed at once by a deletion of a collection that has no limit of its own.
const COLLECTION_PAGE: i64 = 10_000;

impl Rest {
    /// Deletes an object, or begins to: it may wait for a grace period or for finalizers. With the
    /// option for it, and only with that, an object that cannot be read.
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
            cx,
            namespace,
            name,
            options,
            only: None,
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

    /// Deletes everything that the selectors select, as many at a time as the registry has
    /// [workers](crate::RegistryConfig::delete_collection_workers) for it. The answer is the list
    /// of what was there. Not atomic: the first error ends it, except that what is gone already is
    /// fine. What has changed since it was listed so that it is not selected any more stays, and
    /// so does another object that has got the name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the objects that it has not come to.
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

    /// Warns of what is left if these options say nothing about it, whether or not there is
    /// anything to delete.
    fn warn_of_delete(&self, cx: &RequestContext, options: &DeleteOptions) {
        if let Some(warning) = (self.strategy().facts().delete_warning)(options) {
            cx.warn(warning);
        }
    }

    /// Deletes these, several at a time. The first error drops those that are under way or have
    /// not begun.
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
            cx,
            namespace: &meta.namespace,
            name: &meta.name,
            options,
            only: Some(Only {
                uid: &meta.uid,
                predicate,
            }),
        };
        match self.store().delete(call).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(()),
        }
    }
}
