//! The log of a test's thread.

use parking_lot::Mutex;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Event, Metadata, Subscriber};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// While there is only one subscriber, what other threads say first, and it does not hear, is
/// taken for what nobody wants to hear. So there are two.
pub(crate) struct Log {
    lines: Lines,
    _here: DefaultGuard,
    _second: Dispatch,
}

impl Log {
    pub(crate) fn begin() -> Self {
        let lines = Lines::default();
        Self {
            _here: tracing::subscriber::set_default(lines.clone()),
            _second: Dispatch::new(NoSubscriber::default()),
            lines,
        }
    }

    /// The warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let lines = self.lines.0.lock().clone();
        lines
            .into_iter()
            .filter(|it| it.starts_with("WARN"))
            .collect()
    }
}
