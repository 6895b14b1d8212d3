//! The dispatch of a gRPC call to its method.

use crate::encoding::{Answered, Encoding};
use crate::method::{Streams, Unary};
use crate::refusal;
use crate::service::Etcd;
use futures_util::Stream;
use hyper::body::Incoming;
use kubist_etcd_api as api;
use prost::Message;
use tonic::body::Body;
use tonic::codec::Codec;
use tonic::server::Grpc;
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;

/// What a request may have beside its keys and values, in bytes: etcd's own allowance.
const OVERHEAD_BYTES: usize = 512 << 10;

type Call = http::Request<Incoming>;
type Answer = http::Response<Body>;

impl Etcd {
    /// Answers a gRPC call.
    pub(crate) async fn answer(self, call: Call) -> Answer {
        let path = call.uri().path();
        match path {
            api::RANGE => self.unary(call, Self::range).await,
            api::PUT => self.unary(call, Self::put).await,
            api::DELETE_RANGE => self.unary(call, Self::delete_range).await,
            api::TXN => self.unary(call, Self::txn).await,
            api::COMPACT => self.unary(call, Self::compact).await,
            api::WATCH => self.streams(call, Self::watch).await,
            api::LEASE_GRANT => self.unary(call, Self::lease_grant).await,
            api::LEASE_REVOKE => self.unary(call, Self::lease_revoke).await,
            api::LEASE_KEEP_ALIVE => self.streams(call, Self::lease_keep_alive).await,
            api::LEASE_TIME_TO_LIVE => self.unary(call, Self::lease_time_to_live).await,
            api::LEASE_LEASES => self.unary(call, Self::lease_leases).await,
            api::MEMBER_LIST => self.unary(call, Self::member_list).await,
            api::STATUS => self.unary(call, Self::status).await,
            api::ALARM => self.unary(call, Self::alarms).await,
            api::DEFRAGMENT => self.unary(call, Self::defragment).await,
            api::AUTH_STATUS => self.unary(call, Self::auth_status).await,
            "/etcdserverpb.Maintenance/Snapshot" => refusal::no_snapshots().into_http(),
            _ => {
                let name = path.trim_start_matches("/etcdserverpb.");
                refusal::unsupported(name).into_http()
            }
        }
    }

    async fn unary<Q, A, F>(self, call: Call, method: impl FnOnce(Self, Q) -> F + Send) -> Answer
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        F: Future<Output = Result<A, Status>> + Send + 'static,
    {
        let mut grpc = self.grpc::<Encoding<A, Q>>();
        let service = Unary(Some(move |request| {
            let answered = method(self, request);
            async move { Answered::of(answered.await?).await }
        }));
        with_own_limit(grpc.unary(service, call).await)
    }

    async fn streams<Q, A, S>(
        self,
        call: Call,
        method: impl FnOnce(Self, Streaming<Q>) -> S + Send,
    ) -> Answer
    where
        Q: Message + Default + 'static,
        A: Message + 'static,
        S: Stream<Item = Result<A, Status>> + Send + 'static,
    {
        let mut grpc = self.grpc::<ProstCodec<A, Q>>();
        let service = Streams(Some(move |requests| method(self, requests)));
        grpc.streaming(service, call).await
    }

    fn grpc<C: Codec + Default>(&self) -> Grpc<C> {
        let bytes_max = self.config().request_bytes_max + OVERHEAD_BYTES;
        Grpc::new(C::default()).max_decoding_message_size(bytes_max)
    }
}

/// Replaces the gRPC library's error of a message that is too large by etcd's.
fn with_own_limit(answer: Answer) -> Answer {
    /// The library's text.
    const TOO_LARGE: &str = "decoded message length too large";
    match Status::from_header_map(answer.headers()) {
        Some(status) if status.message().contains(TOO_LARGE) => refusal::too_large().into_http(),
        _ => answer,
    }
}
