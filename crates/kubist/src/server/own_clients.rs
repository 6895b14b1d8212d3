//! Clients of a server in its own process: over the loopback interface, or without sockets.

use http::Uri;
use kubist_apiserver::{InProcess, RunningServer};
use kubist_client::Client;
use kubist_registry::User;
use kubist_transport::{ConfigError, Endpoint, HttpVersion, Identity, Pem, Transport, Verify};
use std::io;

/// The namespace of the accounts of controllers.
const NAMESPACE: &str = "kube-system";

/// The user that a controller acts as: the service account that upstream's has. Unlike upstream's
/// it may do everything, so that it works with any way to authorize.
pub(super) fn controller_user(account: &str) -> User {
    let groups = [
        "system:masters",
        "system:serviceaccounts",
        "system:serviceaccounts:kube-system",
    ];
    User {
        name: format!("system:serviceaccount:{NAMESPACE}:{account}").into(),
        groups: groups.map(Into::into).into(),
        ..User::default()
    }
}

/// A transport whose bytes stay in the process.
pub(super) fn transport_within(
    own: InProcess,
    user_agent: Option<&str>,
) -> Result<Transport, ConfigError> {
    let mut transport = kubist_transport::Config::new(Uri::from_static("http://in-process"));
    transport.http_version = HttpVersion::Http2Only;
    transport.accept_gzip = false;
    if let Some(user_agent) = user_agent {
        user_agent.clone_into(&mut transport.user_agent);
    }
    let connector = move |_: Endpoint| {
        let own = own.clone();
        async move { own.open().await.map_err(io::Error::other) }
    };
    Transport::with_connector(transport, connector)
}

pub(super) fn client_of(
    api: &RunningServer,
    client: kubist_client::Config,
) -> Result<Client, ConfigError> {
    let Some(admin) = api.admin() else {
        return Ok(Client::new(
            transport_within(api.in_process(), None)?,
            client,
        ));
    };
    let server = api
        .url()
        .parse()
        .map_err(|_| ConfigError::Server { server: api.url() })?;
    let mut config = kubist_transport::Config::new(server);
    config.tls.verify = Verify::Authorities(Pem::Data(api.ca_pem().into()));
    config.tls.server_name = api.tls_server_name().map(str::to_owned);
    config.tls.identity = Some(Identity {
        certificate: Pem::Data(admin.certificate_pem.clone().into()),
        key: Pem::Data(admin.key_pem.clone().into()),
    });
    // Both ends are this process, so compression would only cost.
    config.accept_gzip = false;
    Ok(Client::new(Transport::new(config)?, client))
}
