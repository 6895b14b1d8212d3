//! `Announcement`: the address of a server and the client authorities that it trusts.

use std::net::Ipv4Addr;

/// The address of a server and the client authorities that it trusts.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct Announcement {
    /// The server's address, which is not a loopback address. `None` leaves the server out of the
    /// endpoints of the `kubernetes` service.
    pub address: Option<Ipv4Addr>,
    /// The server's port.
    pub port: u16,
    /// The certificates of the trusted client authorities, in PEM; may be empty.
    pub client_ca: String,
}
