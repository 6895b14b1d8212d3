//! `EventBroadcaster`: writes what recorders record.

use crate::correlator::{Correlator, EntryId, Outcome, Output, Write};
use crate::event_name::{TEXT_BYTES_MAX, cut};
use crate::shared::Shared;
use crate::{EventBroadcasterConfig, EventRecorder, EventSink, EventStats};
use futures_core::future::BoxFuture;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use kubist_api::events::v1::Event;
use kubist_apimachinery::{Retry, Str};
use kubist_client::ApiError;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Writes the events of its recorders, in the background. client-go's type of that name.
///
/// ```
/// # use kubist_client::Client;
/// # use kubist_events::EventBroadcaster;
/// # use tokio_util::sync::CancellationToken;
/// # async fn example(client: Client, token: CancellationToken) {
/// let broadcaster = EventBroadcaster::new(client);
/// let recorder = broadcaster.recorder("example.com/operator");
/// # drop(recorder);
/// broadcaster.run(token).await; // usually a task of the manager
/// # }
/// ```
pub struct EventBroadcaster {
    sink: Arc<dyn EventSink>,
    config: EventBroadcasterConfig,
    sender: mpsc::Sender<Box<Event>>,
    receiver: mpsc::Receiver<Box<Event>>,
    shared: Arc<Shared>,
}

/// Shows the figures of a broadcaster before, during and after its run.
#[derive(Clone, Debug)]
pub struct EventMonitor {
    shared: Arc<Shared>,
}

impl EventMonitor {
    /// Returns the current figures.
    pub fn stats(&self) -> EventStats {
        self.shared.stats()
    }
}

impl EventBroadcaster {
    /// Creates a broadcaster with the default settings, usually for a `Client`.
    pub fn new(sink: impl EventSink) -> Self {
        Self::with_config(sink, EventBroadcasterConfig::default())
    }

    /// Creates a broadcaster.
    pub fn with_config(sink: impl EventSink, config: EventBroadcasterConfig) -> Self {
        let (sender, receiver) = mpsc::channel(config.queue_max.max(1));
        let shared = Shared::new(sink.ambient());
        Self {
            sink: Arc::new(sink),
            config,
            sender,
            receiver,
            shared: Arc::new(shared),
        }
    }

    /// Returns a recorder for a controller, such as `example.com/operator` (a qualified name). The
    /// reporting instance is its name and the host's.
    pub fn recorder(&self, controller: impl Into<Str>) -> EventRecorder {
        let controller = controller.into();
        let host = gethostname::gethostname();
        let instance = format!("{controller}-{}", host.to_string_lossy());
        self.recorder_of(controller, instance)
    }

    /// Same as [`Self::recorder`], with a reporting instance, for instance the name of the Pod.
    pub fn recorder_of(
        &self,
        controller: impl Into<Str>,
        instance: impl Into<Str>,
    ) -> EventRecorder {
        EventRecorder {
            sender: self.sender.clone(),
            shared: Arc::clone(&self.shared),
            controller: controller.into(),
            instance: cut(instance, TEXT_BYTES_MAX),
        }
    }

