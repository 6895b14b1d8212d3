//! `Announcement`: how a server can be reached, and whom it believes.

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
