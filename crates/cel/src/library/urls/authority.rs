//! The authority of a URL: user, host and port.

use super::encoding::{Part, decoded};
use crate::library::addresses;
use crate::value::format::quote;

/// A user name with the password, if there is one.
pub(super) type User = (Vec<u8>, Option<Vec<u8>>);

/// Parses `user:password@host:port`. The port stays with the host.
pub(super) fn parse(scheme: &str, text: &str) -> Result<(Option<User>, Vec<u8>), String> {
    let Some((user, host)) = text.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, text)?));
    };
    let host = parse_host(scheme, host)?;
    if !user.chars().all(is_user_character) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let user = match user.split_once(':') {
        None => (decoded(user, Part::UserInfo)?, None),
        Some((name, password)) => (
            decoded(name, Part::UserInfo)?,
            Some(decoded(password, Part::UserInfo)?),
        ),
    };
    Ok((Some(user), host))
}

fn is_user_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(character)
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, String> {
    match host.rfind('[') {
        Some(0) => return parse_literal(host),
        Some(_) => return Err("invalid IP-literal".to_owned()),
        None => {}
    }
    if let Some(first) = host.find(':') {
        // Other schemes may have several hosts with ports.
        let is_strict = matches!(scheme, "http" | "https");
        let at = if is_strict {
            first
        } else {
            host.rfind(':').unwrap_or(first)
        };
        check_port(&host[at..])?;
    }
    decoded(host, Part::Host)
}

/// Parses an IPv6 address in brackets, perhaps with a zone.
fn parse_literal(host: &str) -> Result<Vec<u8>, String> {
    let Some(close) = host.rfind(']') else {
        return Err("missing ']' in host".to_owned());
    };
    let port = &host[close + 1..];
    check_port(port)?;
    let port = decoded(port, Part::Host)?;
    let name = host.get(1..close).unwrap_or_default();
    let mut address;
    if let Some(zone) = name.find("%25") {
        address = decoded(&name[..zone], Part::Host)?;
        address.extend(decoded(&name[zone..], Part::Zone)?);
    } else {
        address = decoded(name, Part::Host)?;
    }
    let parsed = addresses::parse(&super::encoding::lossy(&address))
        .map_err(|why| format!("invalid host: {why}"))?;
    if parsed.address.is_ipv4() {
        return Err("invalid IP-literal".to_owned());
    }
    Ok([b"[", &address[..], b"]", &port[..]].concat())
}

fn check_port(text: &str) -> Result<(), String> {
    if is_port(text) {
        return Ok(());
    }
    Err(format!("invalid port {} after host", quote(text)))
}

/// Reports whether text is empty, or a colon with digits.
fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':').unwrap_or(text);
    text.is_empty() || digits.len() < text.len() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// Splits a host into its name, without brackets, and its port.
pub(super) fn split(host: &str) -> (String, String) {
    let (name, port) = match host.rfind(':') {
        Some(at) if is_port(&host[at..]) => (&host[..at], &host[at + 1..]),
        _ => (host, ""),
    };
    let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    (inner.unwrap_or(name).to_owned(), port.to_owned())
}
