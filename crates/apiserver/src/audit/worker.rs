//! `Outlet`: one backend at work. The thread that makes the text of events offers each event to it;
//! a thread of its own calls the sink.

use super::backend::{BATCH_EVENTS, Backend, Batch, LineFormat, Mode, Throttle, Truncation};
use super::counters::{AuditCounters, BUFFERED, TRUNCATE};
use super::item::{Held, Item, Receipt, Rendered};
use super::queue::{ROOM_UNITS_MAX, units};
use super::sink::AuditSink;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// One backend at work. Dropping it waits until everything is written, which the sink does soon.
pub(super) struct Outlet {
    /// None once it is closed.
    intake: Option<Intake>,
    /// Room for the text of events, where nobody waits.
    room: Arc<Semaphore>,
    strict: bool,
    format: LineFormat,
    truncation: Option<Truncation>,
    counters: Arc<AuditCounters>,
    /// Dropping it ends all pauses.
    pauses: Option<Sender<()>>,
    ending: Option<CancellationToken>,
    thread: Option<JoinHandle<()>>,
}

enum Intake {
    /// Its bound are the places of events.
    Waited(Sender<Item>),
    /// Its bound is the buffer.
    Buffered(SyncSender<Item>),
}

/// What the thread of a backend has.
struct Worker {
    sink: Box<dyn AuditSink>,
    truncation: Option<Truncation>,
    counters: Arc<AuditCounters>,
    paused: Receiver<()>,
}

impl Outlet {
    pub(super) fn start(backend: Backend, counters: &Arc<AuditCounters>) -> io::Result<Self> {
        let Backend {
            sink,
            mode,
            format,
            truncation,
        } = backend;
        let (pauses, paused) = channel();
        let ending = sink.ending();
        let name = format!("audit-{}", sink.name());
        let worker = Worker {
            sink,
            truncation,
            counters: Arc::clone(counters),
            paused,
        };
        let thread = thread::Builder::new().name(name);
        let (intake, thread) = match mode {
            Mode::Blocking | Mode::BlockingStrict => {
                let (sender, receiver) = channel();
                let thread = thread.spawn(move || worker.write_at_once(&receiver))?;
                (Intake::Waited(sender), thread)
            }
            Mode::Batch(batch) => {
                let (sender, receiver) = sync_channel(batch.buffer_events.max(1));
                let thread = thread.spawn(move || worker.write_batches(&receiver, batch))?;
                (Intake::Buffered(sender), thread)
            }
        };
        Ok(Self {
            intake: Some(intake),
            room: Arc::new(Semaphore::new(ROOM_UNITS_MAX)),
            strict: mode == Mode::BlockingStrict,
            format,
            truncation,
            counters: Arc::clone(counters),
            pauses: Some(pauses),
            ending,
            thread: Some(thread),
        })
    }

    /// Passes an event on, or drops and counts it.
    pub(super) fn offer(&self, event: &Rendered, held: &Held, receipt: Option<&Arc<Receipt>>) {
        let Some(json) = self.fitting(event) else {
            tracing::error!("an audit event is too large even after truncating: it is lost");
            return self.counters.lost(TRUNCATE, 1);
        };
        match &self.intake {
            Some(Intake::Waited(sender)) => {
                let item = Item {
                    line: event.line(self.format, json),
                    _held: Some(held.clone()),
                    _room: None,
                    receipt: receipt.filter(|_| self.strict).cloned(),
                };
                if let Err(lost) = sender.send(item) {
                    lost.0.receipt.inspect(|it| it.fail());
                    self.counters.lost(BUFFERED, 1);
                }
            }
            Some(Intake::Buffered(sender)) => {
                if !self.buffer(sender, event, json) {
                    self.counters.lost(BUFFERED, 1);
                }
            }
            None => self.counters.lost(BUFFERED, 1),
        }
    }

