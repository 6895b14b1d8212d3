//! The clients of a test: in the process, with their own logins, on the server's clock and seed.

use crate::clock::TestClock;
use crate::faults::{Faults, Interposer, Sender, Tap};
use crate::login::Login;
use http::Uri;
use kubist::client::{Ambient, Client, Config};
use kubist::transport::{Body, ResponseBody, Transport, TransportError};
use kubist::{Server, ServerError};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::runtime::{Handle, Id};

/// The user agent of assertions, whose requests are not in the journal.
pub(crate) const OBSERVER_AGENT: &str = "kubist-test-observer";

impl Sender {
    /// The user, and the program before the first `/` of the user agent.
    fn of(login: &Login) -> Self {
        let agent = login.user_agent.as_deref().unwrap_or_default();
        let client = agent.split('/').next().unwrap_or_default();
        Self {
            user: login.user.clone(),
            client: client.into(),
        }
    }
}

/// Makes clients.
#[derive(Debug)]
pub(crate) struct Clients {
    clock: TestClock,
    seed: u64,
    made: AtomicU64,
    /// What goes wrong with the requests of all clients but the kit's own.
    faults: Faults,
    /// The server's runtime.
    home: Id,
}

impl Clients {
    pub(crate) fn new(clock: TestClock, seed: u64, faults: Faults) -> Self {
        Self {
            clock,
            seed,
            made: AtomicU64::new(0),
            faults,
            home: Handle::current().id(),
        }
    }

    /// Every client of a test is created here.
    pub(crate) fn client(&self, server: &Server, login: &Login) -> Result<Client, ServerError> {
        let transport = self.transport(server, login)?;
        Ok(Client::new(transport, self.config()))
    }

    /// Returns the configuration of another client, with random numbers of its own.
    pub(crate) fn config(&self) -> Config {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let clock = self.clock.clone();
        let seed = mixed(self.seed, number);
        Config {
            ambient: Ambient::new(move || clock.date(), seed),
            ..Config::default()
        }
    }

    pub(crate) fn transport(
        &self,
        server: &Server,
        login: &Login,
    ) -> Result<Transport, ServerError> {
        let user_agent = login.user_agent.as_deref();
        let inner = server.in_process_transport(login.to_user(), user_agent)?;
        let mut config = kubist::transport::Config::new(Uri::from_static("http://in-process"));
        config.accept_gzip = false;
        if let Some(user_agent) = user_agent {
            user_agent.clone_into(&mut config.user_agent);
        }
        let gate = Gate {
            inner,
            home: self.home,
        };
        let gated = Transport::with_service(config, gate)?;
        if user_agent == Some(OBSERVER_AGENT) {
            return Ok(gated);
        }
        let taps: Vec<Arc<dyn Tap>> = vec![Arc::new(self.faults.clone())];
        let sender = Sender::of(login);
        Ok(Interposer::transport(sender, user_agent, taps, gated)?)
    }
}

/// Returns a seed made of two numbers.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut mixed = seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Refuses requests from other runtimes: they would wait for a server that nobody runs.
#[derive(Clone, Debug)]
struct Gate {
    inner: Transport,
    home: Id,
}

/// A client is used on another runtime than its server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this client belongs to a TestServer on another tokio runtime, which does not run while this \
     one does: start the server in the test that uses it, or share a Snapshot and start that"
)]
struct OtherRuntime;

impl tower::Service<http::Request<Body>> for Gate {
    type Response = http::Response<ResponseBody>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (inner, home) = (self.inner.clone(), self.home);
        Box::pin(async move {
            if Handle::try_current().is_ok_and(|it| it.id() != home) {
                return Err(TransportError::Http(Arc::new(OtherRuntime)));
            }
            inner.send(request).await
        })
    }
}
