//! Host names and addresses.

use super::Compiled;
use regex::Regex;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

static HOSTNAME: Compiled = LazyLock::new(|| {
    const CHARACTER: &str = r"[a-zA-Z0-9\p{S}\p{L}]";
    const INNER: &str = r"[a-zA-Z0-9\-\p{S}\p{L}]";
    let single = format!("{CHARACTER}(-?{CHARACTER}{{0,62}})?");
    let label = format!(r"{CHARACTER}({INNER}{{0,61}}{CHARACTER})?\.");
    Regex::new(&format!(r"^({single}|({label})+[a-zA-Z\p{{L}}]{{2,63}})$")).ok()
});

pub(super) fn is_hostname(text: &str) -> bool {
    // The length comes first: it bounds the work of the expression.
    text.len() <= 255 && text.split('.').all(|it| it.len() <= 63) && super::matches(&HOSTNAME, text)
}

/// Reports whether a text is an IPv4 address, or an IPv6 address that ends with one. Leading zeros
/// are ignored.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && is_sloppy_address(text)
}

/// Reports whether a text is an IPv6 address. Leading zeros in an IPv4 address at its end are
/// refused.
pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<Ipv6Addr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let max = if is_sloppy_ipv4(address) {
        32
    } else if is_sloppy_address(address) {
        128
    } else {
        return false;
    };
    // Upstream reads digits and checks that nothing follows.
    !length.is_empty()
        && length.bytes().all(|b| b.is_ascii_digit())
        && length.trim_start_matches('0').len() <= 3
        && length.parse::<u64>().is_ok_and(|it| it <= max)
}

fn is_sloppy_address(text: &str) -> bool {
    match text.find([':', '.']) {
        Some(index) if text[index..].starts_with('.') => is_sloppy_ipv4(text),
        Some(_) => is_sloppy_ipv6(text),
        None => false,
    }
}

fn is_sloppy_ipv4(text: &str) -> bool {
    let is_part = |part: &str| {
        let digits = part.trim_start_matches('0');
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && digits.len() <= 3
            && (digits.is_empty() || digits.parse::<u16>().is_ok_and(|it| it <= 255))
    };
    text.split('.').count() == 4 && text.split('.').all(is_part)
}

fn is_sloppy_ipv6(text: &str) -> bool {
    match text.rsplit_once(':') {
        Some((start, end)) if end.contains('.') => {
            is_sloppy_ipv4(end) && is_loose_ipv6(&format!("{start}:0.0.0.0"))
        }
        _ => is_loose_ipv6(text),
    }
}

/// Reports whether a text is an IPv6 address whose groups may have more zeros in front.
fn is_loose_ipv6(text: &str) -> bool {
    let group = |group: &str| {
        let is_long = group.len() > 4 && !group.contains('.');
        match group.trim_start_matches('0') {
            "" if is_long => "0".to_owned(),
            digits if is_long => digits.to_owned(),
            _ => group.to_owned(),
        }
    };
    let groups: Vec<String> = text.split(':').map(group).collect();
    text.len() <= 1 << 16 && groups.join(":").parse::<Ipv6Addr>().is_ok()
}

/// Reports whether a text is an address as Go's `netip` parses it: without leading zeros, and with
/// an optional zone.
pub(super) fn is_ipv6_with_zone(text: &str) -> bool {
    match text.split_once('%') {
        Some((address, zone)) => !zone.is_empty() && is_ipv6(address),
        None => is_ipv6(text),
    }
}

/// Reports whether a text is an address without a zone and without leading zeros.
pub(super) fn is_strict_address(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok() || is_ipv6(text)
}

/// Reports whether a text is an address of 6, 8 or 20 bytes, in one of the usual notations.
pub(super) fn is_mac(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() < 12 {
        return false;
    }
    let (separator, digits) = match (bytes[2], bytes[4]) {
        (b':' | b'-', _) => (Some(bytes[2]), 2),
        (_, b'.') => (Some(b'.'), 4),
        _ => (None, bytes.len()),
    };
    let groups: Vec<&[u8]> = match separator {
        Some(separator) => bytes.split(|it| *it == separator).collect(),
        None => vec![bytes],
    };
    let length: usize = groups.iter().map(|it| it.len()).sum();
    matches!(length, 12 | 16 | 40)
        && groups
            .iter()
            .all(|it| it.len() == digits && it.iter().all(u8::is_ascii_hexdigit))
}
