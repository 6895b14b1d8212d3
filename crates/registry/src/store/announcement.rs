//! `Announcement`: the address of a server, and the client authorities and proxies that it trusts.

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
    /// The proxies that it believes; `None` for none.
    pub proxies: Option<AnnouncedProxies>,
}

/// The proxies whose headers name users, so that other servers can believe the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct AnnouncedProxies {
    /// The certificates of the authorities of proxies, in PEM.
    pub client_ca: String,
    /// The common names of proxies; empty for all.
    pub allowed_names: Vec<String>,
    /// The headers of user names.
    pub username_headers: Vec<String>,
    /// The headers of uids.
    pub uid_headers: Vec<String>,
    /// The headers of groups.
    pub group_headers: Vec<String>,
    /// The prefixes of the headers of extra fields.
    pub extra_header_prefixes: Vec<String>,
}
