//! A server for a test, and a client of its raw messages.

use kubist_etcd::{Config, Engine, Etcd};
use kubist_etcd_api as api;
use kubist_storage::memory::{self, MemoryKv, TokioClock};
use prost::Message;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

/// A server in this process. Dropping it stops it.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) kv: MemoryKv,
    _tasks: JoinSet<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(memory::Config::default(), Config::default()).await
    }

    pub(crate) async fn start_with(limits: memory::Config, config: Config) -> Self {
        let kv = MemoryKv::new(limits, Arc::new(TokioClock::start()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let engine: Arc<dyn Engine> = Arc::new(kv.clone());
        let mut tasks = JoinSet::new();
        let running = kv.clone();
        tasks.spawn(async move { running.run().await });
        tasks.spawn(Etcd::new(engine, config).serve(listener, None, std::future::pending()));
        Self {
            url,
            kv,
            _tasks: tasks,
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&self.url).await
    }
}

/// A client of an etcd.
#[derive(Clone)]
pub(crate) struct Client(Grpc<Channel>);

/// Both directions of a watch stream.
pub(crate) struct Watching {
    pub(crate) requests: mpsc::Sender<api::WatchRequest>,
    pub(crate) responses: Streaming<api::WatchResponse>,
}

impl Client {
    pub(crate) async fn connect(url: &str) -> Self {
        let endpoint = Endpoint::from_shared(url.to_owned()).unwrap();
        Self(Grpc::new(endpoint.connect().await.unwrap()))
    }

    /// A client that takes responses of any size.
    pub(crate) async fn unlimited(url: &str) -> Self {
        let Self(grpc) = Self::connect(url).await;
        Self(grpc.max_decoding_message_size(usize::MAX))
    }

    pub(crate) async fn call<Q, A>(&mut self, path: &'static str, request: Q) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        self.0.ready().await.unwrap();
        let path = http::uri::PathAndQuery::from_static(path);
        let codec = ProstCodec::<Q, A>::default();
        let response = self.0.unary(Request::new(request), path, codec).await?;
        Ok(response.into_inner())
    }

    pub(crate) async fn put(&mut self, key: &str, value: &str) -> api::PutResponse {
        self.call(api::PUT, put(key, value)).await.unwrap()
    }

    pub(crate) async fn watch(&mut self) -> Watching {
        self.0.ready().await.unwrap();
        let (requests, mut queue) = mpsc::channel::<api::WatchRequest>(64);
        let queue = futures_util::stream::poll_fn(move |cx| queue.poll_recv(cx));
        let path = http::uri::PathAndQuery::from_static(api::WATCH);
        let codec = ProstCodec::<api::WatchRequest, api::WatchResponse>::default();
        let request = Request::new(queue);
        let responses = self.0.streaming(request, path, codec).await.unwrap();
        Watching {
            requests,
            responses: responses.into_inner(),
        }
    }
}

impl Watching {
    pub(crate) async fn create(&self, create: api::WatchCreateRequest) {
        self.send(api::WatchRequestUnion::Create(create)).await;
    }

    pub(crate) async fn send(&self, request: api::WatchRequestUnion) {
        let request = Some(request);
        self.requests
            .send(api::WatchRequest { request })
            .await
            .unwrap();
    }

    pub(crate) async fn next(&mut self) -> api::WatchResponse {
        self.responses.message().await.unwrap().unwrap()
    }
}

pub(crate) fn put(key: &str, value: &str) -> api::PutRequest {
    api::PutRequest {
        key: key.to_owned().into(),
        value: value.to_owned().into(),
        ..api::PutRequest::default()
    }
}

pub(crate) fn delete(key: &str, range_end: &str) -> api::DeleteRangeRequest {
    api::DeleteRangeRequest {
        key: key.to_owned().into(),
        range_end: range_end.to_owned().into(),
        ..api::DeleteRangeRequest::default()
    }
}

pub(crate) fn range(key: &str, range_end: &str) -> api::RangeRequest {
    api::RangeRequest {
        key: key.to_owned().into(),
        range_end: range_end.to_owned().into(),
        ..api::RangeRequest::default()
    }
}

pub(crate) fn operation(operation: api::Operation) -> api::RequestOp {
    api::RequestOp {
        request: Some(operation),
    }
}
