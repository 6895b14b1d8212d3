//! Absolute URIs and absolute paths, as Go's `url.ParseRequestURI` accepts them.

use super::hosts;

pub(super) fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let Some((scheme, rest)) = split_scheme(text) else {
        return false;
    };
    let rest = rest.split('?').next().unwrap_or_default();
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let mut path = rest;
    if !scheme.is_empty()
        && let Some(after) = rest.strip_prefix("//")
    {
        let end = after.find('/').unwrap_or(after.len());
        let authority = &after[..end];
        path = &after[end..];
        if !is_authority(&scheme.to_ascii_lowercase(), authority) {
            return false;
        }
    }
    unescape(path, Mode::Path).is_some()
}

/// Splits off the scheme, which may be empty. None if the text begins with a colon.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return None,
            b':' => return Some((&text[..index], &text[index + 1..])),
            _ => break,
        }
    }
    Some(("", text))
}

fn is_authority(scheme: &str, authority: &str) -> bool {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let is_user = user.is_none_or(|user| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
        user.chars().all(is_plain) && unescape(user, Mode::Path).is_some()
    });
    is_user && is_host(scheme, host)
}

fn is_host(scheme: &str, host: &str) -> bool {
    match host.rfind('[') {
        Some(0) => is_literal_host(&host[1..]),
        Some(_) => false,
        None => {
            let is_strict = matches!(scheme, "http" | "https");
            let colon = if is_strict {
                host.find(':')
            } else {
                host.rfind(':')
            };
            colon.is_none_or(|it| is_port(&host[it..])) && unescape(host, Mode::Host).is_some()
        }
    }
}

/// Reports whether a text is an IPv6 address, `]` and an optional port.
fn is_literal_host(text: &str) -> bool {
    let Some((name, port)) = text.rsplit_once(']') else {
        return false;
    };
    if !is_port(port) {
        return false;
    }
    let name = match name.find("%25") {
        Some(zone) => {
            let address = unescape(&name[..zone], Mode::Host);
            let zone = unescape(&name[zone..], Mode::Zone);
            match (address, zone) {
                (Some(address), Some(zone)) => [address, zone].concat(),
                _ => return false,
            }
        }
        None => match unescape(name, Mode::Host) {
            Some(name) => name,
            None => return false,
        },
    };
    // A zone may have any bytes.
    let name = String::from_utf8_lossy(&name);
    hosts::is_ipv6_with_zone(&name)
}

fn is_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()),
        None => text.is_empty(),
    }
}

/// Where a text stands, which decides the bytes that it may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Path,
    Host,
    Zone,
}

/// Resolves percent encoding; none if it is malformed or not allowed here.
fn unescape(text: &str, mode: Mode) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let (high, low) = (bytes.next()?, bytes.next()?);
            let digit = |it: u8| char::from(it).to_digit(16);
            let value = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
            let is_allowed = match mode {
                Mode::Path => true,
                Mode::Host => value >= 0x80 || value == b'%',
                Mode::Zone => matches!(value, b'%' | b' ') || is_host_byte(value),
            };
            if !is_allowed {
                return None;
            }
            out.push(value);
        } else if mode != Mode::Path && byte < 0x80 && !is_host_byte(byte) {
            return None;
        } else {
            out.push(byte);
        }
    }
    Some(out)
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}
