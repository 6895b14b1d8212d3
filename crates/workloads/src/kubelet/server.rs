//! `KubeletServer`: answers for all simulated nodes what API servers ask kubelets: logs, exec,
//! attach and port-forward.
//!
//! It is HTTPS with a certificate that it signs itself, as kubelets do without configuration. It
//! asks for no credentials: whoever reaches its address, which should be on loopback, may ask for
//! everything. What it says is made up from the Pod, always the same: its image, its command, and
//! how it began and ended.

mod log;
mod process;
mod session;
mod spdy;
mod target;
mod upgrade;
mod websocket;

use self::log::{Log, LogOptions, NoLog};
use self::process::{Named, Output, Process};
use self::session::{Protocol, Session};
use self::target::{Place, Streams, Target};
use bytes::Bytes;
use futures_util::FutureExt as _;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::{TokioIo, TokioTimer};
use kubist_api::core::v1::Pod;
use kubist_cache::{Encoded, Lister};
use kubist_client::Client;
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// The open connections; further ones wait.
const CONNECTIONS_MAX: usize = 1_024;
/// The time for a handshake and for the head of a request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after the operating system refused to accept.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// How often the state of a container is looked at.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be used.
    #[error("the simulated kubelet cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// There is no certificate.
    #[error("the simulated kubelet cannot make its certificate")]
    Certificate(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The server of the simulated kubelets. At most 1,024 connections are open at a time.
pub struct KubeletServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: TlsAcceptor,
    kubelet: Answers,
}

impl std::fmt::Debug for KubeletServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("KubeletServer");
        shown
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl KubeletServer {
    /// Listens; connections are accepted once it is served.
    ///
    /// # Errors
    /// The address cannot be used, or no certificate can be made.
    pub(super) async fn bind(
        address: SocketAddr,
        client: Client,
        pods: Lister<Encoded<Pod>>,
    ) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self {
            listener,
            address,
            tls: acceptor(address).map_err(ServeError::Certificate)?,
            kubelet: Answers { client, pods },
        })
    }

    /// Returns the address, with the port that was chosen if none was given.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the token is cancelled.
    pub(super) async fn serve(self, token: CancellationToken) {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut tasks = JoinSet::new();
        loop {
            let next = async {
                let place = Arc::clone(&room).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                () = token.cancelled() => return,
                Some(_) = tasks.join_next() => continue,
                next = next => next,
            };
            let Ok((stream, _)) = accepted else {
                sleep(ACCEPT_RETRY).await;
                continue;
            };
            let (tls, kubelet) = (self.tls.clone(), self.kubelet.clone());
            tasks.spawn(async move {
                drop(stream.set_nodelay(true));
                if let Ok(Ok(stream)) = timeout(READ_TIMEOUT, tls.accept(stream)).await {
                    kubelet.serve(stream).await;
                }
                drop(place);
            });
        }
    }
}

