//! `Member`: a member of the cluster, with a connection that is opened on demand and reopened after
//! failures.

use crate::config::{Config, ConfigError};
use crate::method::{Method, WATCH_PATH};
use crate::version::Version;
use futures_util::Stream;
use http::Uri;
use http::uri::PathAndQuery;
use kubist_etcd_api::{WatchRequest, WatchResponse};
use parking_lot::Mutex;
use prost::Message;
use std::time::Duration;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

/// Maximum size of a response, as in upstream's client. A range without a limit is a single
/// response.
const ANSWER_BYTES_MAX: usize = i32::MAX as usize;
/// HTTP/2 window of a stream: a watch that is not read delays no others.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// HTTP/2 window of a connection: the protocol's maximum, so that any number of unread watches does
/// not block it.
const CONNECTION_WINDOW_BYTES: u32 = i32::MAX as u32;
/// Makes etcd end a watch when its member has no leader and gets no events.
const NEEDS_LEADER: &str = "hasleader";

pub(crate) struct Member {
    server: String,
    channel: Channel,
    version: Mutex<Option<Version>>,
}

impl Member {
    /// Does not connect yet. Needs a tokio runtime.
    pub(crate) fn new(server: &str, config: &Config) -> Result<Self, ConfigError> {
        let invalid = || ConfigError::Server {
            server: server.to_owned(),
        };
        let uri: Uri = server.parse().map_err(|_| invalid())?;
        if uri.host().is_none_or(str::is_empty) {
            return Err(invalid());
        }
        let mut endpoint = Endpoint::from(uri.clone())
            .connect_timeout(config.connect_timeout)
            .http2_keep_alive_interval(config.ping_every)
            .keep_alive_timeout(config.ping_every)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        match uri.scheme_str() {
            Some("http") if config.tls.is_empty() => {}
            Some("http") => {
                return Err(ConfigError::NotTls {
                    server: server.to_owned(),
                });
            }
            Some("https") => {
                let usable = endpoint.tls_config(tls(config));
                endpoint = usable.map_err(|source| ConfigError::Certificates {
                    server: server.to_owned(),
                    source,
                })?;
            }
            _ => return Err(invalid()),
        }
        Ok(Self {
            server: server.to_owned(),
            channel: endpoint.connect_lazy(),
            version: Mutex::new(None),
        })
    }

    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// The version when last queried; `None` if it has failed since.
    pub(crate) fn version(&self) -> Option<Version> {
        *self.version.lock()
    }

    pub(crate) fn set_version(&self, version: Option<Version>) {
        *self.version.lock() = version;
    }

    /// A unary call.
    pub(crate) async fn call<Q, A>(
        &self,
        method: &Method<Q, A>,
        message: Q,
        timeout: Duration,
    ) -> Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = self.grpc().await?;
        let mut request = Request::new(message);
        request.set_timeout(timeout);
        let path = PathAndQuery::from_static(method.path);
        let answer = grpc.unary(request, path, ProstCodec::<Q, A>::default());
        Ok(answer.await?.into_inner())
    }

    /// A watch stream.
    pub(crate) async fn watch(
        &self,
        requests: impl Stream<Item = WatchRequest> + Send + 'static,
    ) -> Result<Streaming<WatchResponse>, Status> {
        let mut grpc = self.grpc().await?;
        let mut request = Request::new(requests);
        let yes = MetadataValue::from_static("true");
        request.metadata_mut().insert(NEEDS_LEADER, yes);
        let path = PathAndQuery::from_static(WATCH_PATH);
        let answer = grpc.streaming(request, path, ProstCodec::default());
        Ok(answer.await?.into_inner())
    }

    async fn grpc(&self) -> Result<Grpc<Channel>, Status> {
        let mut grpc = Grpc::new(self.channel.clone()).max_decoding_message_size(ANSWER_BYTES_MAX);
        grpc.ready()
            .await
            .map_err(|error| Status::from_error(Box::new(error)))?;
        Ok(grpc)
    }
}

fn tls(config: &Config) -> ClientTlsConfig {
    let tls = ClientTlsConfig::new();
    let tls = match &config.tls.authorities {
        Some(pem) => tls.ca_certificate(Certificate::from_pem(pem)),
        None => tls.with_native_roots(),
    };
    match &config.tls.identity {
        Some(identity) => tls.identity(Identity::from_pem(&identity.certificate, &identity.key)),
        None => tls,
    }
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Member")
            .field("server", &self.server)
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}
