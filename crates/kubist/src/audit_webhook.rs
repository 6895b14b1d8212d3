//! `AuditWebhook`: audit events sent to a webhook, as upstream's webhook backend.
//!
//! It is a sink of the audit log: it is called by a thread of its own, and what it sends runs on a
//! runtime of its own, so that neither waits for the server's requests. What happens to events
//! while the webhook does not answer is decided by the backend's mode, not here.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{Request, Uri};
use kubist_apiserver::audit::{AuditSink, event_list};
use kubist_kubeconfig::{Environment, KubeconfigError, Options};
use kubist_transport::{Body, ConfigError, Transport};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How often events are sent at most, as upstream.
const TRIES_MAX: u32 = 5;
/// How much longer each pause between two tries is than the one before, as upstream.
const BACKOFF_FACTOR: f64 = 1.5;
/// Time limit of a try, as upstream.
const TRY_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of everything that is sent once the server ends.
const ENDING_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum bytes of a webhook's answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Maximum characters of it in messages.
const SHOWN_MAX: usize = 256;

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditWebhookError {
    /// Its kubeconfig cannot be read, or has no usable context.
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    /// The configuration cannot be used for connections.
    #[error("the configuration cannot be used")]
    Transport(#[from] ConfigError),
    /// There are no resources for a thread.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
}

/// Sends audit events to a webhook, as an `EventList` in JSON.
#[derive(Debug)]
pub struct AuditWebhook {
    transport: Transport,
    /// Path and query of requests.
    target: PathAndQuery,
    backoff: Duration,
    /// Always there until the webhook is dropped.
    runtime: Option<Runtime>,
    ending: CancellationToken,
    /// When everything must be sent; none while the server goes on.
    until: Option<Instant>,
}

/// Why events were not taken.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Transport(#[from] kubist_transport::TransportError),
    #[error("the webhook answered {code}: {shown}")]
    Refused { code: u16, shown: String },
    #[error("there is no answer after {0:?}")]
    TimedOut(Duration),
    #[error("{0}")]
    Request(#[from] http::Error),
}

impl AuditWebhook {
    /// How long the first pause before a second try is by default, as upstream.
    pub const BACKOFF: Duration = Duration::from_secs(10);

    /// Sends events to the server of a kubeconfig's current context, with its user's credentials.
    /// `backoff` is the first pause before events are sent again; each further one is half as long
    /// again, and events are lost after five tries.
    ///
    /// # Errors
    /// The file cannot be read or used.
    pub fn open(kubeconfig: &Path, backoff: Duration) -> Result<Self, AuditWebhookError> {
        let options = Options {
            file: Some(kubeconfig.to_owned()),
            ..Options::default()
        };
        let found = kubist_kubeconfig::infer(&options, &Environment::current())?;
        let mut config = found.transport;
        // The webhook is at that path, not below it.
        let (server, target) = split(&config.server);
        config.server = server;
        config.accept_gzip = false;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("audit-send")
            .enable_all()
            .build();
        let runtime = runtime.map_err(AuditWebhookError::Thread)?;
        let transport = {
            let _entered = runtime.enter();
            Transport::new(config)?
        };
        Ok(Self {
            transport,
            target,
            backoff,
            runtime: Some(runtime),
            ending: CancellationToken::new(),
            until: None,
        })
    }

    /// Sends a list until it is taken, or as often as allowed.
    async fn send_repeatedly(&mut self, list: Body) -> Result<(), Failure> {
        let mut pause = self.backoff;
        for _ in 1..TRIES_MAX {
            let limit = self.limit();
            let Err(failure) = self.send(&list, limit).await else {
                return Ok(());
            };
            tracing::debug!(error = %failure, ?pause, "audit events are sent again");
            let ending = self.ending.clone();
            tokio::select! {
                () = sleep(pause) => {}
                // One more try, which has little time.
                () = ending.cancelled() => break,
            }
            pause = pause.mul_f64(BACKOFF_FACTOR);
        }
        let limit = self.limit();
        self.send(&list, limit).await
    }

    /// Returns how long a try may take.
    fn limit(&mut self) -> Duration {
        if !self.ending.is_cancelled() {
            return TRY_TIMEOUT;
        }
        let now = Instant::now();
        let until = *self.until.get_or_insert(now + ENDING_TIMEOUT);
        until.saturating_duration_since(now)
    }

    async fn send(&self, list: &Body, limit: Duration) -> Result<(), Failure> {
        let request = Request::post(Uri::from(self.target.clone()))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, */*")
            .body(list.try_clone().unwrap_or_default())?;
        let answered = async {
            let response = self.transport.send(request).await?;
            let code = response.status();
            let body = response.into_body().bytes(ANSWER_BYTES_MAX).await?;
            if code.is_success() {
                return Ok(());
            }
            let shown = String::from_utf8_lossy(&body);
            Err(Failure::Refused {
                code: code.as_u16(),
                shown: shown.trim().chars().take(SHOWN_MAX).collect(),
            })
        };
        let ending = self.ending.clone();
        // A try under way when the server ends has no more time than those after it.
        let ended = async {
            ending.cancelled().await;
            sleep(ENDING_TIMEOUT).await;
        };
        tokio::select! {
            answered = answered => answered,
            () = sleep(limit) => Err(Failure::TimedOut(limit)),
            () = ended => Err(Failure::TimedOut(ENDING_TIMEOUT)),
        }
    }
}

impl AuditSink for AuditWebhook {
    fn write(&mut self, events: &[Arc<str>]) -> io::Result<()> {
        let list = Body::from(event_list(events));
        let Some(runtime) = self.runtime.take() else {
            return Err(io::Error::other("the webhook has ended"));
        };
        let sent = runtime.block_on(self.send_repeatedly(list));
        self.runtime = Some(runtime);
        sent.map_err(io::Error::other)
    }

    fn name(&self) -> &'static str {
        "webhook"
    }

    fn ending(&self) -> Option<CancellationToken> {
        Some(self.ending.clone())
    }
}

impl Drop for AuditWebhook {
    fn drop(&mut self) {
        // It may be dropped where blocking is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Returns a server without its path, and path and query of requests to it, which name the time
/// limit as upstream's client does.
fn split(server: &Uri) -> (Uri, PathAndQuery) {
    let path = match server.path().trim_end_matches('/') {
        "" => "/",
        path => path,
    };
    let target = format!("{path}?timeout={}s", TRY_TIMEOUT.as_secs());
    let target = target
        .parse()
        .unwrap_or_else(|_| PathAndQuery::from_static("/"));
    let mut parts = server.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::from_static("/"));
    let server = Uri::from_parts(parts).unwrap_or_else(|_| server.clone());
    (server, target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_sent_to_the_path_of_the_server() {
        for (server, root, target) in [
            (
                "https://h:1/audit/x",
                "https://h:1/",
                "/audit/x?timeout=30s",
            ),
            ("https://h/audit/", "https://h/", "/audit?timeout=30s"),
            ("http://h", "http://h/", "/?timeout=30s"),
        ] {
            let (server, found) = split(&server.parse().expect("it is a URI"));
            assert_eq!((&*server.to_string(), found.as_str()), (root, target));
        }
    }
}
