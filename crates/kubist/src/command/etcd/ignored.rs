//! Flags of etcd that mean nothing here: those of its peers, its log files and its consensus.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// The flags, and why they have no effect.
const FLAGS: [(&str, &str); 34] = [
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
const PEERS: &str = "this is the only member";
const FILES: &str = "the data directory has one file, and no log of its own";
const GATEWAY: &str = "there is no HTTP gateway";
const CHECKED: &str = "a store is always verified when it is opened";
const EXPERIMENT: &str = "there are no experiments to choose";

/// The flags of a command line that have no effect.
#[derive(Debug, Default)]
pub(super) struct IgnoredFlags(Vec<(&'static str, &'static str)>);

impl IgnoredFlags {
    /// Logs which flags have no effect, and why.
    pub(super) fn say(&self) {
        for (flag, why) in &self.0 {
            tracing::info!("--{flag} has no effect: {why}");
        }
    }
}

impl Args for IgnoredFlags {
    fn augment_args(command: Command) -> Command {
        command.args(FLAGS.map(|(flag, why)| {
            Arg::new(flag)
                .long(flag)
                .help(format!("Accepted without effect: {why}"))
                .num_args(0..=1)
                .action(ArgAction::Append)
                .hide(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for IgnoredFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = FLAGS
            .into_iter()
            .filter(|(flag, _)| matches.contains_id(flag));
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
