//! How a handler is called: by which task or thread, and how panics are handled.

use crate::listener::Listener;
use crate::{CoopBudget, EventHandler};
use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, Str};
use kubist_cache::ResourceEvent;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

/// The maximum number of events that a handler takes at once.
const TAKE_MAX: usize = 256;

/// Reports a call that panicked, with the panic message.
pub(crate) type Panicked = Arc<dyn Fn(Str) + Send + Sync>;

/// Which task calls the handler of a listener.
pub(crate) enum HandlerRunner<K> {
    /// The caller, who takes the events itself.
    Caller,
    /// A task of the handler.
    Task(RunHandler<K>),
    /// The informer's task, immediately.
    InPlace(Box<dyn EventHandler<K>>),
}

/// Runs the handler of one listener until the listener ends.
pub(crate) type RunHandler<K> =
    Box<dyn FnOnce(Arc<Listener<K>>, Panicked) -> BoxFuture<'static, ()> + Send>;

/// Calls the handler on its own task, or on threads for blocking work if so configured.
pub(crate) fn plain<K: Object>(handler: impl EventHandler<K>) -> RunHandler<K> {
    Box::new(|listener, panicked| {
        let serving = Serving::begin(&listener);
        Box::pin(async move {
            let _serving = serving;
            if listener.config.blocking {
                on_threads(&listener, handler, &panicked).await;
            } else {
                on_task(&listener, handler, &panicked).await;
            }
        })
    })
}

/// Calls an asynchronous handler; the next call starts when the last is done.
pub(crate) fn waiting<K, F, C>(mut handler: F) -> RunHandler<K>
where
    K: Object,
    F: FnMut(ResourceEvent<K>) -> C + Send + 'static,
    C: Future<Output = ()> + Send,
{
    Box::new(|listener, panicked| {
        let serving = Serving::begin(&listener);
        Box::pin(async move {
            let _serving = serving;
            let mut budget = CoopBudget::start();
            // One at a time, so that pending events can still be merged.
            while let Some(changes) = budget.track(listener.take(1)).await {
                for change in changes {
                    let initial = is_initial(&change);
                    if let Err(panic) = call(|| handler(change)).await {
                        note_panic(&listener, &panicked, &*panic);
                    }
                    listener.handled.fetch_add(1, Ordering::Relaxed);
                    listener.note_progress(usize::from(initial));
                    budget.yield_if_due().await;
                }
            }
        })
    })
}

type Panic = Box<dyn Any + Send>;

/// Calls and awaits; a panic in either is an error.
async fn call<C: Future<Output = ()>>(begin: impl FnOnce() -> C) -> Result<(), Panic> {
    let mut call = pin!(catch_unwind(AssertUnwindSafe(begin))?);
    std::future::poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

/// A handler that is called on the informer's task.
pub(crate) struct InPlace<K: Object> {
    handler: Box<dyn EventHandler<K>>,
    panicked: Panicked,
    serving: Serving<K>,
}

impl<K: Object> InPlace<K> {
    pub(crate) fn begin(
        listener: &Arc<Listener<K>>,
        handler: Box<dyn EventHandler<K>>,
        panicked: Panicked,
    ) -> Self {
        Self {
            handler,
            panicked,
            serving: Serving::begin(listener),
        }
    }

    pub(crate) fn call(&mut self, change: ResourceEvent<K>) {
        let listener = &self.serving.0;
        let call = AssertUnwindSafe(|| self.handler.on_event(change));
        if let Err(panic) = catch_unwind(call) {
            note_panic(listener, &self.panicked, &*panic);
        }
        listener.handled.fetch_add(1, Ordering::Relaxed);
    }
}

async fn on_task<K: Object>(
    listener: &Arc<Listener<K>>,
    mut handler: impl EventHandler<K>,
    panicked: &Panicked,
) {
    let mut budget = CoopBudget::start();
    while let Some(changes) = budget.track(listener.take(TAKE_MAX)).await {
        for change in changes {
            notify(listener, &mut handler, change, panicked);
            budget.yield_if_due_often().await;
        }
    }
}

async fn on_threads<K: Object>(
    listener: &Arc<Listener<K>>,
    mut handler: impl EventHandler<K>,
    panicked: &Panicked,
) {
    // One at a time, so that pending events can still be merged.
    while let Some(changes) = listener.take(1).await {
        let (listener, panicked) = (Arc::clone(listener), Arc::clone(panicked));
        let calls = tokio::task::spawn_blocking(move || {
            for change in changes {
                notify(&listener, &mut handler, change, &panicked);
            }
            handler
        });
        // Panics of the handler are caught inside, so this is a runtime shutdown.
        let Ok(back) = calls.await else { return };
        handler = back;
    }
}

fn notify<K: Object>(
    listener: &Listener<K>,
    handler: &mut impl EventHandler<K>,
    change: ResourceEvent<K>,
    panicked: &Panicked,
) {
    if listener.is_ended() {
        return;
    }
    let initial = is_initial(&change);
    let call = AssertUnwindSafe(|| handler.on_event(change));
    if let Err(panic) = catch_unwind(call) {
        note_panic(listener, panicked, &*panic);
    }
    listener.handled.fetch_add(1, Ordering::Relaxed);
    if initial {
        listener.note_progress(1);
    }
}

fn is_initial<K>(change: &ResourceEvent<K>) -> bool {
    matches!(change, ResourceEvent::Added { initial: true, .. })
}

fn note_panic<K>(listener: &Listener<K>, panicked: &Panicked, panic: &(dyn Any + Send)) {
    listener.panics.fetch_add(1, Ordering::Relaxed);
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => Str::from(*text),
        (_, Some(text)) => Str::from(text.as_str()),
        _ => Str::from("a panic that says nothing"),
    };
    panicked(text);
}

/// Marks the listener as running until dropped, however its task ends.
struct Serving<K: Object>(Arc<Listener<K>>);

impl<K: Object> Serving<K> {
    fn begin(listener: &Arc<Listener<K>>) -> Self {
        listener.set_served(true);
        Self(Arc::clone(listener))
    }
}

impl<K: Object> Drop for Serving<K> {
    fn drop(&mut self) {
        self.0.set_served(false);
    }
}
