//! The WebSocket of a Pod's subresource: the handshake, and frames with a channel in front.

use super::PodStreamError;
use crate::Client;
use crate::answer;
use crate::error::{ApiError, RequestError};
use crate::request::{self, Target};
use http::header::{
    CONNECTION, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, Method};
use kubist_apimachinery::QueryPairs;
use kubist_transport::{Upgrade, UpgradedIo};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// The largest message that is accepted. Kubelets send 32 KiB at most.
const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// The version of the channel protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Without a way to close one channel.
    V4,
    /// Channel 255 closes another one.
    V5,
}

impl Protocol {
    const V4_NAME: &'static str = "v4.channel.k8s.io";
    const V5_NAME: &'static str = "v5.channel.k8s.io";

    fn of(headers: &HeaderMap) -> Result<Self, PodStreamError> {
        let found = text(headers, &SEC_WEBSOCKET_PROTOCOL);
        match found {
            Self::V4_NAME => Ok(Self::V4),
            Self::V5_NAME => Ok(Self::V5),
            found => Err(PodStreamError::Protocol {
                found: found.into(),
            }),
        }
    }
}

pub(super) type Socket = WebSocketStream<UpgradedIo>;

/// Opens the WebSocket of a subresource. Protocols are offered in the order of `offered`.
pub(super) async fn open(
    client: &Client,
    target: Target<'_>,
    query: &QueryPairs,
    offered: &[Protocol],
) -> Result<(Socket, Protocol), PodStreamError> {
    let uri = target.uri(query).map_err(ApiError::from)?;
    let request = request::build(Method::GET, &uri, "*/*", None).map_err(ApiError::from)?;
    let name = request::name_of(&request);
    if let Some(used) = client.used() {
        used.note_upgrade(request.uri().path());
    }
    let mut request = request;
    let key = generate_key();
    let offered: Vec<&str> = offered
        .iter()
        .map(|it| match it {
            Protocol::V4 => Protocol::V4_NAME,
            Protocol::V5 => Protocol::V5_NAME,
        })
        .collect();
    let headers = request.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    for (header, value) in [
        (SEC_WEBSOCKET_KEY, key.as_str()),
        (SEC_WEBSOCKET_PROTOCOL, &*offered.join(", ")),
    ] {
        let value = HeaderValue::from_str(value).map_err(|error| {
            ApiError::from(RequestError::Http {
                reason: error.to_string(),
            })
        })?;
        headers.insert(header, value);
    }
    let upgraded = client.transport().upgrade(request).await;
    let upgraded = upgraded.map_err(|error| ApiError::transport(&name, error))?;
    let (response, io) = match upgraded {
        Upgrade::Switched { response, io } => (response, io),
        Upgrade::Refused(response) => {
            let status = answer::failure(*response, &Method::GET, Some(target)).await;
            return Err(ApiError::Status(Box::new(status)).into());
        }
    };
    let headers = response.headers();
    if !text(headers, &UPGRADE).eq_ignore_ascii_case("websocket") {
        let found = text(headers, &UPGRADE).into();
        return Err(PodStreamError::Protocol { found });
    }
    if text(headers, &SEC_WEBSOCKET_ACCEPT) != derive_accept_key(key.as_bytes()) {
        let reason = "its handshake has another key".to_owned();
        return Err(PodStreamError::Malformed { reason });
    }
    let protocol = Protocol::of(headers)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let socket = WebSocketStream::from_raw_socket(io, Role::Client, Some(config)).await;
    Ok((socket, protocol))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let value = headers.get(name).and_then(|it| it.to_str().ok());
    value.unwrap_or_default()
}