    /// Returns a view of the figures.
    pub fn monitor(&self) -> EventMonitor {
        EventMonitor {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Writes events until `token` is cancelled, and after that, for at most
    /// [`EventBroadcasterConfig::drain_timeout`], until there are no recorders and everything is
    /// written. It also ends when there are no recorders, whatever the token says.
    ///
    /// # Cancel safety
    /// Dropping the future drops the events that are not written yet, and further ones.
    pub async fn run(self, token: CancellationToken) -> EventStats {
        let Self {
            sink,
            config,
            sender,
            receiver,
            shared,
        } = self;
        drop(sender);
        let seed = config.seed;
        let seed = seed.unwrap_or_else(|| shared.ambient.number());
        let run = Run {
            sink,
            drain_timeout: config.drain_timeout,
            correlator: Correlator::new(config, seed, Instant::now().into_std()),
            receiver,
            shared: Arc::clone(&shared),
            under_way: FuturesUnordered::new(),
            drain_until: None,
            is_closed: false,
        };
        run.until(token).await;
        shared.stats()
    }
}

struct Run {
    sink: Arc<dyn EventSink>,
    drain_timeout: std::time::Duration,
    correlator: Correlator,
    receiver: mpsc::Receiver<Box<Event>>,
    shared: Arc<Shared>,
    under_way: FuturesUnordered<BoxFuture<'static, (EntryId, Outcome)>>,
    /// Set by the stop, or when there are no recorders.
    drain_until: Option<Instant>,
    /// Whether there are no recorders.
    is_closed: bool,
}

impl Run {
    async fn until(mut self, token: CancellationToken) {
        loop {
            let output = self.correlator.poll(Instant::now().into_std());
            self.shared.set_written(self.correlator.stats());
            let until = match output {
                Output::Write(id, write) => {
                    self.under_way.push(send(Arc::clone(&self.sink), id, write));
                    continue;
                }
                Output::SleepUntil(until) => Instant::from_std(until),
            };
            if self.is_closed && self.correlator.is_idle() {
                return;
            }
            let drain_until = self.drain_until;
            tokio::select! {
                biased;
                () = token.cancelled(), if drain_until.is_none() => self.drain(),
                () = sleep_until(drain_until.unwrap_or(until)), if drain_until.is_some() => {
                    return self.give_up();
                }
                Some((id, outcome)) = self.under_way.next(), if !self.under_way.is_empty() => {
                    self.correlator.written(Instant::now().into_std(), id, outcome);
                }
                event = self.receiver.recv(), if !self.is_closed => {
                    self.is_closed = event.is_none();
                    match event {
                        Some(event) => self.observe(*event),
                        None => self.drain(),
                    }
                }
                () = sleep_until(until) => {}
            }
        }
    }

    fn observe(&mut self, event: Event) {
        let now = Instant::now().into_std();
        self.correlator.observe(now, event);
    }

    fn drain(&mut self) {
        if self.drain_until.is_none() {
            self.drain_until = Some(Instant::now() + self.drain_timeout);
            self.correlator.drain(Instant::now().into_std());
        }
    }

    /// Counts what is not written after the end.
    fn give_up(mut self) {
        self.receiver.close();
        let mut unread = 0;
        while self.receiver.try_recv().is_ok() {
            unread += 1;
        }
        self.shared.count_dropped(unread);
        let unwritten = self.correlator.give_up();
        self.shared.set_written(self.correlator.stats());
        if unread + unwritten > 0 {
            tracing::warn!(unread, unwritten, "events were not written before the end");
        }
    }
}

fn send(
    sink: Arc<dyn EventSink>,
    id: EntryId,
    write: Write,
) -> BoxFuture<'static, (EntryId, Outcome)> {
    Box::pin(async move {
        let outcome = match write {
            Write::Create(event) => {
                let name = event.metadata.name.clone();
                of_create(&name, sink.create(*event).await)
            }
            Write::Patch {
                namespace,
                name,
                series,
            } => match sink.set_series(&namespace, &name, series).await {
                Err(error) if error.is_not_found() => Outcome::Missing,
                answer => of_write(&name, answer),
            },
        };
        (id, outcome)
    })
}

fn of_create(name: &Str, answer: Result<(), ApiError>) -> Outcome {
    match answer {
        // The answer to an earlier attempt was lost: names are unique.
        Err(error) if error.is_already_exists() => Outcome::Done,
        answer => of_write(name, answer),
    }
}

fn of_write(name: &Str, answer: Result<(), ApiError>) -> Outcome {
    let error = match answer {
        Ok(()) => return Outcome::Done,
        Err(error) if error.is_written() => return Outcome::Done,
        Err(error) => error,
    };
    let after = match (error.retry(), error.status()) {
        (Retry::After(after), _) => Some(after),
        (Retry::Backoff, _) => None,
        // An answer that is not the server's, such as a proxy's page.
        (_, None) if matches!(error, ApiError::Answer { .. }) => None,
        _ => {
            tracing::warn!(event = %name, %error, "the server rejected an event");
            return Outcome::Rejected;
        }
    };
    tracing::warn!(event = %name, %error, "an event could not be written; it may be retried");
    Outcome::Failed { after }
}

impl fmt::Debug for EventBroadcaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventBroadcaster")
            .field("config", &self.config)
            .field("stats", &self.shared.stats())
            .finish_non_exhaustive()
    }
}
