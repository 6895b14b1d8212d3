//! IP addresses and prefixes as text, with the errors of Go's `netip`.

use crate::value::format::quote;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address, and whether a zone followed it.
pub(super) struct Parsed {
    pub(super) address: IpAddr,
    pub(super) has_zone: bool,
}

/// Parses an IPv4 or IPv6 address.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    let parsed = match text.bytes().find(|it| b".:%".contains(it)) {
        Some(b'.') => fields(text).map(|it| Parsed {
            address: IpAddr::V4(Ipv4Addr::from(it)),
            has_zone: false,
        }),
        Some(b':') => parse_v6(text),
        Some(_) => Err(Failure("missing IPv6 address", "")),
        None => Err(Failure("unable to parse IP", "")),
    };
    parsed.map_err(|Failure(why, place)| {
        let text = quote(text);
        if place.is_empty() {
            format!("ParseAddr({text}): {why}")
        } else {
            format!("ParseAddr({text}): {why} (at {})", quote(place))
        }
    })
}

/// What is wrong, and the text from there on.
struct Failure<'t>(&'static str, &'t str);

/// Parses four decimal numbers with dots between them.
fn fields(text: &str) -> Result<[u8; 4], Failure<'_>> {
    let bytes = text.as_bytes();
    let mut octets = [0; 4];
    let (mut value, mut digits, mut position) = (0_u16, 0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(Failure("IPv4 field has octet with leading zero", ""));
                }
                value = value * 10 + u16::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(Failure("IPv4 field has value >255", ""));
                }
            }
            b'.' => {
                if at == 0 || at + 1 == bytes.len() || bytes[at - 1] == b'.' {
                    let why = "IPv4 field must have at least one digit";
                    return Err(Failure(why, &text[at..]));
                }
                if position == 3 {
                    return Err(Failure("IPv4 address too long", ""));
                }
                octets[position] = u8::try_from(value).unwrap_or_default();
                position += 1;
                (value, digits) = (0, 0);
            }
            _ => return Err(Failure("unexpected character", &text[at..])),
        }
    }
    if position < 3 {
        return Err(Failure("IPv4 address too short", ""));
    }
    octets[3] = u8::try_from(value).unwrap_or_default();
    Ok(octets)
}

fn parse_v6(text: &str) -> Result<Parsed, Failure<'_>> {
    let (address, has_zone) = match text.split_once('%') {
        Some((_, "")) => return Err(Failure("zone must be a non-empty string", "")),
        Some((address, _)) => (address, true),
        None => (text, false),
    };
    let groups = Groups::parse(address)?;
    let octets = groups.expanded()?;
    Ok(Parsed {
        address: IpAddr::V6(Ipv6Addr::from(octets)),
        has_zone,
    })
}

/// The bytes before and after the two colons that stand for zeros.
struct Groups {
    octets: Vec<u8>,
    /// Where `::` is, in bytes.
    gap: Option<usize>,
}

impl Groups {
    fn parse(text: &str) -> Result<Self, Failure<'_>> {
        let mut groups = Self {
            octets: Vec::with_capacity(16),
            gap: None,
        };
        let mut rest = text;
        if let Some(after) = rest.strip_prefix("::") {
            groups.gap = Some(0);
            rest = after;
            if rest.is_empty() {
                return Ok(groups);
            }
        }
        while groups.octets.len() < 16 {
            let (value, length) = group(rest)?;
            if rest[length..].starts_with('.') {
                groups.embedded(rest)?;
                rest = "";
                break;
            }
            groups.octets.extend(value.to_be_bytes());
            rest = &rest[length..];
            if rest.is_empty() {
                break;
            }
            rest = match rest.strip_prefix(':') {
                None => return Err(Failure("unexpected character, want colon", rest)),
                Some("") => {
                    let why = "colon must be followed by more characters";
                    return Err(Failure(why, rest));
                }
                Some(after) => after,
            };
            if let Some(after) = rest.strip_prefix(':') {
                if groups.gap.is_some() {
                    return Err(Failure("multiple :: in address", rest));
                }
                groups.gap = Some(groups.octets.len());
                rest = after;
                if rest.is_empty() {
                    break;
                }
            }
        }
        if !rest.is_empty() {
            return Err(Failure("trailing garbage after address", rest));
        }
        Ok(groups)
    }

    /// Parses an IPv4 address at the end.
    fn embedded<'t>(&mut self, rest: &'t str) -> Result<(), Failure<'t>> {
        if self.gap.is_none() && self.octets.len() != 12 {
            let why = "embedded IPv4 address must replace the final 2 fields of the address";
            return Err(Failure(why, rest));
        }
        if self.octets.len() + 4 > 16 {
            let why = "too many hex fields to fit an embedded IPv4 at the end of the address";
            return Err(Failure(why, rest));
        }
        self.octets.extend(fields(rest)?);
        Ok(())
    }

    fn expanded(self) -> Result<[u8; 16], Failure<'static>> {
        let mut octets = self.octets;
        match self.gap {
            Some(_) if octets.len() >= 16 => {
                return Err(Failure(
                    "the :: must expand to at least one field of zeros",
                    "",
                ));
            }
            Some(gap) => {
                let zeros = std::iter::repeat_n(0, 16 - octets.len());
                drop(octets.splice(gap..gap, zeros));
            }
            None => {}
        }
        octets
            .try_into()
            .map_err(|_| Failure("address string too short", ""))
    }
}

/// Parses up to four hexadecimal digits.
fn group(text: &str) -> Result<(u16, usize), Failure<'_>> {
    let length = text
        .bytes()
        .position(|it| !it.is_ascii_hexdigit())
        .unwrap_or(text.len());
    if length == 0 {
        let why = "each colon-separated field must have at least one digit";
        return Err(Failure(why, text));
    }
    match u16::from_str_radix(&text[..length.min(4)], 16) {
        Ok(value) if length <= 4 => Ok((value, length)),
        _ => Err(Failure("each group must have 4 or less digits", text)),
    }
}

/// Parses an address and the number of its leading bits that are a network.
pub(super) fn parse_prefix(text: &str) -> Result<(IpAddr, u8), String> {
    let failed = |why: String| format!("netip.ParsePrefix({}): {why}", quote(text));
    let (address, bits) = text
        .rsplit_once('/')
        .ok_or_else(|| failed("no '/'".to_owned()))?;
    let parsed = parse(address).map_err(failed)?;
    if parsed.has_zone {
        return Err(failed(
            "IPv6 zones cannot be present in a prefix".to_owned(),
        ));
    }
    let is_plain = bits.len() <= 1 || matches!(bits.as_bytes()[0], b'1'..=b'9');
    let number: Option<i64> = bits.parse().ok().filter(|_| is_plain);
    let Some(number) = number else {
        return Err(failed(format!("bad bits after slash: {}", quote(bits))));
    };
    match u8::try_from(number) {
        Ok(it) if u32::from(it) <= width(parsed.address) => Ok((parsed.address, it)),
        _ => Err(failed("prefix length out of range".to_owned())),
    }
}

/// Returns the number of bits of an address.
pub(super) const fn width(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// Returns an address whose bits after the first ones are zero.
pub(super) fn masked(address: IpAddr, bits: u8) -> IpAddr {
    let bits = u32::from(bits);
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from_bits(it.to_bits() & mask))
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX
                .checked_shl(128 - bits.min(128))
                .unwrap_or_default();
            IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() & mask))
        }
    }
}
