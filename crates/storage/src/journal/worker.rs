//! `Worker`: processes the requests that are pending, and the threads on which it does.
//!
//! At most one works at a time, and only while there are requests. A journal may wait for a disk,
//! so it runs on a thread that may block; what a journal stores without waiting is done by the
//! caller, which spares two changes of threads.

use super::engine::Shared;
use super::queue::Request;
use super::writer::Writer;
use crate::{Fault, FaultKind};
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::{self, Thread};
use tokio::runtime::Handle;

/// How many batches a caller stores for others besides its own.
const BATCHES_HERE_MAX: usize = 4;

/// Where the worker runs: on the runtime's blocking threads until it has one of its own.
#[derive(Debug, Default)]
pub(super) struct Place {
    own: OnceLock<Thread>,
}

/// How to start the worker.
pub(super) enum Start<'a> {
    Wake(&'a Thread),
    Spawn(Handle),
}

impl Place {
    /// # Panics
    /// Without a thread of its own and outside a runtime.
    pub(super) fn start(&self) -> Start<'_> {
        match self.own.get() {
            Some(thread) => Start::Wake(thread),
            None => Start::Spawn(Handle::current()),
        }
    }
}

/// The thread ends.
impl Drop for Place {
    fn drop(&mut self) {
        if let Some(thread) = self.own.get() {
            thread.unpark();
        }
    }
}

/// Dropping it early drops the pending requests: the runtime is shutting down, or a journal
/// panicked.
#[derive(Debug)]
pub(super) struct Worker {
    shared: Arc<Shared>,
    /// Nothing is pending, or another worker goes on.
    done: bool,
}

/// What became of a batch.
enum Step {
    Done,
    /// Nothing is pending.
    Idle,
    /// It was not taken, since it may wait.
    MayWait,
}

impl Worker {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            done: false,
        }
    }

    /// Starts the store's own thread, unless there is one.
    pub(super) fn start_thread(shared: &Arc<Shared>) -> io::Result<()> {
        let weak = Arc::downgrade(shared);
        let thread = thread::Builder::new().name("kubist-journal".to_owned());
        let thread = thread.spawn(move || Self::run_thread(&weak))?;
        if shared.place.own.set(thread.thread().clone()).is_err() {
            // Another was first, and this one ends.
            thread.thread().unpark();
        }
        Ok(())
    }

    fn run_thread(shared: &Weak<Shared>) {
        loop {
            thread::park();
            let Some(shared) = shared.upgrade() else {
                return;
            };
            match shared.place.own.get() {
                None => {}
                Some(own) if own.id() == thread::current().id() => {
                    // A panic has closed the store, and what follows must be answered.
                    drop(panic::catch_unwind(AssertUnwindSafe(|| {
                        Self::new(shared).work();
                    })));
                }
                Some(_) => return,
            }
        }
    }

    /// Lets a thread that may block process the pending requests.
    pub(super) fn hand_over(mut self, start: Start<'_>) {
        match start {
            Start::Wake(thread) => {
                self.done = true;
                thread.unpark();
            }
            Start::Spawn(runtime) => drop(runtime.spawn_blocking(move || self.work())),
        }
    }

    /// Processes the pending requests on this thread while the journal does not wait, then on one
    /// that may block.
    pub(super) fn work_here(self, start: Start<'_>) {
        let left = panic::catch_unwind(AssertUnwindSafe(move || self.some_here()));
        // A panic has closed the store; its caller is told so, as by another thread.
        if let Ok(Some(worker)) = left {
            worker.hand_over(start);
        }
    }

    /// Returns itself if there is more to do.
    fn some_here(mut self) -> Option<Self> {
        let shared = Arc::clone(&self.shared);
        let Some(mut writer) = shared.writer.try_lock() else {
            return Some(self);
        };
        for _ in 0..BATCHES_HERE_MAX {
            match self.step(&mut writer, false) {
                Step::Done => {}
                Step::Idle => return None,
                Step::MayWait => break,
            }
        }
        Some(self)
    }

    fn work(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut writer = shared.writer.lock();
        while matches!(self.step(&mut writer, true), Step::Done) {}
    }

    /// Processes the next batch.
    fn step(&mut self, writer: &mut Writer, may_wait: bool) -> Step {
        let shared = &self.shared;
        let requests = {
            let mut queue = shared.queue.lock();
            if queue.is_empty() && !writer.has_more() {
                self.done = true;
                queue.working = false;
                return Step::Idle;
            }
            if !may_wait
                && (writer.has_more()
                    || !shared.is_quick.load(Ordering::Relaxed)
                    || !queue.is_quick())
            {
                return Step::MayWait;
            }
            queue.take()
        };
        let reopens = matches!(requests[..], [Request::Reopen { .. }, ..]);
        match writer.serve(requests, &shared.published) {
            Ok(_) if reopens => shared.queue.lock().stalled = None,
            Ok(true) => shared.queue.lock().works(),
            Ok(false) => {}
            Err(fault) if writer.may_recover(&fault) && shared.stall(&fault) => {
                writer.refuse(&fault);
            }
            Err(fault) => {
                shared.fail(fault.clone());
                writer.refuse(&fault);
                writer.close();
            }
        }
        Step::Done
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        if thread::panicking() {
            let fault = Fault::new(FaultKind::Unknown, "the journal panicked");
            self.shared.fail(fault);
            self.shared.writer.lock().close();
        }
        let mut queue = self.shared.queue.lock();
        queue.working = false;
        queue.clear();
    }
}
