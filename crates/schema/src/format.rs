//! `KnownFormat`: the formats of strings, as upstream's registry has them.
//!
//! All of them are supported by Kubernetes 1.36. Formats of numbers are not here: validation looks
//! at their names.

mod email;
mod hosts;
mod numbers;
mod times;
mod uri;

use regex::Regex;
use std::sync::LazyLock;

/// A format of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownFormat {
    BsonObjectId,
    Byte,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Duration,
    Email,
    HexColor,
    Hostname,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    LongName,
    Mac,
    Password,
    RgbColor,
    ShortName,
    Ssn,
    Uri,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
}

impl KnownFormat {
    /// Returns the format of this name; dashes in it mean nothing.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name: String = name.chars().filter(|c| *c != '-').collect();
        Some(match name.as_str() {
            "bsonobjectid" => Self::BsonObjectId,
            "byte" => Self::Byte,
            "cidr" => Self::Cidr,
            "creditcard" => Self::CreditCard,
            "date" => Self::Date,
            "datetime" => Self::DateTime,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hexcolor" => Self::HexColor,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "isbn" => Self::Isbn,
            "isbn10" => Self::Isbn10,
            "isbn13" => Self::Isbn13,
            "k8slongname" => Self::LongName,
            "k8sshortname" => Self::ShortName,
            "mac" => Self::Mac,
            "password" => Self::Password,
            "rgbcolor" => Self::RgbColor,
            "ssn" => Self::Ssn,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            "uuid3" => Self::Uuid3,
            "uuid4" => Self::Uuid4,
            "uuid5" => Self::Uuid5,
            _ => return None,
        })
    }

    /// Reports whether a text has the format.
    pub(crate) fn accepts(self, text: &str) -> bool {
        match self {
            Self::BsonObjectId => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
            Self::Byte => is_base64(text),
            Self::Cidr => hosts::is_cidr(text),
            Self::CreditCard => numbers::is_credit_card(text),
            Self::Date => times::is_date(text),
            Self::DateTime => times::is_date_time(text),
            Self::Duration => times::is_duration(text),
            Self::Email => email::is_email(text),
            Self::HexColor => is_hex_color(text),
            Self::Hostname => hosts::is_hostname(text),
            Self::Ipv4 => hosts::is_ipv4(text),
            Self::Ipv6 => hosts::is_ipv6(text),
            Self::Isbn => numbers::is_isbn10(text) || numbers::is_isbn13(text),
            Self::Isbn10 => numbers::is_isbn10(text),
            Self::Isbn13 => numbers::is_isbn13(text),
            Self::LongName => text.len() <= 253 && text.split('.').all(is_dns_label),
            Self::Mac => hosts::is_mac(text),
            Self::Password => true,
            Self::RgbColor => matches(&RGB_COLOR, text),
            Self::ShortName => text.len() <= 63 && is_dns_label(text),
            Self::Ssn => numbers::is_ssn(text),
            Self::Uri => uri::is_request_uri(text),
            Self::Uuid => is_uuid(text, None, false),
            Self::Uuid3 => is_uuid(text, Some('3'), false),
            Self::Uuid4 => is_uuid(text, Some('4'), true),
            Self::Uuid5 => is_uuid(text, Some('5'), true),
        }
    }
}

/// A compiled expression of this module; none if it does not compile, which a test excludes.
type Compiled = LazyLock<Option<Regex>>;

static RGB_COLOR: Compiled = LazyLock::new(|| {
    const PART: &str = r"[\t\n\f\r ]*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])[\t\n\f\r ]*";
    Regex::new(&format!(r"^rgb\({PART},{PART},{PART}\)$")).ok()
});

fn matches(expression: &Compiled, text: &str) -> bool {
    expression.as_ref().is_some_and(|it| it.is_match(text))
}

fn is_dns_label(text: &str) -> bool {
    let is_inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Reports whether a text is padded base64 of the standard alphabet, and not empty.
fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && !text.is_empty()
        && text.len() - digits.len() <= 2
        && digits
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// Reports whether a text is a UUID, whose dashes may be absent one by one.
fn is_uuid(text: &str, version: Option<char>, has_variant: bool) -> bool {
    let mut rest = text;
    for (index, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else {
            return false;
        };
        let is_fit = match (index, version) {
            (2, Some(version)) => group.starts_with(version),
            (3, _) if has_variant => group.starts_with(['8', '9', 'a', 'b', 'A', 'B']),
            _ => true,
        };
        if !is_fit || !group.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests;
