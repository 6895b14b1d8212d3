//! `TestServer`: an API server of a test.

use crate::builder::TestServerBuilder;
use crate::clock::TestClock;
use crate::error::TestError;
use crate::login::Login;
use kubist::Server;
use kubist::client::{Client, Config};
use kubist::transport::Transport;

/// An API server in the test's process. Dropping it stops everything that belongs to it.
#[derive(Debug)]
pub struct TestServer {
    server: Server,
    clock: TestClock,
    options: TestServerBuilder,
    /// The administrator's.
    client: Client,
}

impl TestServer {
    /// Starts a server with the default options.
    ///
    /// # Errors
    /// There is no tokio runtime, or the server cannot start.
    pub async fn start() -> Result<Self, TestError> {
        Self::builder().start().await
    }

    /// Returns the options of a server that is not yet started.
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    pub(crate) fn new(
        server: Server,
        clock: TestClock,
        options: TestServerBuilder,
    ) -> Result<Self, TestError> {
        let client = client_of(&server, &Login::admin())?;
        Ok(Self {
            server,
            clock,
            options,
            client,
        })
    }

    /// Returns the administrator's client. Clones share its connection.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns a client of a user with these groups, with a connection of its own.
    ///
    /// # Errors
    /// The client cannot be created.
    pub fn client_as<'a>(
        &self,
        user: &str,
        groups: impl IntoIterator<Item = &'a str>,
    ) -> Result<Client, TestError> {
        self.client_of(&Login::user(user, groups))
    }

    /// Returns a client for a login, with a connection of its own.
    ///
    /// # Errors
    /// Its user agent is not a valid header.
    pub fn client_of(&self, login: &Login) -> Result<Client, TestError> {
        client_of(&self.server, login)
    }

    /// Returns a transport for a login, with a connection of its own, to build a client on or to
    /// put something in front of it
    /// ([`Transport::with_service`](kubist::transport::Transport::with_service)).
    ///
    /// # Errors
    /// Its user agent is not a valid header.
    pub fn transport_of(&self, login: &Login) -> Result<Transport, TestError> {
        transport_of(&self.server, login)
    }

    /// Returns the clock: of the server, of objects, and of virtual time if it is paused.
    pub fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// Returns the seed of everything that the server chooses at random.
    pub fn seed(&self) -> u64 {
        self.options.seed
    }

    /// Returns the server itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Stops the server in order, and returns when nothing of it runs any more. Dropping it stops
    /// it at once.
    pub async fn shutdown(self) {
        self.server.shutdown().await;
    }
}

fn transport_of(server: &Server, login: &Login) -> Result<Transport, TestError> {
    Ok(server.in_process_transport(login.to_user(), login.user_agent.as_deref())?)
}

/// Every client of a test is created here.
fn client_of(server: &Server, login: &Login) -> Result<Client, TestError> {
    Ok(Client::new(transport_of(server, login)?, Config::default()))
}
