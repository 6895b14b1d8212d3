//! Parsing and validation of IP addresses and ranges.

use crate::shared::rules::{self, Errors};
use kubist_apimachinery::{FieldError, FieldPath, Str, validate_name};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// Checks that a string is an address in an unambiguous form. Returns `None` if it is no address.
pub(crate) fn ip(errors: &mut Errors, text: &str, path: &FieldPath) -> Option<IpAddr> {
    let Some(address) = parse_ip(text) else {
        errors.push(FieldError::invalid(path, text, NO_ADDRESS));
        return None;
    };
    match text.parse::<IpAddr>() {
        Err(_) => errors.push(FieldError::invalid(path, text, "must not have leading 0s")),
        Ok(exact) if exact != address => {
            let detail = "must not be an IPv4-mapped IPv6 address";
            errors.push(FieldError::invalid(path, text, detail));
        }
        Ok(_) => {}
    }
    Some(address)
}

/// Like [`ip`], but requires the canonical form.
pub(crate) fn canonical_ip(errors: &mut Errors, text: &str, path: &FieldPath) -> Option<IpAddr> {
    let before = errors.len();
    let address = ip(errors, text, path)?;
    let canonical = address.to_string();
    if errors.len() == before && text != canonical {
        let detail = format!("must be in canonical form (\"{canonical}\")");
        errors.push(FieldError::invalid(path, text, detail));
    }
    Some(address)
}

/// Values of the old object, which may stay.
pub(crate) type Kept<'a> = BTreeSet<&'a str>;

/// Collects values that may stay.
pub(crate) fn kept<'a>(texts: impl IntoIterator<Item = &'a Str>) -> Kept<'a> {
    texts.into_iter().map(Str::as_str).collect()
}

/// Like [`ip`], but accepts values of the old object. Reports whether the value is accepted.
pub(crate) fn ip_unless_kept(
    errors: &mut Errors,
    text: &str,
    kept: &Kept<'_>,
    path: &FieldPath,
) -> bool {
    let before = errors.len();
    if !kept.contains(text) {
        ip(errors, text, path);
    }
    errors.len() == before
}

/// Parses an address. Like Go's older parser, it accepts leading zeros. An IPv4-mapped IPv6 address
/// becomes an IPv4 address.
pub(crate) fn parse_ip(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
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

/// Checks that a string is a range that begins with its first address, in an unambiguous form.
/// Returns `None` if it is no range.
pub(crate) fn cidr(errors: &mut Errors, text: &str, path: &FieldPath) -> Option<(IpAddr, u8)> {
    let Some(range) = parse_cidr(text) else {
        errors.push(FieldError::invalid(path, text, NO_RANGE));
        return None;
    };
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let exact = address.parse::<IpAddr>();
    let problem = match exact {
        _ if bits.len() > 1 && bits.starts_with('0') => LEADING_ZEROS,
        Err(_) => LEADING_ZEROS,
        Ok(exact) if exact != range.0 => "must not have an IPv4-mapped IPv6 address",
        Ok(_) if first(range) != range.0 => "must not have bits set beyond the prefix length",
        Ok(_) => return Some(range),
    };
    errors.push(FieldError::invalid(path, text, problem));
    Some(range)
}

/// Like [`cidr`], but accepts values of the old object.
pub(crate) fn cidr_unless_kept(
    errors: &mut Errors,
    text: &str,
    kept: &Kept<'_>,
    path: &FieldPath,
) -> Option<(IpAddr, u8)> {
    if kept.contains(text) {
        parse_cidr(text)
    } else {
        cidr(errors, text, path)
    }
}

const LEADING_ZEROS: &str = "must not have leading 0s in IP or prefix length";

/// Like [`cidr`], but requires the canonical form.
pub(crate) fn canonical_cidr(
    errors: &mut Errors,
    text: &str,
    path: &FieldPath,
) -> Option<(IpAddr, u8)> {
    let before = errors.len();
    let range = cidr(errors, text, path)?;
    let canonical = format!("{}/{}", range.0, range.1);
    if errors.len() == before && text != canonical {
        let detail = format!("must be in canonical form (\"{canonical}\")");
        errors.push(FieldError::invalid(path, text, detail));
    }
    Some(range)
}

/// Parses a range into an address and a prefix length.
pub(crate) fn parse_cidr(text: &str) -> Option<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/')?;
    let mapped = address.contains(':');
    let address = parse_ip(address)?;
    if !bits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let bits: u8 = bits.parse().ok()?;
    let most = if mapped { 128 } else { 32 };
    (bits <= most).then_some((address, bits))
}

