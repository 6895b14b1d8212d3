//! `Encoding`: the encoding of responses, large ones on a thread of their own.
//!
//! Most responses are a few hundred bytes, and some are the whole store: those would hold up all
//! other calls of the thread on which they are encoded.

use crate::refusal;
use bytes::{BufMut as _, Bytes};
use prost::Message;
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic_prost::{ProstCodec, ProstDecoder};

/// A response of this size is encoded apart.
const LARGE_BYTES: usize = 256 << 10;
/// The largest response: that of etcd's gRPC.
const RESPONSE_BYTES_MAX: usize = i32::MAX as usize;

/// A response, encoded or not.
#[derive(Debug)]
pub(crate) enum Answered<A> {
    Message(A),
    Encoded(Bytes),
}

impl<A: Message + 'static> Answered<A> {
    /// Encodes a large response.
    ///
    /// # Errors
    /// It is larger than clients accept.
    pub(crate) async fn of(message: A) -> Result<Self, Status> {
        let bytes = message.encoded_len();
        if bytes > RESPONSE_BYTES_MAX {
            return Err(refusal::large_response(bytes, RESPONSE_BYTES_MAX));
        }
        if bytes < LARGE_BYTES {
            return Ok(Self::Message(message));
        }
        let encoded = tokio::task::spawn_blocking(move || message.encode_to_vec());
        let encoded = encoded.await.map_err(|_| refusal::stopped())?;
        Ok(Self::Encoded(encoded.into()))
    }
}

/// The codec of calls with one response.
#[derive(Debug)]
pub(crate) struct Encoding<A, Q>(PhantomData<(A, Q)>);

impl<A, Q> Default for Encoding<A, Q> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<A: Message + 'static, Q: Message + Default + 'static> Codec for Encoding<A, Q> {
    type Encode = Answered<A>;
    type Decode = Q;
    type Encoder = AnswerEncoder<A>;
    type Decoder = ProstDecoder<Q>;

    fn encoder(&mut self) -> AnswerEncoder<A> {
        AnswerEncoder(PhantomData)
    }

    fn decoder(&mut self) -> ProstDecoder<Q> {
        ProstCodec::<A, Q>::default().decoder()
    }
}

#[derive(Debug)]
pub(crate) struct AnswerEncoder<A>(PhantomData<A>);

impl<A: Message> Encoder for AnswerEncoder<A> {
    type Item = Answered<A>;
    type Error = Status;

    fn encode(&mut self, item: Answered<A>, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        match item {
            Answered::Message(message) => message
                .encode(into)
                .map_err(|error| Status::internal(error.to_string())),
            Answered::Encoded(bytes) => {
                into.put(bytes);
                Ok(())
            }
        }
    }
}
