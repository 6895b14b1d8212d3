//! Metrics of encryption configuration reloads, under upstream's names.
//!
//! Upstream's label for the server's identity is a digest; these servers have no identity, so it is
//! empty, as for an upstream server without one.

use super::exposition::{Family, number};
use kubist_registry::Registry;
use prometheus::proto::MetricFamily;

const RELOADED: &[&str] = &["status", "apiserver_id_hash"];
const USED: &[&str] = &["apiserver_id_hash", "hash"];
const NO_IDENTITY: &str = "";

/// Empty unless a configuration file is reloaded.
pub(super) fn families(registry: &Registry) -> Vec<MetricFamily> {
    let Some(live) = registry.encryption() else {
        return Vec::new();
    };
    let reloads = live.reloads();
    let mut total = Family::counter(
        "apiserver_encryption_config_controller_automatic_reloads_total",
        "Changes of the configuration of encryption that were used, or could not be",
        RELOADED,
    );
    let mut last = Family::gauge(
        "apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds",
        "When the configuration of encryption was changed last, or could not be",
        RELOADED,
    );
    for (status, count, at) in [
        ("success", reloads.replaced, reloads.replaced_last),
        ("failure", reloads.failed, reloads.failed_last),
    ] {
        let labels = [status, NO_IDENTITY];
        total.count_some(&labels, count);
        if count > 0 {
            last.set(&labels, number(at));
        }
    }
    let mut used = Family::gauge(
        "apiserver_encryption_config_controller_last_config_info",
        "The digest of the configuration of encryption that is in use",
        USED,
    );
    used.set(&[NO_IDENTITY, &reloads.hash], 1.0);
    let families = [total, last, used];
    families.into_iter().filter_map(Family::finish).collect()
}