/// Returns the first address of a range.
pub(crate) fn first((address, bits): (IpAddr, u8)) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32)));
            Ipv4Addr::from(u32::from(it) & mask.unwrap_or(0)).into()
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128)));
            Ipv6Addr::from(u128::from(it) & mask.unwrap_or(0)).into()
        }
    }
}

/// Reports whether a range contains an address.
pub(crate) fn contains(range: (IpAddr, u8), address: IpAddr) -> bool {
    let bits = |it: IpAddr| match it {
        IpAddr::V4(it) => u128::from(u32::from(it)) << 96,
        IpAddr::V6(it) => u128::from(it),
    };
    let mask = u128::MAX.checked_shl(128 - u32::from(range.1)).unwrap_or(0);
    range.0.is_ipv4() == address.is_ipv4() && (bits(range.0) ^ bits(address)) & mask == 0
}

/// Checks that a string is a valid address for an endpoint.
pub(crate) fn endpoint(errors: &mut Errors, text: &str, path: &FieldPath) {
    match parse_ip(text) {
        Some(address) => not_special(errors, address, text, path),
        None => errors.push(FieldError::invalid(
            path,
            text,
            "must be a valid IP address",
        )),
    }
}

/// Checks that a string is a host name and not an address.
pub(crate) fn host(errors: &mut Errors, text: &str, path: &FieldPath) {
    rules::text(errors, text, path, validate_name::dns1123_subdomain);
    if parse_ip(text).is_some() {
        let detail = "must be a DNS name, not an IP address";
        errors.push(FieldError::invalid(path, text, detail));
    }
}

/// Refuses addresses that endpoints cannot have.
pub(crate) fn not_special(errors: &mut Errors, address: IpAddr, shown: &str, path: &FieldPath) {
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
        assert_eq!(parse_cidr("10.0.0.0/+8"), None);
    }

    fn problems(check: impl FnOnce(&mut Errors, &FieldPath)) -> Vec<String> {
        let mut errors = Errors::new();
        check(&mut errors, &FieldPath::new("at"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_address_that_programs_read_differently_is_refused() {
        let of = |text: &str| {
            problems(|errors, at| {
                ip(errors, text, at);
            })
        };
        assert_eq!(of("10.0.0.1"), [""; 0]);
        assert_eq!(of("fd00::1"), [""; 0]);
        assert_eq!(
            of("010.0.0.1"),
            ["at: Invalid value: \"010.0.0.1\": must not have leading 0s"]
        );
        assert_eq!(
            of("::ffff:10.0.0.1"),
            ["at: Invalid value: \"::ffff:10.0.0.1\": must not be an IPv4-mapped IPv6 address"]
        );
        let kept = Kept::from(["010.0.0.1"]);
        let mut errors = Errors::new();
        let at = FieldPath::new("at");
        assert!(ip_unless_kept(&mut errors, "010.0.0.1", &kept, &at));
        assert!(!ip_unless_kept(&mut errors, "010.0.0.2", &kept, &at));
    }

    #[test]
    fn a_range_begins_with_its_first_address() {
        let of = |text: &str| {
            problems(|errors, at| {
                canonical_cidr(errors, text, at);
            })
        };
        assert_eq!(of("10.0.0.0/8"), [""; 0]);
        assert_eq!(
            of("10.0.0.1/8"),
            ["at: Invalid value: \"10.0.0.1/8\": must not have bits set beyond the prefix length"]
        );
        assert_eq!(
            of("10.0.0.0/08"),
            ["at: Invalid value: \"10.0.0.0/08\": must not have leading 0s in IP or prefix length"]
        );
        assert_eq!(
            of("FD00::/64"),
            ["at: Invalid value: \"FD00::/64\": must be in canonical form (\"fd00::/64\")"]
        );
    }
}
