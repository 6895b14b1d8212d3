//! The peers that read a recorded watch in their own process, and the recordings.
//!
//! The driver records the body of a streaming watch list once in each encoding. Each peer reads it
//! into memory and passes it to its client through an in-process transport: network, TLS and HTTP
//! framing are not involved.

use super::peers::Peers;
use super::rounds::Contestant;
use kubist_test_support::process::{self, Outcome, root};
use std::path::PathBuf;
use std::process::Command;

/// The peers that are compared: ours by its cheapest form with the cheapest of each other, and
/// decoded JSON with decoded JSON.
pub(super) const OURS: &str = "Kubist encoded, protobuf";
/// The same whose handler decodes each object, and reads three of its fields.
pub(super) const OURS_READ: &str = "Kubist encoded, protobuf, decoded by the handler";
pub(super) const OURS_FIELDS: &str = "Kubist encoded, protobuf, three fields read";
pub(super) const DECODED_JSON: &str = "Kubist decoded, JSON";
pub(super) const GO: &str = "client-go, protobuf";
pub(super) const GO_JSON: &str = "client-go, JSON";
pub(super) const KUBE: &str = "kube, JSON";

/// What ours cannot cost less than: the same client follows the watch and keeps the objects in a
/// list, without store, indexes and handler.
pub(super) const ALONE: &str = "following the watch, encoded";
pub(super) const ALONE_READ: &str = "following the watch and decoding";
pub(super) const ALONE_JSON: &str = "following the watch, decoded JSON";

/// Whether the name is that of a limit.
pub(super) fn is_limit(name: &str) -> bool {
    [ALONE, ALONE_READ, ALONE_JSON].contains(&name)
}

/// A peer: its name, its program, its flags, and the encoding that it reads.
type Peer = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
);

const PEERS: [Peer; 12] = [
    (OURS, "kubist-parts", &["--form", "encoded"], "protobuf"),
    (
        OURS_FIELDS,
        "kubist-parts",
        &["--form", "encoded", "--reads", "fields"],
        "protobuf",
    ),
    (
        OURS_READ,
        "kubist-parts",
        &["--form", "encoded", "--reads", "all"],
        "protobuf",
    ),
    (
        "Kubist decoded, protobuf",
        "kubist-parts",
        &["--form", "decoded"],
        "protobuf",
    ),
    (
        "Kubist encoded, JSON",
        "kubist-parts",
        &["--form", "encoded-json"],
        "json",
    ),
    (
        DECODED_JSON,
        "kubist-parts",
        &["--form", "decoded-json"],
        "json",
    ),
    (GO, "go-peer", &["--content", "protobuf"], "protobuf"),
    (GO_JSON, "go-peer", &["--content", "json"], "json"),
    (KUBE, "kube-parts", &[], "json"),
    (
        ALONE,
        "kubist-parts",
        &["--form", "encoded", "--alone"],
        "protobuf",
    ),
    (
        ALONE_READ,
        "kubist-parts",
        &["--form", "encoded", "--reads", "all", "--alone"],
        "protobuf",
    ),
    (
        ALONE_JSON,
        "kubist-parts",
        &["--form", "decoded-json", "--alone"],
        "json",
    ),
];

/// Returns the peers whose name contains the text, and the limits, except those that were not
/// built.
pub(super) fn contestants<'a>(
    peers: &'a Peers,
    only: Option<&str>,
    recordings: &'a Recordings,
) -> Vec<Contestant<'a>> {
    PEERS
        .iter()
        .filter(|peer| only.is_none_or(|it| peer.0.contains(it)) || is_limit(peer.0))
        .filter_map(|peer| contestant(peers, peer, recordings))
        .collect()
}

/// Returns how a peer is started, unless it was not built.
fn contestant<'a>(
    peers: &'a Peers,
    &(name, program, flags, content): &'static Peer,
    recordings: &'a Recordings,
) -> Option<Contestant<'a>> {
    let program = match program {
        "go-peer" => peers.go_program()?.to_owned(),
        name => PathBuf::from(peers.rust(name).get_program()),
    };
    Some(Contestant::new(name, move || {
        let mut command = Command::new(&program);
        command.arg("apply").args(flags);
        command.args(["--workload", recordings.workload]);
        command.arg("--body").arg(recordings.of(content));
        command
    }))
}

/// The recorded bodies, which are large; they are deleted on drop.
pub(super) struct Recordings {
    folder: PathBuf,
    workload: &'static str,
}

impl Recordings {
    /// Records this many objects of a workload of the driver, and updates.
    pub(super) fn write(
        peers: &Peers,
        workload: &'static str,
        objects: u64,
        updates: u64,
    ) -> Outcome<Self> {
        let folder = root().join("target/bench");
        std::fs::create_dir_all(&folder)?;
        let recordings = Self { folder, workload };
        for content in ["protobuf", "json"] {
            let mut driver = Command::new(peers.driver());
            driver
                .args(["record", "--content", content, "--workload", workload])
                .args(["--objects", &objects.to_string()])
                .args(["--updates", &updates.to_string()])
                .arg("--out")
                .arg(recordings.of(content));
            process::run_with(&mut driver)?;
        }
        Ok(recordings)
    }

    fn of(&self, content: &str) -> PathBuf {
        self.folder
            .join(format!("watch-{}.{content}", self.workload))
    }
}

impl Drop for Recordings {
    fn drop(&mut self) {
        for content in ["protobuf", "json"] {
            // A file that stays is overwritten by the next run.
            std::fs::remove_file(self.of(content)).ok();
        }
    }
}
