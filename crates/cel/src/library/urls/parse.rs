//! [`Url`]: a URL, parsed and formatted as Go's `net/url` does.

use super::authority::{self, User};
use super::encoding::{Part, decoded, encoded, is_encoded};
use crate::value::format::quote;

/// A URL.
#[derive(Debug, Default)]
pub(super) struct Url {
    pub(super) scheme: String,
    opaque: String,
    user: Option<User>,
    pub(super) host: Vec<u8>,
    path: Encoded,
    pub(super) query: String,
    has_empty_query: bool,
    omits_host: bool,
    fragment: Encoded,
}

/// A part that was decoded, with the text that it had if that is not the encoding by default.
#[derive(Debug, Default)]
struct Encoded {
    bytes: Vec<u8>,
    given: Option<String>,
}

impl Encoded {
    fn parse(text: &str, part: Part) -> Result<Self, String> {
        let bytes = decoded(text, part)?;
        let given = (encoded(&bytes, part) != text).then(|| text.to_owned());
        Ok(Self { bytes, given })
    }

    fn text(&self, part: Part) -> String {
        match &self.given {
            Some(given) if is_encoded(given, part) => given.clone(),
            _ if part == Part::Path && self.bytes == b"*" => "*".to_owned(),
            _ => encoded(&self.bytes, part),
        }
    }
}

/// Where a URL is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference {
    /// In a request: absolute, and what follows `#` is not special.
    Request,
    /// Anywhere.
    Any,
}

/// Checks that text is the URL of a request.
pub(in crate::library) fn check_request(text: &str) -> Result<(), String> {
    parse(text, Reference::Request).map(drop)
}

/// Parses a URL.
pub(super) fn parse(text: &str, reference: Reference) -> Result<Url, String> {
    let failed = |text: &str, why: String| format!("parse {}: {why}", quote(text));
    let (main, fragment) = match reference {
        Reference::Request => (text, ""),
        Reference::Any => text.split_once('#').unwrap_or((text, "")),
    };
    let mut url = parse_main(main, reference).map_err(|why| failed(main, why))?;
    url.fragment = Encoded::parse(fragment, Part::Fragment).map_err(|why| failed(text, why))?;
    Ok(url)
}

fn parse_main(text: &str, reference: Reference) -> Result<Url, String> {
    let is_request = reference == Reference::Request;
    if text.bytes().any(|it| it.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && is_request {
        return Err("empty url".to_owned());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path.bytes = b"*".to_vec();
        return Ok(url);
    }
    let (scheme, rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    let (mut rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    url.has_empty_query = query.is_empty() && text.ends_with('?');
    query.clone_into(&mut url.query);
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if is_request {
            return Err("invalid URI for request".to_owned());
        }
        if first_segment(rest).contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let may_have_host = !scheme.is_empty() || !is_request && !rest.starts_with("///");
    if let Some(authority) = rest.strip_prefix("//").filter(|_| may_have_host) {
        let end = authority.find('/').unwrap_or(authority.len());
        (url.user, url.host) = authority::parse(&url.scheme, &authority[..end])?;
        rest = &authority[end..];
    } else {
        url.omits_host = !scheme.is_empty() && rest.starts_with('/');
    }
    url.path = Encoded::parse(rest, Part::Path)?;
    Ok(url)
}

fn first_segment(path: &str) -> &str {
    path.split_once('/').map_or(path, |it| it.0)
}

/// Splits off the scheme, which is empty if there is none.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    let inner = |it: u8| it.is_ascii_alphanumeric() || b"+-.".contains(&it);
    let end = text.bytes().position(|it| !inner(it));
    let is_scheme = end.is_some_and(|at| text[at..].starts_with(':'));
    match end {
        Some(0) if is_scheme => Err("missing protocol scheme".to_owned()),
        Some(at) if is_scheme && text.as_bytes()[0].is_ascii_alphabetic() => {
            Ok((&text[..at], &text[at + 1..]))
        }
        _ => Ok(("", text)),
    }
}

impl Url {
    /// Returns the path, encoded as it was given if that is valid.
    pub(super) fn escaped_path(&self) -> String {
        self.path.text(Part::Path)
    }

    /// Formats the URL.
    pub(super) fn formatted(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.push_str(&self.scheme);
            text.push(':');
        }
        if self.opaque.is_empty() {
            self.push_hierarchy(&mut text);
        } else {
            text.push_str(&self.opaque);
        }
        if self.has_empty_query || !self.query.is_empty() {
            text.push('?');
            text.push_str(&self.query);
        }
        if !self.fragment.bytes.is_empty() {
            text.push('#');
            text.push_str(&self.fragment.text(Part::Fragment));
        }
        text
    }

    fn push_hierarchy(&self, text: &mut String) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        let is_absolute = !self.scheme.is_empty() && !self.omits_host;
        if has_authority || is_absolute && !self.path.bytes.is_empty() {
            text.push_str("//");
        }
        if let Some((name, password)) = &self.user {
            text.push_str(&encoded(name, Part::UserInfo));
            if let Some(password) = password {
                text.push(':');
                text.push_str(&encoded(password, Part::UserInfo));
            }
            text.push('@');
        }
        text.push_str(&encoded(&self.host, Part::Host));
        let path = self.escaped_path();
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            text.push('/');
        }
        if text.is_empty() && first_segment(&path).contains(':') {
            text.push_str("./");
        }
        text.push_str(&path);
    }
}
