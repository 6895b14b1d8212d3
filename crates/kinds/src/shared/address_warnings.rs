//! Warnings about addresses and ranges that are valid, but not in the usual form.

use crate::shared;
use kubist_apimachinery::FieldPath;
use std::net::IpAddr;

/// Warns about an address that other programs parse or compare differently.
pub(crate) fn ip(found: &mut Vec<String>, text: &str, path: &FieldPath) {
    let Some(address) = shared::addresses::parse_ip(text) else {
        return;
    };
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(exact)) if exact.to_ipv4_mapped().is_none() => {
            let usual = exact.to_string();
            if usual != text {
                found.push(format!(
                    "{path}: IPv6 address {text:?} should be in RFC 5952 canonical format \
                     ({usual:?})"
                ));
            }
        }
        Ok(IpAddr::V4(_)) => {}
        Ok(IpAddr::V6(_)) | Err(_) => {
            let usual = address.to_string();
            found.push(format!(
                "{path}: non-standard IP address {text:?} is invalid: use {usual:?}"
            ));
        }
    }
}

/// Warns about a range that other programs parse differently, or that has host bits set.
pub(crate) fn cidr(found: &mut Vec<String>, text: &str, path: &FieldPath) {
    let Some((address, bits)) = shared::addresses::parse_cidr(text) else {
        return;
    };
    let first = shared::addresses::first((address, bits));
    let range = format!("{first}/{bits}");
    if address != first {
        let most = if address.is_ipv4() { 32 } else { 128 };
        let single = format!("{address}/{most}");
        found.push(format!(
            "{path}: CIDR value {text:?} is ambiguous in this context (should be {range:?} or \
             {single:?}?)"
        ));
    }
    let exact = text.split_once('/').map(|(it, _)| it.parse::<IpAddr>());
    match exact {
        Some(Ok(IpAddr::V6(exact))) if exact.to_ipv4_mapped().is_none() => {
            let usual = format!("{exact}/{bits}");
            if usual != text {
                found.push(format!(
                    "{path}: IPv6 CIDR value {text:?} should be in RFC 5952 canonical format \
                     ({usual:?})"
                ));
            }
        }
        Some(Ok(IpAddr::V4(_))) => {}
        _ => found.push(format!(
            "{path}: non-standard CIDR value {text:?} is invalid: use {range:?}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(warn: fn(&mut Vec<String>, &str, &FieldPath), text: &str) -> Vec<String> {
        let mut found = Vec::new();
        warn(&mut found, text, &FieldPath::new("it"));
        found
    }

    #[test]
    fn an_address_is_written_in_one_form() {
        for usual in ["10.0.0.5", "2001:db8::1", "no address"] {
            assert_eq!(of(ip, usual), [""; 0], "{usual}");
        }
        assert_eq!(
            of(ip, "010.0.0.5"),
            ["it: non-standard IP address \"010.0.0.5\" is invalid: use \"10.0.0.5\""]
        );
        assert_eq!(
            of(ip, "::ffff:1.2.3.4"),
            ["it: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\""]
        );
        assert_eq!(
            of(ip, "2001:DB8:0::1"),
            [
                "it: IPv6 address \"2001:DB8:0::1\" should be in RFC 5952 canonical format \
                 (\"2001:db8::1\")"
            ]
        );
    }

    #[test]
    fn a_range_is_written_in_one_form() {
        assert_eq!(of(cidr, "10.0.0.0/8"), [""; 0]);
        assert_eq!(
            of(cidr, "10.0.0.1/8"),
            [
                "it: CIDR value \"10.0.0.1/8\" is ambiguous in this context (should be \
                 \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"
            ]
        );
        assert_eq!(
            of(cidr, "2001:DB8::/32"),
            [
                "it: IPv6 CIDR value \"2001:DB8::/32\" should be in RFC 5952 canonical format \
                 (\"2001:db8::/32\")"
            ]
        );
    }
}
