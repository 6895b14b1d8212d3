//! Clients of a server, and what runs beside it.

use super::TestServer;
use crate::controllers::running::Running;
use crate::controllers::{RunError, ServerController};
use crate::error::TestError;
use crate::login::Login;
use kubist::client::Client;
use kubist::transport::Transport;
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl TestServer {
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
        Ok(self.clients.client(&self.server, login)?)
    }

    /// Returns a transport for a login, with a connection of its own, to put something in front of
    /// it ([`Transport::with_service`]). A client over it is configured by
    /// [`client_config`](Self::client_config).
    ///
    /// # Errors
    /// Its user agent is not a valid header.
    pub fn transport_of(&self, login: &Login) -> Result<Transport, TestError> {
        Ok(self.clients.transport(&self.server, login)?)
    }

    /// Returns the configuration of a client of this server: on its clock, with random numbers of
    /// its own.
    pub fn client_config(&self) -> kubist::client::Config {
        self.clients.config()
    }

    /// Runs something beside the server, such as a controller's manager, with a client of its own
    /// whose user agent is `name`, and a token that asks it to end. What it fails with is in the
    /// reports of assertions.
    ///
    /// ```
    /// # use kubist::client::Client;
    /// # use kubist_test::TestServer;
    /// # use tokio_util::sync::CancellationToken;
    /// # async fn run(_: Client, token: CancellationToken) -> Result<(), std::fmt::Error> {
    /// #     token.cancelled().await;
    /// #     Ok(())
    /// # }
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> kubist_test::Result {
    /// let server = TestServer::start().await?;
    /// let operator = server.run("website-operator", |client, token| run(client, token))?;
    /// // …
    /// operator.stop().await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The name is not a valid user agent.
    pub fn run<T, E, F>(
        &self,
        name: &str,
        run: impl FnOnce(Client, CancellationToken) -> F,
    ) -> Result<Running, TestError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.run_as(&Login::admin().with_user_agent(name), name, run)
    }

    /// Same as [`Self::run`], with a login. Its user agent is the name, unless the login has one.
    ///
    /// # Errors
    /// The user agent is not a valid header.
    pub fn run_as<T, E, F>(
        &self,
        login: &Login,
        name: &str,
        run: impl FnOnce(Client, CancellationToken) -> F,
    ) -> Result<Running, TestError>
    where
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        let token = CancellationToken::new();
        let mut login = login.clone();
        login.user_agent.get_or_insert_with(|| name.into());
        let run = run(self.client_of(&login)?, token.clone());
        let run = async move { run.await.map(drop).map_err(RunError::new) };
        Ok(self.running.spawn(name, token, run))
    }

    /// Starts one of the server's controllers, beside those that run already.
    ///
    /// # Errors
    /// Its client cannot be created.
    pub fn start_controller(&self, controller: ServerController) -> Result<Running, TestError> {
        let token = CancellationToken::new();
        let transport = self.transport_of(&controller.login())?;
        let config = kubist::client::Config {
            // It watches whatever is served, deprecated or not.
            warnings: Arc::new(|_: &str| {}),
            ..self.client_config()
        };
        let run = controller.run(&self.server, Client::new(transport, config), token.clone());
        Ok(self.running.spawn(controller.name(), token, run))
    }
}