fn acceptor(address: SocketAddr) -> Result<TlsAcceptor, Box<dyn std::error::Error + Send + Sync>> {
    let names = [address.ip().to_string(), "localhost".to_owned()];
    let parameters = rcgen::CertificateParams::new(names)?;
    let key = rcgen::KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = rustls_pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers requests.
#[derive(Clone)]
struct Answers {
    client: Client,
    pods: Lister<Encoded<Pod>>,
}

/// What a connection becomes.
type Upgraded = (OnUpgrade, Protocol, Session);

impl Answers {
    /// Serves one connection, and what it becomes.
    async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(&self, stream: S) {
        let upgraded: Mutex<Option<Upgraded>> = Mutex::new(None);
        let service = service_fn(|mut request: Request<Incoming>| {
            let answer = self.answer(&request);
            let response = match answer {
                Ok(Answer::Response(response)) => response,
                Ok(Answer::Upgrade(protocol, response, session)) => {
                    let on = hyper::upgrade::on(&mut request);
                    *upgraded.lock() = Some((on, protocol, session));
                    response
                }
                Err(NoLog { code, text }) => {
                    let code = StatusCode::from_u16(code);
                    text_response(code.unwrap_or(StatusCode::BAD_REQUEST), text)
                }
            };
            std::future::ready(Ok::<_, Infallible>(response))
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(READ_TIMEOUT);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        drop(connection.with_upgrades().await);
        let Some((on, protocol, session)) = upgraded.into_inner() else {
            return;
        };
        if let Ok(stream) = on.await
            && let Err(error) = session.serve(TokioIo::new(stream), protocol).await
        {
            tracing::debug!(%error, "a stream to a simulated container broke");
        }
    }

    fn answer(&self, request: &Request<Incoming>) -> Result<Answer, NoLog> {
        let uri = request.uri();
        let target = Target::parse(uri.path(), uri.query().unwrap_or_default());
        let target = target.ok_or_else(|| no(404, "404 page not found"))?;
        let (place, session) = match target {
            Target::Healthz => {
                return Ok(Answer::Response(text_response(
                    StatusCode::OK,
                    "ok".to_owned(),
                )));
            }
            Target::Log(place, pairs) => {
                let options = LogOptions::parse(&pairs).map_err(|why| no(400, &why))?;
                return self.log(place, options).map(Answer::Response);
            }
            Target::PortForward(place, ports) => {
                self.pod(&place)?;
                (place, Session::Forward(ports))
            }
            Target::Exec(place, streams, command) => {
                let named = self.running(&place)?;
                let started = Process::start(named, &command, streams.stdin, streams.tty);
                let session = self.session(&place, streams, started);
                (place, session)
            }
            Target::Attach(place, streams) => {
                let named = self.running(&place)?;
                let attached = Process::attach(named, streams.stdin, streams.tty);
                let session = self.session(&place, streams, attached);
                (place, session)
            }
        };
        let forwards = matches!(session, Session::Forward(_));
        let agreed = upgrade::agreed(request.headers(), forwards);
        let (protocol, headers) = agreed.map_err(|why| no(400, &why))?;
        tracing::debug!(
            pod = place.pod,
            ?protocol,
            "a stream to a simulated container"
        );
        let mut response = Response::new(Full::new(Bytes::new()).boxed_unsync());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        *response.headers_mut() = headers;
        Ok(Answer::Upgrade(protocol, response, session))
    }

    fn session(
        &self,
        place: &Place,
        streams: Streams,
        (process, begin): (Process, Vec<Output>),
    ) -> Session {
        Session::Process {
            streams,
            process,
            begin,
            ended: self.clone().ended(place.clone()).boxed(),
        }
    }

    fn pod(&self, place: &Place) -> Result<Arc<Pod>, NoLog> {
        let missing = || no(404, &format!("pod {:?} not found", place.pod));
        let pod = self.pods.find(&place.namespace, &place.pod);
        let pod = pod.ok_or_else(missing)?;
        pod.decode().map_err(|error| no(500, &error.to_string()))
    }

    /// Finds a container that runs.
    fn running(&self, place: &Place) -> Result<Named, NoLog> {
        let pod = self.pod(place)?;
        if runs(&pod, &place.container) {
            return Ok(Named::new(&pod, &place.container));
        }
        let text = format!(
            "container {:?} of pod {}/{} does not run",
            place.container, place.namespace, place.pod
        );
        Err(no(400, &text))
    }

    /// Completes when a container does not run any more.
    async fn ended(self, place: Place) {
        while self.pod(&place).is_ok_and(|it| runs(&it, &place.container)) {
            sleep(LOOK_PERIOD).await;
        }
    }

    fn log(&self, place: Place, options: LogOptions) -> Result<Response<Body>, NoLog> {
        let pod = self.pod(&place)?;
        let log = Log::of(&pod, &place.container, options.previous)?;
        let text = log.shown(&options, self.client.ambient().time());
        if !options.follow || log.is_whole {
            return Ok(text_response(StatusCode::OK, text));
        }
        let follower = Follower {
            kubelet: self.clone(),
            place,
            options,
            shown: log.len(),
            first: Some(text),
        };
        let chunks = futures_util::stream::unfold(follower, |mut it| async {
            let text = it.next().await?;
            Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), it))
        });
        Ok(Response::new(StreamBody::new(chunks).boxed_unsync()))
    }
}

/// Follows a log.
struct Follower {
    kubelet: Answers,
    place: Place,
    options: LogOptions,
    /// How many lines were shown.
    shown: usize,
    first: Option<String>,
}

impl Follower {
    /// Waits for what is written next; none at the end.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take().filter(|it| !it.is_empty()) {
            return Some(first);
        }
        loop {
            let pod = self.kubelet.pod(&self.place).ok()?;
            let log = Log::of(&pod, &self.place.container, self.options.previous).ok()?;
            if log.len() != self.shown {
                let text = log.further(self.shown, &self.options);
                self.shown = log.len();
                if !text.is_empty() {
                    return Some(text);
                }
            }
            if log.is_whole {
                return None;
            }
            sleep(LOOK_PERIOD).await;
        }
    }
}

enum Answer {
    Response(Response<Body>),
    Upgrade(Protocol, Response<Body>, Session),
}

fn no(code: u16, text: &str) -> NoLog {
    NoLog {
        code,
        text: text.to_owned(),
    }
}

fn text_response(code: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text)).boxed_unsync());
    *response.status_mut() = code;
    let kind = http::HeaderValue::from_static("text/plain");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, kind);
    response
}

fn runs(pod: &Pod, container: &str) -> bool {
    let status = &pod.status;
    let mut all = status
        .container_statuses
        .iter()
        .chain(&status.init_container_statuses);
    all.any(|it| it.name == *container && it.state.running.is_some())
}
