//! `Report`: the results of a demonstration, as text or JSON.

use super::super::units;
use kubist_apimachinery::Str;
use kubist_controller::{Histogram, Stats};
use serde::Serialize;
use std::time::Duration;

/// The results of a demonstration. Times are in seconds, latencies in milliseconds.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether every step was verified.
    pub(super) ok: bool,
    /// The error with its causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    pub(super) steps: Vec<StepReport>,
    /// Changes delivered to controllers by informers.
    pub(super) events: u64,
    pub(super) reconciles: u64,
    /// Failed reconciles, which were retried.
    pub(super) retries: u64,
    pub(super) controllers: Vec<ControllerReport>,
    pub(super) event_to_reconcile_ms: Quantiles,
    pub(super) caches: Caches,
    pub(super) wire: Wire,
    pub(super) server: Server,
    pub(super) wall_seconds: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StepReport {
    pub(super) name: String,
    pub(super) ok: bool,
    pub(super) seconds: f64,
    /// The result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) result: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ControllerReport {
    pub(super) name: Str,
    pub(super) events: u64,
    pub(super) reconciles: u64,
    pub(super) retries: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

/// The contents of the controllers' informers.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Caches {
    pub(super) objects: u64,
    /// Bytes of encoded objects; decoded ones count with their protobuf size.
    pub(super) bytes: u64,
}

/// Traffic between the controllers and the server.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Wire {
    pub(super) bytes_received: u64,
    pub(super) bytes_sent: u64,
    pub(super) requests: u64,
    pub(super) connections: u64,
}

/// The contents of the server's store.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Server {
    pub(super) objects: u64,
    pub(super) writes: u64,
}

impl Caches {
    /// Adds other counts.
    pub(super) fn add(&mut self, other: &Self) {
        self.objects += other.objects;
        self.bytes += other.bytes;
    }
}

impl Report {
    /// Adds the figures of the controllers.
    pub(super) fn add_controllers(&mut self, controllers: Vec<(Str, Stats)>) {
        let mut latency = Histogram::default();
        for (name, stats) in controllers {
            latency.merge(&stats.latency);
            self.events += stats.events;
            self.reconciles += stats.reconciles;
            self.retries += stats.retries;
            self.controllers.push(ControllerReport {
                name,
                events: stats.events,
                reconciles: stats.reconciles,
                retries: stats.retries,
            });
        }
        let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
        self.event_to_reconcile_ms = Quantiles {
            p50: millis(latency.percentile(50)),
            p99: millis(latency.percentile(99)),
            max: millis(latency.max()),
        };
    }

    /// Formats the report as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let verified = self.steps.iter().filter(|step| step.ok).count();
        let steps = format!(
            "{verified} of {} verified through the API",
            self.steps.len()
        );
        let events = format!("{} delivered to controllers", units::count(self.events));
        let wall = units::duration(Duration::from_secs_f64(self.wall_seconds));
        let Caches { objects, bytes } = self.caches;
        let caches = format!("{} objects, {}", units::count(objects), units::bytes(bytes));
        let rows = [
            ("steps", steps),
            ("events", events),
            ("reconciles", self.reconciles_text()),
            ("latency", self.event_to_reconcile_ms.text()),
            ("caches", caches),
            ("wire", self.wire.text()),
            ("server", self.server.text()),
            ("wall time", wall),
        ];
        rows.iter()
            .map(|(name, text)| format!("  {name:<11} {text}"))
            .collect()
    }

    fn reconciles_text(&self) -> String {
        let each = |it: &ControllerReport| format!("{} {}", it.name, units::count(it.reconciles));
        let each: Vec<String> = self.controllers.iter().map(each).collect();
        let (all, retries) = (units::count(self.reconciles), units::count(self.retries));
        format!("{all} ({}), {retries} retries", each.join(", "))
    }
}

impl Quantiles {
    fn text(self) -> String {
        let millis = |millis: f64| units::duration(Duration::from_secs_f64(millis / 1e3));
        let (p50, p99, max) = (millis(self.p50), millis(self.p99), millis(self.max));
        format!("p50 {p50}, p99 {p99}, max {max} from event to reconcile")
    }
}

impl Wire {
    fn text(self) -> String {
        let (received, sent) = (
            units::bytes(self.bytes_received),
            units::bytes(self.bytes_sent),
        );
        let requests = units::of(self.requests, "request");
        let connections = units::of(self.connections, "connection");
        format!("{received} received, {sent} sent; {requests}, {connections}")
    }
}

impl Server {
    fn text(self) -> String {
        let (objects, writes) = (
            units::of(self.objects, "object"),
            units::of(self.writes, "write"),
        );
        format!("{objects} after {writes}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_of_json() {
        let report = Report {
            ok: true,
            wall_seconds: 1.5,
            ..Report::default()
        };
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.starts_with(r#"{"ok":true,"steps":[]"#), "{json}");
        assert!(
            json.contains(r#""eventToReconcileMs":{"p50":0.0"#),
            "{json}"
        );
        assert!(!json.contains('\n') && !json.contains("error"), "{json}");
    }

    #[test]
    fn figures_of_controllers_are_added_up() {
        let mut stats = Stats::default();
        (stats.events, stats.reconciles, stats.retries) = (5, 3, 1);
        stats.latency.record(Duration::from_millis(2));
        let mut report = Report::default();
        report.add_controllers(vec![("a".into(), stats.clone()), ("b".into(), stats)]);
        assert_eq!(
            (report.events, report.reconciles, report.retries),
            (10, 6, 2)
        );
        assert!((report.event_to_reconcile_ms.max - 2.0).abs() < 1e-9);
        assert!(
            report
                .lines()
                .iter()
                .any(|line| line.contains("6 (a 3, b 3), 2 retries"))
        );
    }
}
