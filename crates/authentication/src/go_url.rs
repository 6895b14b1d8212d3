//! Whether Go can parse a URL, and in its words why not.

use kubist_apimachinery::go_text::quote;

/// What a host may have besides letters and digits; `%` begins an escape.
const IN_HOSTS: &str = "-_.~!$&'()*+,;=:[]<>\"%";

/// Returns why Go cannot parse a URL; `None` if it can.
///
/// ```
/// use kubist_authentication::go_url_error;
/// assert_eq!(go_url_error("https://example.com/a"), None);
/// let why = "parse \":a\": missing protocol scheme";
/// assert_eq!(go_url_error(":a").as_deref(), Some(why));
/// ```
pub fn go_url_error(url: &str) -> Option<String> {
    let why = parse(url).err()?;
    Some(format!("parse {}: {why}", quote(url)))
}

fn parse(url: &str) -> Result<(), String> {
    if url.chars().any(|it| it.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (scheme, rest) = scheme(url)?;
    let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
    if !rest.starts_with('/') {
        if scheme {
            return Ok(());
        }
        let first = rest.split('/').next().unwrap_or_default();
        if first.contains(':') {
            return Err("first path segment in URL cannot contain colon".to_owned());
        }
    }
    let path = match rest.strip_prefix("//") {
        Some(after) if scheme || !after.starts_with('/') => {
            let end = after.find('/').unwrap_or(after.len());
            authority(&after[..end])?;
            &after[end..]
        }
        _ => rest,
    };
    escapes(path)?;
    escapes(fragment)
}

/// Splits off the scheme, and reports whether there is one.
fn scheme(url: &str) -> Result<(bool, &str), String> {
    for (at, byte) in url.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((true, &url[at + 1..])),
            _ => break,
        }
    }
    Ok((false, url))
}

fn authority(text: &str) -> Result<(), String> {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let is_user = |it: char| it.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(it);
    if !user.chars().all(is_user) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let port = if host.starts_with('[') {
        let (_, after) = host.rsplit_once(']').ok_or("missing ']' in host")?;
        after
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = port.is_empty() || port.starts_with(':');
    if !is_port || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err(format!("invalid port {} after host", quote(port)));
    }
    let is_fine =
        |it: &char| !it.is_ascii() || it.is_ascii_alphanumeric() || IN_HOSTS.contains(*it);
    if let Some(bad) = host.chars().find(|it| !is_fine(it)) {
        let bad = quote(&bad.to_string());
        return Err(format!("invalid character {bad} in host name"));
    }
    escapes(host)
}

/// Checks that each percent sign is followed by two hexadecimal digits.
fn escapes(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('%') {
        let bytes = &text.as_bytes()[at..];
        let digits = bytes.get(1..3).unwrap_or_default();
        if digits.len() < 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
            let shown = String::from_utf8_lossy(bytes.get(..3).unwrap_or(bytes));
            return Err(format!("invalid URL escape {}", quote(&shown)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused_in_the_words_of_go() {
        for good in [
            "",
            "foo",
            "a:b",
            "http://a",
            "https://",
            "https://a?x=y",
            "https://[::1]:8/a%20b",
            "https://user@a:8443/x#y",
            "/a:b",
            "mailto:a b",
        ] {
            assert_eq!(go_url_error(good), None, "{good}");
        }
        for (bad, why) in [
            ("http://a b", "invalid character \" \" in host name"),
            (":x", "missing protocol scheme"),
            ("1:x", "first path segment in URL cannot contain colon"),
            ("https://a:x", "invalid port \":x\" after host"),
            ("https://[::1", "missing ']' in host"),
            ("https://a/%zz", "invalid URL escape \"%zz\""),
            ("https://a\n", "net/url: invalid control character in URL"),
        ] {
            let why = format!("parse {}: {why}", quote(bad));
            assert_eq!(go_url_error(bad), Some(why));
        }
    }
}
