//! The in-cluster configuration: service account files and two variables.

use crate::environment::Environment;
use crate::error::KubeconfigError;
use crate::select::ClientConfig;
use kubist_transport::{Auth, Config, Pem, Verify};
use std::net::IpAddr;

/// Returns the configuration for the cluster that this process runs in. The token and the authority
/// remain files: the kubelet replaces them and the transport reloads them.
///
/// The namespace is `POD_NAMESPACE`, else the service account's, else `default`.
pub fn in_cluster(environment: &Environment) -> Result<ClientConfig, KubeconfigError> {
    let missing = |problem: String| KubeconfigError::NotInCluster { problem };
    let variable = |name: &str| {
        environment
            .text(name)
            .ok_or_else(|| missing(format!("{name} is not set")))
    };
    let host = variable("KUBERNETES_SERVICE_HOST")?;
    let port = variable("KUBERNETES_SERVICE_PORT")?;
    let token = environment.service_account().join("token");
    if !token.is_file() {
        return Err(missing(format!("there is no file {}", token.display())));
    }
    let server = match host.parse() {
        Ok(IpAddr::V6(address)) => format!("https://[{address}]:{port}"),
        _ => format!("https://{host}:{port}"),
    };
    let server = server.parse().map_err(|_| {
        missing(format!(
            "{server:?} of KUBERNETES_SERVICE_HOST is no address"
        ))
    })?;
    let mut transport = Config::new(server);
    transport.auth = Auth::TokenFile(token);
    let authority = environment.service_account().join("ca.crt");
    if authority.is_file() {
        transport.tls.verify = Verify::Authorities(Pem::File(authority));
    }
    let file = environment.service_account().join("namespace");
    let namespace = environment
        .text("POD_NAMESPACE")
        .map(str::to_owned)
        .or_else(|| std::fs::read_to_string(file).ok())
        .map(|namespace| namespace.trim().to_owned())
        .filter(|namespace| !namespace.is_empty());
    Ok(ClientConfig {
        transport,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        context: None,
    })
}
