//! The log lines of a reconciler that panics.

use crate::cluster::{Cluster, named};
use crate::running::{deployments, settle, start};
use kubist_api::apps::v1::Deployment;
use kubist_apimachinery::ObjectName;
use kubist_controller::{Action, Error};
use parking_lot::Mutex;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::NoSubscriber;
use tracing::{Dispatch, Event, Level, Metadata, Subscriber};

/// The error events.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{field}={value:?} ").expect("a String takes it");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_logged_with_key_and_message() {
    // With only one subscriber, callsites that another thread registered first stay silent.
    let (log, _second) = (Log::default(), Dispatch::new(NoSubscriber::default()));
    let _guard = tracing::subscriber::set_default(log.clone());
    let cluster = Cluster::default();
    cluster.put(named::<Deployment>("web"));
    let (factory, controller) = deployments(&cluster);
    let reconcile = |key: ObjectName| async move {
        assert!(key.name.is_empty(), "no room for {}", key.name);
        Ok::<_, Error>(Action::done())
    };
    let running = start(controller, &factory, reconcile);
    settle().await;
    running.stop().await;
    let lines = log.0.lock().clone();
    let observed = ["reconcile panicked", "web", "panic=no room for web"];
    let first = lines.first().expect("it panicked");
    assert!(observed.iter().all(|it| first.contains(it)), "{lines:?}");
}
