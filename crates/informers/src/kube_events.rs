//! `KubeEvents`: what an informer tells, as the events of kube's watcher.
//!
//! So that a kube-rs reflector or controller can be fed by an informer of ours, in place of a watch
//! of its own. One informer may feed many. The informer deals with errors itself, so none come
//! here; a resync is nothing that kube's watcher has, so it is left out.

use crate::{HandlerConfig, HandlerState, SharedInformer, Subscription};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use kube_runtime::watcher::{self, Event};
use kubist_apimachinery::Object;
use kubist_cache::ResourceEvent;
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// The changes of an informer as events of kube's watcher: `Init`, an `InitApply` for each object
/// that there is, `InitDone`, then `Apply` and `Delete`. It ends when the informer does.
///
/// A deletion in the first phase is told after `InitDone`, because only then kube's stores heed it.
pub struct KubeEvents<K: Object> {
    subscription: Subscription<K>,
    synced: BoxFuture<'static, HandlerState>,
    phase: Phase,
    /// To be told before anything else.
    waiting: VecDeque<ResourceEvent<K>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Begin,
    Init,
    Live,
    Ended,
}

impl<K: Object + Clone> SharedInformer<K> {
    /// What the informer holds and every change of it, as kube's watcher would tell it.
    pub fn kube_events(&self, config: HandlerConfig) -> KubeEvents<K> {
        let subscription = self.subscribe(config);
        let registration = subscription.registration();
        KubeEvents {
            subscription,
            synced: Box::pin(async move { registration.synced().await }),
            phase: Phase::Begin,
            waiting: VecDeque::new(),
        }
    }
}

impl<K: Object + Clone> KubeEvents<K> {
    /// The first list: over once everything in it was given out, and more was asked for.
    fn poll_init(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<K>>> {
        loop {
            let change = Pin::new(&mut self.subscription).poll_next(cx);
            if let Poll::Ready(state) = self.synced.as_mut().poll(cx) {
                // What is at hand came later.
                if let Poll::Ready(Some(change)) = change {
                    self.waiting.push_back(change);
                }
                let synced = state == HandlerState::Synced;
                self.phase = if synced { Phase::Live } else { Phase::Ended };
                return Poll::Ready(synced.then_some(Event::InitDone));
            }
            match std::task::ready!(change) {
                Some(
                    ResourceEvent::Added { object, .. }
                    | ResourceEvent::Updated { new: object, .. },
                ) => {
                    let name = Some(object.object_name());
                    self.waiting.retain(|it| deleted_name(it) != name);
                    return Poll::Ready(Some(Event::InitApply(Arc::unwrap_or_clone(object))));
                }
                Some(deleted @ ResourceEvent::Deleted(_)) => self.waiting.push_back(deleted),
                Some(ResourceEvent::Resynced(_)) => {}
                None => {
                    self.phase = Phase::Ended;
                    return Poll::Ready(None);
                }
            }
        }
    }

    fn poll_live(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<K>>> {
        loop {
            let change = match self.waiting.pop_front() {
                Some(change) => Some(change),
                None => std::task::ready!(Pin::new(&mut self.subscription).poll_next(cx)),
            };
            match change {
                Some(
                    ResourceEvent::Added { object, .. }
                    | ResourceEvent::Updated { new: object, .. },
                ) => {
                    return Poll::Ready(Some(Event::Apply(Arc::unwrap_or_clone(object))));
                }
                Some(ResourceEvent::Deleted(deleted)) => {
                    if let Some(object) = deleted.object() {
                        return Poll::Ready(Some(Event::Delete(K::clone(object))));
                    }
                }
                Some(ResourceEvent::Resynced(_)) => {}
                None => {
                    self.phase = Phase::Ended;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl<K: Object + Clone> Stream for KubeEvents<K> {
    type Item = watcher::Result<Event<K>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let event = match this.phase {
            Phase::Begin => {
                this.phase = Phase::Init;
                Poll::Ready(Some(Event::Init))
            }
            Phase::Init => this.poll_init(cx),
            Phase::Live => this.poll_live(cx),
            Phase::Ended => Poll::Ready(None),
        };
        event.map(|event| event.map(Ok))
    }
}

impl<K: Object> fmt::Debug for KubeEvents<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeEvents").finish_non_exhaustive()
    }
}

/// The object that a deletion is of.
fn deleted_name<K: Object>(change: &ResourceEvent<K>) -> Option<kubist_apimachinery::ObjectName> {
    match change {
        ResourceEvent::Deleted(deleted) => Some(deleted.object_name()),
        _ => None,
    }
}
