//! `Announcement`: how a server can be reached, and whom it believes.

use crate::registry::Registry;
use std::net::Ipv4Addr;

/// How a server can be reached, and whom it believes.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct Announcement {
    /// Its address, which is no loopback address. None: it is not among the endpoints of the
    /// service `kubernetes`.
    pub address: Option<Ipv4Addr>,
    /// Its port.
    pub port: u16,
    /// The certificates of the authorities whose clients it believes, in PEM; may be empty.
    pub client_ca: String,
}

impl Registry {
    /// Keeps the objects that every cluster has: those that [`start`](Self::start) creates, the
    /// endpoints of the service `kubernetes`, and the config maps in which upstream's servers
    /// publish their settings. Runs until it is dropped; each server runs one.
    ///
    /// # Cancel safety
    ///
    /// Can be dropped at any time, and run again. The server's endpoint disappears 15 s later.
    pub async fn run_system_objects(&self, announcement: &Announcement) {
        if let Some(cluster) = &self.shared.cluster {
            cluster.run(self, announcement).await;
        }
    }
}
