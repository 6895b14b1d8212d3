//! Writes with hooks, which run to completion even if the request is dropped.
//!
//! What the hooks allocated for a request is released or kept only once the result of the write is
//! known. So everything from the write on runs in a task ([`Finishing`]); the request's own steps
//! (its checks, the new object of an update) stay in its future.
//!
//! [`Finishing`]: crate::Finishing

use super::Store;
use super::delete::{DeleteCall, DeleteOutcome, Selection};
use super::update::TryUpdate;
use crate::finishing::Place;
use crate::storage::error::StorageError;
use crate::storage::{Change, Changed, Outcome, PutOptions};
use crate::store::admission::options::Options;
use crate::store::admitting::Admitting;
use crate::store::hooks::AllBegun;
use crate::stored::Stored;
use crate::strategy::BoxFuture;
use kubist_apimachinery::{AnyObject, Preconditions, Status};
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// One attempt of an update, sent to the request.
struct Attempt {
    current: Option<Stored>,
    /// The hooks' transactions of the previous attempt.
    begun: AllBegun,
    answer: oneshot::Sender<(Result<Changed, Status>, AllBegun)>,
}

/// An update that sends each of its attempts to the request.
struct ForwardingChange {
    attempts: mpsc::Sender<Attempt>,
    begun: AllBegun,
}

impl Change for ForwardingChange {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(async move {
            let (answer, reply) = oneshot::channel();
            let attempt = Attempt {
                current: current.cloned(),
                begun: std::mem::take(&mut self.begun),
                answer,
            };
            // The hooks' transactions are rolled back on drop.
            self.attempts
                .send(attempt)
                .await
                .map_err(|_| request_cancelled())?;
            let (changed, begun) = reply.await.map_err(|_| request_cancelled())?;
            self.begun = begun;
            changed
        })
    }
}

/// Never reaches a client.
fn request_cancelled() -> Status {
    Status::internal_error("the request was cancelled")
}

impl Store {
    /// Reports whether hooks take part in a write.
    pub(super) fn writes_with_hooks(&self, dry_run: bool) -> bool {
        !dry_run && !self.hooks.is_empty()
    }

    /// Stores a new object, and notifies the hooks.
    pub(super) async fn create_hooked(
        &self,
        place: Place,
        begun: AllBegun,
        key: String,
        object: Box<dyn AnyObject>,
        request: PutOptions,
    ) -> Result<Stored, StorageError> {
        let store = self.clone();
        let work = async move {
            let _place = place;
            let created = store.storage.create(key, object, request, false).await;
            match created {
                Ok(stored) => {
                    begun.commit().await;
                    for hooks in &store.hooks {
                        hooks.after_create(&stored);
                    }
                    Ok(stored)
                }
                Err(error) => {
                    begun.failed(&error).await;
                    Err(error)
                }
            }
        };
        self.finishing.run(work).await?
    }

    /// Updates an object, and notifies the hooks. Dropped between two attempts, it writes nothing.
    pub(super) async fn update_hooked(
        &self,
        key: String,
        preconditions: Preconditions,
        creates: bool,
        tries: &mut TryUpdate<'_>,
    ) -> Result<Outcome, StorageError> {
        let place = self.finishing.place().await?;
        let (sender, mut attempts) = mpsc::channel(1);
        let store = self.clone();
        let work = async move {
            let _place = place;
            let mut forwarding = ForwardingChange {
                attempts: sender,
                begun: AllBegun::default(),
            };
            let change = &mut forwarding;
            let updated = store
                .storage
                .update(key, &preconditions, creates, false, change)
                .await;
            store.end_update(updated, forwarding.begun).await
        };
        let mut work = pin!(self.finishing.run(work));
        loop {
            tokio::select! {
                biased;
                Some(Attempt { current, begun, answer }) = attempts.recv() => {
                    tries.begun = begun;
                    let changed = tries.try_once(current.as_ref()).await;
                    drop(answer.send((changed, std::mem::take(&mut tries.begun))));
                }
                done = &mut work => return done?,
            }
        }
    }

    async fn end_update(
        &self,
        updated: Result<Outcome, StorageError>,
        begun: AllBegun,
    ) -> Result<Outcome, StorageError> {
        let outcome = match updated {
            Ok(outcome) => outcome,
            Err(error) => {
                begun.failed(&error).await;
                return Err(error);
            }
        };
        begun.commit().await;
        for hooks in &self.hooks {
            match &outcome {
                it if it.deleted => hooks.after_delete(&it.stored).await,
                it if it.created => hooks.after_create(&it.stored),
                it => hooks.after_update(&it.stored),
            }
        }
        Ok(outcome)
    }

    /// Deletes an object, and notifies the hooks.
    pub(super) async fn delete_hooked(
        &self,
        call: DeleteCall<'_>,
    ) -> Result<DeleteOutcome, Status> {
        let place = self.finishing.place().await?;
        let (store, stores) = (self.clone(), Arc::clone(call.stores));
        let (cx, options) = (call.cx.clone(), call.options.clone());
        let (namespace, name) = (call.namespace.to_owned(), call.name.to_owned());
        let selection = call
            .selection
            .map(|it| (it.uid.to_owned(), it.predicate.clone()));
        let admitting = call.admitting.map(|it| {
            let subresource = it.subresource.to_owned();
            (Arc::clone(it.stores), it.resource, it.kind, subresource)
        });
        let work = async move {
            let _place = place;
            let selection = selection
                .as_ref()
                .map(|(uid, predicate)| Selection { uid, predicate });
            let call = DeleteCall {
                stores: &stores,
                cx: &cx,
                namespace: &namespace,
                name: &name,
                options: &options,
                selection,
                admitting: admitting.as_ref().map(|it| Admitting {
                    stores: &it.0,
                    resource: it.1,
                    kind: it.2,
                    subresource: &it.3,
                    options: Options::Delete(&options),
                    view: None,
                }),
            };
            store.delete_here(call).await
        };
        self.finishing.run(work).await?
    }
}
