//! Responses in CBOR, for clients that prefer it (`request/cbor.rs`): JSON whose media type says
//! CBOR already, encoded before it is sent, or while it is.

use crate::response::ApiResponse;
use crate::response::body::{Body, Chunks};
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kubist_codec::cbor::{CborEncoder, MEDIA_TYPE, SEQUENCE_MEDIA_TYPE};

/// Bytes of JSON that are encoded at once.
const PIECE_BYTES_MAX: usize = 64 << 10;

/// Reports whether a response is to be sent in CBOR.
pub(crate) fn is_due(response: &ApiResponse) -> bool {
    [MEDIA_TYPE, SEQUENCE_MEDIA_TYPE].contains(&response.content_type)
}

/// Encodes a response, if it is to be sent in CBOR.
pub(crate) fn encode(mut response: ApiResponse) -> ApiResponse {
    if is_due(&response) {
        response.body = encoded(response.body);
    }
    response
}

/// Encodes a body: at once if it is small, else while it is sent.
fn encoded(body: Body) -> Body {
    let mut encoder = CborEncoder::new();
    match body {
        Body::Whole(json) if json.len() <= PIECE_BYTES_MAX => {
            let mut cbor = Vec::with_capacity(json.len());
            encoder.push(&json, &mut cbor);
            encoder.finish(&mut cbor);
            Body::Whole(cbor.into())
        }
        Body::Whole(json) => Body::Chunks(chunks(encoder, in_pieces([json]))),
        Body::Pieces(pieces) => Body::Chunks(chunks(encoder, in_pieces(pieces))),
        Body::Chunks(json) => Body::Chunks(chunks(encoder, json)),
        Body::Begun(first, json) => {
            let mut cbor = Vec::with_capacity(first.len());
            encoder.push(&first, &mut cbor);
            Body::Begun(cbor.into(), chunks(encoder, json))
        }
        Body::Tunnel(tunnel) => Body::Tunnel(tunnel),
    }
}

fn in_pieces(json: impl IntoIterator<Item = Bytes, IntoIter: Send + 'static>) -> Chunks {
    let pieces = json.into_iter().flat_map(|mut json| {
        std::iter::from_fn(move || {
            let piece = json.split_to(json.len().min(PIECE_BYTES_MAX));
            (!piece.is_empty()).then_some(Ok(piece))
        })
    });
    Box::pin(stream::iter(pieces))
}

/// Encodes what comes. Each response is an object, or objects one after another, so that nothing is
/// left in the encoder at its end.
fn chunks(mut encoder: CborEncoder, json: Chunks) -> Chunks {
    let cbor = json.map_ok(move |json| {
        let mut cbor = Vec::with_capacity(json.len());
        encoder.push(&json, &mut cbor);
        Bytes::from(cbor)
    });
    // A piece may end inside a string, and has nothing to send then.
    let cbor = cbor.filter(|it| std::future::ready(!it.as_ref().is_ok_and(Bytes::is_empty)));
    Box::pin(cbor)
}
