//! The handshake of an upgrade: which protocol both sides speak.

use super::session::Protocol;
use http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

const SPDY: &str = "SPDY/3.1";
/// The header with the protocol within SPDY.
const STREAM_PROTOCOL: HeaderName = HeaderName::from_static("x-stream-protocol-version");
/// The protocols of exec and attach; only a WebSocket has the newest.
const CHANNELS: [&str; 2] = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const PORT_FORWARD: &str = "portforward.k8s.io";
/// The protocols of forwarded ports in a WebSocket.
const FORWARDS: [&str; 2] = ["SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"];

/// Returns the protocol of a connection, and the headers of the answer.
///
/// # Errors
/// There is no upgrade, or no protocol that both sides speak.
pub(super) fn agreed(headers: &HeaderMap, forwards: bool) -> Result<(Protocol, HeaderMap), String> {
    let upgrade = text(headers, &UPGRADE);
    let mut answer = HeaderMap::new();
    answer.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    if upgrade.eq_ignore_ascii_case("websocket") {
        let name = if forwards {
            one_of(headers, &SEC_WEBSOCKET_PROTOCOL, &FORWARDS)?
        } else {
            one_of(headers, &SEC_WEBSOCKET_PROTOCOL, &CHANNELS)?
        };
        let key = text(headers, &SEC_WEBSOCKET_KEY);
        if key.is_empty() || text(headers, &SEC_WEBSOCKET_VERSION) != "13" {
            return Err("not a handshake of a WebSocket of version 13".to_owned());
        }
        let accept = derive_accept_key(key.as_bytes());
        let accept = HeaderValue::from_str(&accept).map_err(|error| error.to_string())?;
        answer.insert(UPGRADE, HeaderValue::from_static("websocket"));
        answer.insert(SEC_WEBSOCKET_ACCEPT, accept);
        answer.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(name));
        let protocol = if name == FORWARDS[0] {
            Protocol::Tunnel
        } else {
            Protocol::Channels {
                closes: name == CHANNELS[0],
            }
        };
        return Ok((protocol, answer));
    }
    if !upgrade.eq_ignore_ascii_case(SPDY) {
        return Err("unable to upgrade: missing upgrade headers in request".to_owned());
    }
    let name = if forwards {
        one_of(headers, &STREAM_PROTOCOL, &[PORT_FORWARD])?
    } else {
        one_of(headers, &STREAM_PROTOCOL, &CHANNELS[1..])?
    };
    answer.insert(UPGRADE, HeaderValue::from_static(SPDY));
    answer.insert(STREAM_PROTOCOL, HeaderValue::from_static(name));
    Ok((Protocol::Spdy, answer))
}

/// Returns the first of the known protocols that the client offers.
fn one_of(
    headers: &HeaderMap,
    header: &HeaderName,
    known: &[&'static str],
) -> Result<&'static str, String> {
    let values = headers.get_all(header).iter();
    let values = values.filter_map(|it| it.to_str().ok());
    let offered: Vec<&str> = values.flat_map(|it| it.split(',')).map(str::trim).collect();
    let found = known.iter().find(|it| offered.contains(it));
    found.copied().ok_or_else(|| {
        format!(
            "unable to upgrade: unable to negotiate protocol: client supports {offered:?}, \
             server accepts {known:?}"
        )
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let value = headers.get(name);
    value.and_then(|it| it.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs.map(pair) {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn the_newest_protocol_of_both_is_agreed() {
        let socket = |protocols| {
            headers(&[
                ("upgrade", "websocket"),
                ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
                ("sec-websocket-version", "13"),
                ("sec-websocket-protocol", protocols),
            ])
        };
        let both = socket("v4.channel.k8s.io, v5.channel.k8s.io");
        let (protocol, answer) = agreed(&both, false).expect("a protocol");
        assert_eq!(protocol, Protocol::Channels { closes: true });
        assert_eq!(answer[SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(answer[SEC_WEBSOCKET_PROTOCOL], CHANNELS[0]);
        let (protocol, _) = agreed(&socket(FORWARDS[0]), true).expect("a protocol");
        assert_eq!(protocol, Protocol::Tunnel);
        let (protocol, _) = agreed(&socket(FORWARDS[1]), true).expect("a protocol");
        assert_eq!(protocol, Protocol::Channels { closes: false });
        let why = agreed(&socket("base64.channel.k8s.io"), false).expect_err("none");
        assert!(why.contains("base64.channel.k8s.io"), "{why}");
        assert!(agreed(&socket(CHANNELS[0]), true).is_err());
    }

    #[test]
    fn spdy_has_its_own_header() {
        let name = "x-stream-protocol-version";
        let offered = [
            ("upgrade", "SPDY/3.1"),
            (name, "v5.channel.k8s.io"),
            (name, "v4.channel.k8s.io"),
        ];
        let (protocol, answer) = agreed(&headers(&offered), false).expect("a protocol");
        assert_eq!(protocol, Protocol::Spdy);
        assert_eq!(answer[STREAM_PROTOCOL], "v4.channel.k8s.io");
        let ports = headers(&[("upgrade", "SPDY/3.1"), (name, PORT_FORWARD)]);
        assert!(agreed(&ports, true).is_ok() && agreed(&ports, false).is_err());
        assert!(agreed(&HeaderMap::new(), false).is_err());
    }
}
