//! How a handler's calls are made: by which task or thread, and what a panic costs.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use futures_core::future::BoxFuture;
use kubist_apimachinery::{Object, Str};
use kubist_cache::Change;

use crate::seat::Seat;
use crate::{EventHandler, Pace};

/// Changes that a handler takes out at once.
const TAKE_MAX: usize = 256;

/// Told of each call that panicked, with what the panic said.
pub(crate) type Panicked = Arc<dyn Fn(Str) + Send + Sync>;

/// Who takes what is told to a seat.
pub(crate) enum Attend<K> {
    /// Whoever asks for it.
    Nobody,
    /// A task of the handler's own.
    Task(Serve<K>),
    /// The informer's task, at once.
    InPlace(Box<dyn EventHandler<K>>),
}

/// Serves one seat until it ends.
pub(crate) type Serve<K> = Box<dyn FnOnce(Arc<Seat<K>>, Panicked) -> BoxFuture<'static, ()> + Send>;

/// Calls on the handler's own task, or on threads for blocking work if it is configured so.
pub(crate) fn plain<K: Object>(handler: impl EventHandler<K>) -> Serve<K> {
    Box::new(|seat, panicked| {
        let serving = Serving::begin(&seat);
        Box::pin(async move {
            let _serving = serving;
            if seat.config.blocking {
                on_threads(&seat, handler, &panicked).await;
            } else {
                on_task(&seat, handler, &panicked).await;
            }
        })
    })
}

/// Calls that may wait; the next begins when the last is done.
pub(crate) fn waiting<K, F, C>(mut handler: F) -> Serve<K>
where
    K: Object,
    F: FnMut(Change<K>) -> C + Send + 'static,
    C: Future<Output = ()> + Send,
{
    Box::new(|seat, panicked| {
        let serving = Serving::begin(&seat);
        Box::pin(async move {
            let _serving = serving;
            let mut pace = Pace::begin();
            // One at a time, so that what waits can still merge.
            while let Some(changes) = pace.during(seat.take(1)).await {
                for change in changes {
                    let initial = is_initial(&change);
                    if let Err(panic) = call(|| handler(change)).await {
                        note_panic(&seat, &panicked, &*panic);
                    }
                    seat.handled.fetch_add(1, Ordering::Relaxed);
                    seat.note_progress(usize::from(initial));
                    pace.keep().await;
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

/// A handler whose calls are made by whoever has news, at once.
pub(crate) struct InPlace<K: Object> {
    handler: Box<dyn EventHandler<K>>,
    panicked: Panicked,
    serving: Serving<K>,
}

impl<K: Object> InPlace<K> {
    pub(crate) fn begin(
        seat: &Arc<Seat<K>>,
        handler: Box<dyn EventHandler<K>>,
        panicked: Panicked,
    ) -> Self {
        Self {
            handler,
            panicked,
            serving: Serving::begin(seat),
        }
    }

    pub(crate) fn call(&mut self, change: Change<K>) {
        let seat = &self.serving.0;
        let call = AssertUnwindSafe(|| self.handler.on_change(change));
        if let Err(panic) = catch_unwind(call) {
            note_panic(seat, &self.panicked, &*panic);
        }
        seat.handled.fetch_add(1, Ordering::Relaxed);
    }
}

async fn on_task<K: Object>(
    seat: &Arc<Seat<K>>,
    mut handler: impl EventHandler<K>,
    panicked: &Panicked,
) {
    let mut pace = Pace::begin();
    while let Some(changes) = pace.during(seat.take(TAKE_MAX)).await {
        for change in changes {
            tell(seat, &mut handler, change, panicked);
            pace.keep().await;
        }
    }
}

async fn on_threads<K: Object>(
    seat: &Arc<Seat<K>>,
    mut handler: impl EventHandler<K>,
    panicked: &Panicked,
) {
    // One at a time, so that what waits can still merge.
    while let Some(changes) = seat.take(1).await {
        let (seat, panicked) = (Arc::clone(seat), Arc::clone(panicked));
        let calls = tokio::task::spawn_blocking(move || {
            for change in changes {
                tell(&seat, &mut handler, change, &panicked);
            }
            handler
        });
        // Panics of the handler do not get here: the runtime shuts down.
        let Ok(back) = calls.await else { return };
        handler = back;
    }
}

fn tell<K: Object>(
    seat: &Seat<K>,
    handler: &mut impl EventHandler<K>,
    change: Change<K>,
    panicked: &Panicked,
) {
    if seat.is_ended() {
        return;
    }
    let initial = is_initial(&change);
    let call = AssertUnwindSafe(|| handler.on_change(change));
    if let Err(panic) = catch_unwind(call) {
        note_panic(seat, panicked, &*panic);
    }
    seat.handled.fetch_add(1, Ordering::Relaxed);
    if initial {
        seat.note_progress(1);
    }
}

fn is_initial<K>(change: &Change<K>) -> bool {
    matches!(change, Change::Added { initial: true, .. })
}

fn note_panic<K>(seat: &Seat<K>, panicked: &Panicked, panic: &(dyn Any + Send)) {
    seat.panics.fetch_add(1, Ordering::Relaxed);
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => Str::from(*text),
        (_, Some(text)) => Str::from(text.as_str()),
        _ => Str::from("a panic that says nothing"),
    };
    panicked(text);
}

/// The seat is served as long as this exists, however its task ends.
struct Serving<K: Object>(Arc<Seat<K>>);

impl<K: Object> Serving<K> {
    fn begin(seat: &Arc<Seat<K>>) -> Self {
        seat.set_served(true);
        Self(Arc::clone(seat))
    }
}

impl<K: Object> Drop for Serving<K> {
    fn drop(&mut self) {
        self.0.set_served(false);
    }
}
