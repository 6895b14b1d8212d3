//! `KubeEvents`: an informer's events in the form of kube's watcher events.
//!
//! A kube-rs reflector or controller can thereby use an informer in place of a watch of its own,
//! and one informer can serve many of them. The informer handles errors itself, so the stream
//! contains none. Resyncs are omitted, because kube's watcher has none.

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

/// The events of an informer as kube's watcher events: `Init`, an `InitApply` for each existing
/// object, `InitDone`, then `Apply` and `Delete`. It ends when the informer stops.
///
/// A deletion during the first phase is sent after `InitDone`, because kube's stores ignore it
/// earlier.
pub struct KubeEvents<K: Object> {
    subscription: Subscription<K>,
    synced: BoxFuture<'static, HandlerState>,
    phase: Phase,
    /// Events to send before any others.
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
    /// Returns the informer's objects and all later changes as kube's watcher events.
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
    /// Polls the first list, which ends once all of it was returned and more is requested.
    fn poll_init(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event<K>>> {
        loop {
            let change = Pin::new(&mut self.subscription).poll_next(cx);
            if let Poll::Ready(state) = self.synced.as_mut().poll(cx) {
                // This event is not part of the first list.
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

/// Returns the name of a deleted object.
fn deleted_name<K: Object>(change: &ResourceEvent<K>) -> Option<kubist_apimachinery::ObjectName> {
    match change {
        ResourceEvent::Deleted(deleted) => Some(deleted.object_name()),
        _ => None,
    }
}