    /// Returns the event as JSON, without its bodies if it is too large; none if it still is.
    fn fitting<'a>(&self, event: &'a Rendered) -> Option<&'a Arc<str>> {
        // As upstream, which counts the end of the line.
        let fits = |it: &Arc<str>| {
            self.truncation
                .is_none_or(|most| it.len() < most.event_bytes)
        };
        let whole = event.whole();
        if fits(whole) {
            return Some(whole);
        }
        event.short().filter(|it| fits(it))
    }

    /// Puts an event into the buffer; without its bodies, if there is no room for them. Reports
    /// whether it is there.
    fn buffer(&self, sender: &SyncSender<Item>, event: &Rendered, json: &Arc<str>) -> bool {
        let without = || event.short().and_then(|it| Some((it, self.room_for(it)?)));
        let fitting = self.room_for(json).map(|room| (json, room));
        let Some((json, room)) = fitting.or_else(without) else {
            return false;
        };
        let item = Item {
            line: event.line(self.format, json),
            _held: None,
            _room: Some(room),
            receipt: None,
        };
        sender.try_send(item).is_ok()
    }

    fn room_for(&self, text: &str) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room)
            .try_acquire_many_owned(units(text.len()))
            .ok()
    }

    /// Lets the thread end once it has written what is there.
    pub(super) fn close(&mut self) {
        self.intake = None;
        self.pauses = None;
        if let Some(ending) = self.ending.take() {
            ending.cancel();
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.close();
        if let Some(thread) = self.thread.take() {
            // A sink that panicked has said so.
            drop(thread.join());
        }
    }
}

impl Worker {
    fn write_at_once(mut self, items: &Receiver<Item>) {
        while let Ok(first) = items.recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH_EVENTS
                && let Ok(next) = items.try_recv()
            {
                batch.push(next);
            }
            self.write(batch);
        }
    }

    fn write_batches(mut self, items: &Receiver<Item>, limits: Batch) {
        let mut tokens = limits.throttle.map(Tokens::new);
        while let Ok(first) = items.recv() {
            let mut batch = vec![first];
            let until = Instant::now().checked_add(limits.wait);
            while batch.len() < limits.batch_events {
                let left = until.map(|it| it.saturating_duration_since(Instant::now()));
                match items.recv_timeout(left.unwrap_or(Duration::MAX)) {
                    Ok(next) => batch.push(next),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
            if let Some(pause) = tokens.as_mut().map(Tokens::take) {
                // It returns early if the backend is closed.
                let _ended = self.paused.recv_timeout(pause);
            }
            self.write(batch);
        }
    }

    /// Writes events, in more than one piece if they are too large together.
    fn write(&mut self, items: Vec<Item>) {
        let most = self.truncation.map_or(usize::MAX, |it| it.batch_bytes);
        let (mut piece, mut bytes) = (Vec::new(), 0_usize);
        for item in items {
            let more = item.line.len() + 1;
            if !piece.is_empty() && bytes.saturating_add(more) > most {
                self.write_piece(std::mem::take(&mut piece));
                bytes = 0;
            }
            bytes = bytes.saturating_add(more);
            piece.push(item);
        }
        self.write_piece(piece);
    }

    fn write_piece(&mut self, items: Vec<Item>) {
        let lines: Vec<Arc<str>> = items.iter().map(|it| Arc::clone(&it.line)).collect();
        let Err(error) = self.sink.write(&lines) else {
            return;
        };
        let (plugin, events) = (self.sink.name(), items.len());
        for receipt in items.iter().filter_map(|it| it.receipt.as_ref()) {
            receipt.fail();
        }
        self.counters.lost(plugin, events);
        tracing::error!(%error, plugin, events, "audit events could not be written");
    }
}

/// A token bucket of batches.
struct Tokens {
    limit: Throttle,
    /// Tokens at `since`; negative for a batch that still waits for its own.
    left: f64,
    since: Instant,
}

impl Tokens {
    fn new(limit: Throttle) -> Self {
        Self {
            limit,
            left: f64::from(limit.burst),
            since: Instant::now(),
        }
    }

    /// Takes a token and returns how long to wait for it.
    fn take(&mut self) -> Duration {
        let now = Instant::now();
        let rate = f64::from(self.limit.per_second.max(f32::MIN_POSITIVE));
        let earned = now.saturating_duration_since(self.since).as_secs_f64() * rate;
        self.left = (self.left + earned).min(f64::from(self.limit.burst)) - 1.0;
        self.since = now;
        if self.left >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.left / rate).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_a_burst_batches_wait_for_their_tokens() {
        let mut tokens = Tokens::new(Throttle {
            per_second: 10.0,
            burst: 2,
        });
        let millis = |it: Duration| it.as_millis();
        assert_eq!(millis(tokens.take()), 0);
        assert_eq!(millis(tokens.take()), 0);
        assert_eq!(millis(tokens.take()), 100);
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(millis(tokens.take()), 100);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(millis(tokens.take()), 0);
        assert_eq!(millis(tokens.take()), 0);
        assert_eq!(millis(tokens.take()), 100);
    }
}
