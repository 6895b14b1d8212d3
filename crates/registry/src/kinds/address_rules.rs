//! IP addresses and ranges as texts.

use kubist_apimachinery::{FieldError, FieldPath};
use std::net::IpAddr;

use super::rules::Errors;

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// A text must be an address.
pub(super) fn ip(errors: &mut Errors, text: &str, path: &FieldPath) -> Option<IpAddr> {
    let address = parse_ip(text);
    if address.is_none() {
        errors.push(FieldError::invalid(path, text, NO_ADDRESS));
    }
    address
}

/// An address, also with the leading zeros that Go's older parser allows.
pub(super) fn parse_ip(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let octets: Vec<&str> = text.split('.').collect();
    let plain =
        |it: &&str| !it.is_empty() && it.len() <= 3 && it.bytes().all(|b| b.is_ascii_digit());
    if octets.len() != 4 || !octets.iter().all(plain) {
        return None;
    }
    let trimmed: Vec<&str> = octets
        .iter()
        .map(|it| it.trim_start_matches('0'))
        .map(|it| if it.is_empty() { "0" } else { it })
        .collect();
    trimmed.join(".").parse().ok()
}

/// A text must be a range: an address and the length of its prefix.
pub(super) fn cidr(errors: &mut Errors, text: &str, path: &FieldPath) -> Option<(IpAddr, u8)> {
    let range = parse_cidr(text);
    if range.is_none() {
        errors.push(FieldError::invalid(path, text, NO_RANGE));
    }
    range
}

/// An address and the length of its prefix.
pub(super) fn parse_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let address = parse_ip(address)?;
    let bits: u8 = bits.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

/// Whether an address lies in a range.
pub(super) fn contains(range: (IpAddr, u8), address: IpAddr) -> bool {
    let bits = |it: IpAddr| match it {
        IpAddr::V4(it) => u128::from(u32::from(it)) << 96,
        IpAddr::V6(it) => u128::from(it),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(range.1)).unwrap_or(0);
    range.0.is_ipv4() == address.is_ipv4() && (bits(range.0) ^ bits(address)) & mask == 0
}

/// Addresses that no endpoint can have.
pub(super) fn not_special(errors: &mut Errors, address: IpAddr, shown: &str, path: &FieldPath) {
    let mut wrong = |detail: &str| errors.push(FieldError::invalid(path, shown, detail.to_owned()));
    if address.is_unspecified() {
        wrong(&format!("may not be unspecified ({shown})"));
    }
    if address.is_loopback() {
        wrong("may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (link_local, link_multicast) = match address {
        IpAddr::V4(it) => (it.is_link_local(), it.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(it) => (
            it.is_unicast_link_local(),
            it.segments()[0] & 0xff0f == 0xff02,
        ),
    };
    if link_local {
        wrong("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if link_multicast {
        wrong("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_ranges_are_read_as_go_reads_them() {
        assert_eq!(parse_ip("010.0.0.1"), "10.0.0.1".parse().ok());
        assert_eq!(parse_ip("1.2.3"), None);
        let range = parse_cidr("10.0.0.0/8").expect("it is a range");
        assert!(contains(
            range,
            "10.9.8.7".parse().expect("it is an address")
        ));
        assert!(!contains(
            range,
            "11.0.0.1".parse().expect("it is an address")
        ));
        let all = parse_cidr("0.0.0.0/0").expect("it is a range");
        assert!(contains(all, "11.0.0.1".parse().expect("it is an address")));
        assert_eq!(parse_cidr("10.0.0.0/33"), None);
    }
}
