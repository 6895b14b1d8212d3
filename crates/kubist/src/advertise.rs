//! The advertised address of a server, chosen as upstream does: the listen address or, if that is
//! unspecified or loopback, the source address of the default route.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// An address for route look-ups; nothing is sent there (RFC 5737).
const ELSEWHERE: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 1), 9);

/// Reports whether an address can be advertised: it is that of a single host, and not local.
pub fn is_advertisable(ip: Ipv4Addr) -> bool {
    let is_own = ip.is_loopback() || ip.is_unspecified() || ip.is_link_local();
    !(is_own || ip.is_multicast() || ip.is_broadcast())
}

/// Returns the advertised address for a listen address; `None` if this machine only has local ones.
pub(crate) fn address(listen: SocketAddr) -> Option<Ipv4Addr> {
    let listened = match listen.ip() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(ip) => ip.to_ipv4_mapped(),
    };
    listened.filter(|ip| is_advertisable(*ip)).or_else(|| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect(ELSEWHERE).ok()?;
        match socket.local_addr().ok()?.ip() {
            IpAddr::V4(ip) => is_advertisable(ip).then_some(ip),
            IpAddr::V6(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reachable_addresses_are_advertised() {
        let own = Ipv4Addr::new(10, 1, 2, 3);
        assert_eq!(address((own, 6443).into()), Some(own));
        assert!(is_advertisable(own));
        for listen in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED] {
            assert!(!is_advertisable(listen));
            let found = address((listen, 6443).into());
            assert!(found.is_none_or(|ip| !ip.is_loopback() && !ip.is_unspecified()));
        }
    }
}
