//! Flags of etcd that mean nothing here: those of its peers, its log files and its consensus.

use super::super::foreign_flags::Foreign;

/// etcd.
#[derive(Debug)]
pub(super) enum OfEtcd {}

impl Foreign for OfEtcd {
    const IGNORED: &'static [(&'static str, &'static str)] = FLAGS;

    fn refusal(flag: &str, value: &str) -> Option<&'static str> {
        let is_alone = match flag {
            "initial-cluster" => !value.contains(','),
            "initial-cluster-state" => value == "new",
            "force-new-cluster" => value == "false",
            "discovery" | "discovery-srv" => value.is_empty(),
            _ => true,
        };
        (!is_alone).then_some(PEERS)
    }
}

/// The flags, and why they have no effect.
const FLAGS: &[(&str, &str)] = &[
    ("advertise-peer-urls", PEERS),
    ("cors", GATEWAY),
    ("discovery", PEERS),
    ("discovery-srv", PEERS),
    ("election-timeout", PEERS),
    ("enable-grpc-gateway", GATEWAY),
    ("enable-pprof", "there are no Go profiles"),
    ("experimental-initial-corrupt-check", CHECKED),
    ("experimental-watch-progress-notify-interval", EXPERIMENT),
    ("feature-gates", EXPERIMENT),
    ("force-new-cluster", PEERS),
    (
        "grpc-keepalive-interval",
        "connections are pinged every 30 s",
    ),
    (
        "grpc-keepalive-min-time",
        "connections are pinged every 30 s",
    ),
    (
        "grpc-keepalive-timeout",
        "connections are pinged every 30 s",
    ),
    ("heartbeat-interval", PEERS),
    ("host-whitelist", GATEWAY),
    ("initial-advertise-peer-urls", PEERS),
    ("initial-cluster", PEERS),
    ("initial-cluster-state", PEERS),
    ("initial-cluster-token", PEERS),
    ("initial-corrupt-check", CHECKED),
    ("listen-peer-urls", PEERS),
    ("log-outputs", "the log is on standard error"),
    ("logger", "the log is text"),
    ("max-snapshots", FILES),
    ("max-wals", FILES),
    ("metrics", "there is one set of metrics"),
    ("peer-cert-file", PEERS),
    ("peer-client-cert-auth", PEERS),
    ("peer-key-file", PEERS),
    ("peer-trusted-ca-file", PEERS),
    ("pre-vote", PEERS),
    ("snapshot-count", FILES),
    ("wal-dir", FILES),
];
const PEERS: &str = "it is a member alone, of a cluster of its own";
const FILES: &str = "the data directory has one file, and no log of its own";
const GATEWAY: &str = "there is no HTTP gateway";
const CHECKED: &str = "a store is always verified when it is opened";
const EXPERIMENT: &str = "there are no experiments to choose";
