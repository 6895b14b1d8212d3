//! Options of the addresses and ports of services, named as upstream's.

use clap::Args;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

/// The largest network of cluster IPs, as upstream: 2^20 addresses.
const BITS_MAX: u32 = 20;
/// The smallest: the first address is that of the service kubernetes.
const BITS_MIN: u32 = 2;

#[derive(Args, Debug)]
pub(in crate::command) struct NetworkOptions {
    /// The IPv4 network of cluster IPs
    #[arg(
        long,
        value_name = "CIDR",
        default_value = "10.96.0.0/16",
        value_parser = network
    )]
    pub(super) service_cluster_ip_range: (Ipv4Addr, u32),
    /// The range of node ports: its first and last, or its first and the number of further ones,
    /// as in 30000+100
    #[arg(
        long,
        value_name = "PORTS",
        default_value = "30000-32767",
        value_parser = ports
    )]
    pub(super) service_node_port_range: RangeInclusive<u16>,
}

/// Parses a network. Host bits are ignored, as upstream does.
fn network(text: &str) -> Result<(Ipv4Addr, u32), String> {
    if text.contains(',') {
        return Err("must be one network: a second one is not supported".to_owned());
    }
    let (address, prefix) = text.split_once('/').unwrap_or((text, ""));
    let address: Option<Ipv4Addr> = address.parse().ok();
    let prefix = prefix.parse().ok().filter(|it| *it <= Ipv4Addr::BITS);
    let (Some(address), Some(prefix)) = (address, prefix) else {
        return Err("must be an IPv4 network, such as 10.96.0.0/16".to_owned());
    };
    let bits = Ipv4Addr::BITS - prefix;
    if !(BITS_MIN..=BITS_MAX).contains(&bits) {
        return Err("must have a prefix length from 12 to 30".to_owned());
    }
    let mask = u32::MAX << bits;
    Ok((Ipv4Addr::from_bits(address.to_bits() & mask), prefix))
}

/// Parses a range of ports.
fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let range = match (text.split_once('-'), text.split_once('+')) {
        (Some((first, last)), None) => first.parse().ok().zip(last.parse().ok()),
        (None, Some((first, more))) => first.parse().ok().and_then(|first: u16| {
            let last = first.checked_add(more.parse().ok()?)?;
            Some((first, last))
        }),
        _ => None,
    };
    let range = range.filter(|(first, last)| *first > 0 && first <= last);
    let range = range.map(|(first, last)| first..=last);
    range.ok_or_else(|| "must be a range of ports, such as 30000-32767".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_loses_its_host_bits_and_is_neither_too_large_nor_too_small() {
        let parsed = network("10.0.0.7/24");
        assert_eq!(parsed, Ok((Ipv4Addr::new(10, 0, 0, 0), 24)));
        for (text, why) in [
            ("10.0.0.0", "such as"),
            ("fd00::/108", "such as"),
            ("10.0.0.0/33", "such as"),
            ("10.0.0.0/8", "12 to 30"),
            ("10.0.0.0/31", "12 to 30"),
            ("10.0.0.0/24,fd00::/108", "a second one is not supported"),
        ] {
            let error = network(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn range_of_ports_has_two_forms() {
        assert_eq!(ports("30000-32767"), Ok(30_000..=32_767));
        assert_eq!(ports("30000+100"), Ok(30_000..=30_100));
        for text in ["", "30000", "2-1", "0-1", "65535+1", "a-b"] {
            assert!(ports(text).is_err(), "{text}");
        }
    }
}
