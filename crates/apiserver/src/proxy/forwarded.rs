//! Headers of requests and answers that are passed on.

use http::header::{
    AUTHORIZATION, CONNECTION, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use kubist_authentication::RequestHeaders;
use std::net::IpAddr;

/// Headers that concern one connection.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("keep-alive"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// The header with the addresses that a request came from.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// How a client in a browser passes its token.
pub(crate) const BEARER_PROTOCOL: &str = "base64url.bearer.authorization.k8s.io.";

/// Reports whether a request wants another protocol, as upstream does.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(CONNECTION).iter();
    said.any(|it| {
        let it = it.as_bytes().to_ascii_lowercase();
        memchr::memmem::find(&it, b"upgrade").is_some()
    })
}

/// Returns the protocols that a WebSocket offers, in its order; none if it is no WebSocket.
pub(crate) fn websocket_protocols(headers: &HeaderMap) -> Vec<&str> {
    let is_one = headers.get(UPGRADE).is_some_and(|it| {
        let it = it.as_bytes();
        it.eq_ignore_ascii_case(b"websocket")
    });
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered = offered.filter(|_| is_one).filter_map(|it| it.to_str().ok());
    let all = offered.flat_map(|it| it.split(',')).map(str::trim);
    all.filter(|it| !it.is_empty()).collect()
}

/// Returns the headers of a request for a backend. What told this server who sends it stays here:
/// its token, whom it impersonates, and whom a proxy named in headers.
pub(crate) fn forwarded(
    headers: &HeaderMap,
    of_proxies: Option<&RequestHeaders>,
    source: Option<IpAddr>,
) -> HeaderMap {
    let upgrades = is_upgrade(headers);
    let mut kept = if upgrades {
        headers.clone()
    } else {
        without_hop_by_hop(headers)
    };
    for name in [AUTHORIZATION, EXPECT, PROXY_AUTHORIZATION] {
        kept.remove(name);
    }
    if upgrades {
        kept.remove(TRANSFER_ENCODING);
        remove_bearer_protocol(&mut kept);
    }
    let names_user = |name: &&HeaderName| {
        let name = name.as_str();
        name.starts_with("impersonate-") || of_proxies.is_some_and(|it| it.has(name))
    };
    let names: Vec<_> = kept.keys().filter(names_user).cloned().collect();
    for name in names {
        kept.remove(name);
    }
    if let Some(source) = source {
        add_source(&mut kept, source);
    }
    kept
}

/// Adds the header `Host`, which requests over HTTP/2 do not have, unless there is one.
pub(crate) fn add_host(headers: &mut HeaderMap, host: &str) {
    if !headers.contains_key(HOST)
        && let Ok(host) = HeaderValue::from_str(host)
    {
        headers.insert(HOST, host);
    }
}

/// Returns the headers that concern the message and not its connection.
pub(crate) fn without_hop_by_hop(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter();
    let named = named.filter_map(|it| it.to_str().ok());
    let named: Vec<_> = named
        .flat_map(|it| it.split(','))
        .map(|it| it.trim().to_ascii_lowercase())
        .collect();
    let mut kept = headers.clone();
    for name in &HOP_BY_HOP {
        kept.remove(name);
    }
    for name in named {
        kept.remove(name.as_str());
    }
    kept
}

fn add_source(headers: &mut HeaderMap, source: IpAddr) {
    let before = headers.get_all(X_FORWARDED_FOR).iter();
    let before = before.filter_map(|it| it.to_str().ok());
    let mut all: Vec<_> = before.map(str::to_owned).collect();
    all.push(source.to_canonical().to_string());
    if let Ok(all) = HeaderValue::from_str(&all.join(", ")) {
        headers.insert(X_FORWARDED_FOR, all);
    }
}

/// Removes the token from the offered protocols of a WebSocket.
fn remove_bearer_protocol(headers: &mut HeaderMap) {
    let offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let offered: Vec<_> = offered.filter_map(|it| it.to_str().ok()).collect();
    if !offered.iter().any(|it| it.contains(BEARER_PROTOCOL)) {
        return;
    }
    let others = offered.iter().flat_map(|it| it.split(','));
    let others: Vec<_> = others
        .map(str::trim)
        .filter(|it| !it.starts_with(BEARER_PROTOCOL))
        .collect();
    let others = HeaderValue::from_str(&others.join(","));
    headers.remove(SEC_WEBSOCKET_PROTOCOL);
    if let Ok(others) = others
        && !others.is_empty()
    {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn credentials_and_what_concerns_the_connection_stay_here() {
        let sent = headers(&[
            ("authorization", "Bearer secret"),
            ("connection", "close, X-Mine"),
            ("x-mine", "1"),
            ("impersonate-user", "bob"),
            ("impersonate-extra-a", "b"),
            ("te", "trailers"),
            ("x-remote-user", "admin"),
            ("accept", "*/*"),
            ("x-forwarded-for", "10.0.0.1"),
        ]);
        let kept = forwarded(
            &sent,
            Some(&RequestHeaders::standard()),
            Some([10, 0, 0, 2].into()),
        );
        let expected = headers(&[("accept", "*/*"), ("x-forwarded-for", "10.0.0.1, 10.0.0.2")]);
        assert_eq!(kept, expected);
    }

    #[test]
    fn an_upgrade_keeps_what_it_needs_but_not_its_token() {
        let sent = headers(&[
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", "websocket"),
            (
                "sec-websocket-protocol",
                "v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0",
            ),
        ]);
        let offered = websocket_protocols(&sent);
        assert_eq!((offered.len(), offered[0]), (2, "v4.channel.k8s.io"));
        assert!(is_upgrade(&sent) && !is_upgrade(&headers(&[("connection", "close")])));
        let kept = forwarded(&sent, None, None);
        assert_eq!(kept[UPGRADE], "websocket");
        assert_eq!(kept[SEC_WEBSOCKET_PROTOCOL], "v4.channel.k8s.io");
    }
}
