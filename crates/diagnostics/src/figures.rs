//! Figures as JSON, for people and scripts.

use kubist_controller::{Histogram, Monitor};
use kubist_informers::InformerSummary;
use serde_json::{Value, json};

/// Times in milliseconds.
fn times(histogram: &Histogram) -> Value {
    let millis = |it: std::time::Duration| it.as_secs_f64() * 1e3;
    json!({
        "count": histogram.count(),
        "mean_ms": millis(histogram.mean()),
        "p50_ms": millis(histogram.percentile(50)),
        "p99_ms": millis(histogram.percentile(99)),
        "max_ms": millis(histogram.max()),
    })
}

pub(crate) fn controllers(monitors: &[Monitor]) -> Value {
    let of = |monitor: &Monitor| {
        let stats = monitor.stats();
        json!({
            "name": &**monitor.name(),
            "events": stats.events,
            "mapping_panics": stats.mapping_panics,
            "reconciles": stats.reconciles,
            "errors": stats.errors,
            "terminal_errors": stats.terminal_errors,
            "panics": stats.panics,
            "timeouts": stats.timeouts,
            "abandoned": stats.abandoned,
            "retries": stats.retries,
            "requeues": stats.requeues,
            "own_writes_waits": stats.own_writes_waits,
            "own_writes_overdue": stats.own_writes_overdue,
            "active": stats.active,
            "latency": times(&stats.latency),
            "duration": times(&stats.duration),
            "queue": {
                "depth": stats.queue.depth,
                "delayed": stats.queue.delayed,
                "processing": stats.queue.processing,
                "adds": stats.queue.adds,
                "retries": stats.queue.retries,
            },
        })
    };
    monitors.iter().map(of).collect()
}

pub(crate) fn informers(summaries: &[InformerSummary]) -> Value {
    let of = |summary: &InformerSummary| {
        let stats = &summary.stats;
        json!({
            "name": &*summary.name,
            "state": format!("{:?}", summary.state),
            "objects": stats.objects,
            "changes": stats.changes,
            "handlers": stats.handlers,
            "handler_panics": stats.handler_panics,
            "handler_overflows": stats.handler_overflows,
            "index_errors": stats.index_errors,
            "full_decodes": stats.full_decodes,
            "reflector": {
                "lists": stats.reflector.lists,
                "watches": stats.reflector.watches,
                "listed": stats.reflector.listed,
                "events": stats.reflector.events,
                "bookmarks": stats.reflector.bookmarks,
                "invalid": stats.reflector.invalid,
                "unchanged": stats.reflector.unchanged,
                "failures": stats.reflector.failures,
                "not_served": stats.reflector.not_served,
                "stale": stats.reflector.stale,
            },
        })
    };
    summaries.iter().map(of).collect()
}
