//! The summary of a watch: objects, events, bytes, memory, delay.

use super::super::{memory, units};
use kubist_apimachinery::{ApiResource, Object};
use kubist_cache::ResourceEvent;
use kubist_client::Client;
use kubist_controller::Histogram;
use kubist_informers::SharedInformer;
use std::time::Duration;
use tokio::time::Instant;

/// With fewer objects, their memory is indistinguishable from that of the program.
const OBJECTS_MIN: u64 = 1000;

/// Counts during the watch.
pub(super) struct Summary {
    name: String,
    client: Client,
    started: Instant,
    resident_before: Option<u64>,
    bytes_before: u64,
    /// When the last object of the first list was displayed, and the resident memory then.
    listed: Option<(Instant, Option<u64>)>,
    events: u64,
    lag: Histogram,
}

impl Summary {
    pub(super) fn start(resource: &ApiResource, client: &Client, resident: Option<u64>) -> Self {
        Self {
            name: resource.plural.to_string(),
            client: client.clone(),
            started: Instant::now(),
            resident_before: resident,
            bytes_before: client.transport().stats().bytes_received,
            listed: None,
            events: 0,
            lag: Histogram::default(),
        }
    }

    /// Counts a displayed change, and its delay since arrival.
    pub(super) fn count<K>(&mut self, change: &ResourceEvent<K>, lag: Option<Duration>) {
        if matches!(change, ResourceEvent::Added { initial: true, .. }) {
            return;
        }
        self.events += 1;
        if let Some(lag) = lag {
            self.lag.record(lag);
        }
    }

    /// Notes that the first list is displayed. May be called repeatedly.
    pub(super) fn synced(&mut self) {
        if self.listed.is_none() {
            self.listed = Some((Instant::now(), memory::resident()));
        }
    }

    /// Prints the summary to standard error.
    #[expect(clippy::print_stderr, reason = "this is the command's own output")]
    pub(super) fn finish<K: Object>(&self, informer: &SharedInformer<K>) {
        for line in self.lines(informer) {
            eprintln!("{line}");
        }
    }

    fn lines<K: Object>(&self, informer: &SharedInformer<K>) -> Vec<String> {
        let (stats, wire) = (informer.stats(), self.client.transport().stats());
        let objects = stats.objects as u64;
        let ran = self.started.elapsed();
        let Some((listed, resident)) = self.listed else {
            let (name, ran) = (&self.name, units::duration(ran));
            return vec![format!(
                "{name}: the first list was not complete after {ran}"
            )];
        };
        let after = listed.elapsed();
        #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
        let rate = self.events as f64 / after.as_secs_f64().max(0.001);
        let mut lines = vec![
            format!(
                "{}: {} after {}",
                self.name,
                units::of(objects, "object"),
                units::duration(listed - self.started)
            ),
            format!(
                "events: {} in {} ({rate:.1}/s), {} unreadable, {} requests failed",
                units::count(self.events),
                units::duration(after),
                stats.reflector.invalid,
                stats.reflector.failures
            ),
            format!(
                "wire: {} received over {}",
                units::bytes(wire.bytes_received - self.bytes_before),
                units::of(wire.connections_opened, "connection")
            ),
        ];
        if let (Some(now), Some(before)) = (resident, self.resident_before) {
            let grown = now.saturating_sub(before);
            let rough = if objects < OBJECTS_MIN {
                " (rough: with so few objects, most of it is the program's own)"
            } else {
                ""
            };
            let each = grown.checked_div(objects).map_or_else(String::new, |each| {
                format!(", {} per object{rough}", units::bytes(each))
            });
            lines.push(format!(
                "memory: {} more after the list{each}",
                units::bytes(grown)
            ));
        }
        let version = informer.lister_unsynced().resource_version();
        let timed = if self.lag.count() == 0 {
            "no event was measured".to_owned()
        } else {
            format!(
                "p50 {}, p99 {}, max {} from arrival to output",
                units::duration(self.lag.percentile(50)),
                units::duration(self.lag.percentile(99)),
                units::duration(self.lag.max())
            )
        };
        lines.push(format!("lag: {timed}; at version {version}"));
        lines
    }
}
