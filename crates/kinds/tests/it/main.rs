//! Tests of the registry with the built-in kinds, on the in-memory engine.

mod cancelled_requests;
mod certificates;
mod create;
mod custom;
mod deletion;
#[path = "../../../storage-etcd/tests/it/etcd.rs"]
#[expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test fails by panicking, and only one member is needed here"
)]
mod etcd;
mod evictions;
mod fixture;
mod hooks;
mod kinds;
mod list;
mod many_watchers;
mod namespaces;
mod overtaken;
mod recorded_defaulting;
mod reset_fields;
mod rest_tester;
mod service_allocation;
mod services;
mod statuses;
mod subresource_updates;
mod subresources;
mod system_objects;
mod time_to_live;
mod turnstile;
mod unknown_outcomes;
mod update;
mod versions;
mod watch;
