//! `TestServerBuilder`: what a [`TestServer`] begins with.

use crate::clock::TestClock;
use crate::error::TestError;
use crate::server::TestServer;
use kubist::{Controller, Server, ServerConfig};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::runtime::Handle;

/// The options of a [`TestServer`].
#[derive(Clone, Debug)]
pub struct TestServerBuilder {
    pub(crate) seed: u64,
    pub(crate) listen: bool,
    pub(crate) controllers: BTreeSet<Controller>,
}

impl Default for TestServerBuilder {
    fn default() -> Self {
        Self {
            seed: 0,
            listen: false,
            controllers: Controller::ALL.into(),
        }
    }
}

impl TestServerBuilder {
    /// The seed of uids, generated names and of everything else that the server chooses at random.
    /// Default: 0.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Listens on a free port of the loopback interface, for kubectl and other programs. Default:
    /// no port.
    #[must_use]
    pub fn listen(mut self) -> Self {
        self.listen = true;
        self
    }

    /// The server's own controllers that run. Default: all.
    #[must_use]
    pub fn controllers(mut self, controllers: impl IntoIterator<Item = Controller>) -> Self {
        self.controllers = controllers.into_iter().collect();
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    /// There is no tokio runtime, or the server cannot start.
    pub async fn start(self) -> Result<TestServer, TestError> {
        Handle::try_current().map_err(|_| TestError::NoRuntime)?;
        let clock = TestClock::start();
        let config = ServerConfig {
            listen: self
                .listen
                .then_some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            controllers: self.controllers.clone(),
            seed: Some(self.seed),
            clock: Arc::new(clock.clone()),
            ..ServerConfig::default()
        };
        let server = Server::start(config).await?;
        TestServer::new(server, clock, self)
    }
}
