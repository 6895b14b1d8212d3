//! The address by which others reach a server, as upstream chooses it: the one that it listens on
//! or, if that is every address or none but this machine's own, that of the way out.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// An address that is nobody's, to ask the way to; nothing is sent there (RFC 5737).
const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// The address of a server that listens there; None if this machine has none but its own.
pub(crate) fn address(listen: SocketAddr) -> Option<Ipv4Addr> {
    let usable = |ip: Ipv4Addr| !(ip.is_loopback() || ip.is_unspecified() || ip.is_link_local());
    let listened = match listen.ip() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(ip) => ip.to_ipv4_mapped(),
    };
    listened.filter(|ip| usable(*ip)).or_else(|| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect(ELSEWHERE).ok()?;
        match socket.local_addr().ok()?.ip() {
            IpAddr::V4(ip) => usable(ip).then_some(ip),
            IpAddr::V6(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_its_own_is_advertised_and_this_machines_own_never_is() {
        let own = Ipv4Addr::new(10, 1, 2, 3);
        assert_eq!(address((own, 6443).into()), Some(own));
        for listen in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED] {
            let found = address((listen, 6443).into());
            assert!(found.is_none_or(|ip| !ip.is_loopback() && !ip.is_unspecified()));
        }
    }
}
