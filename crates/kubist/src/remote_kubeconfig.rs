//! Webhooks outside of the cluster, as a kubeconfig describes them.
//!
//! As in upstream, the cluster is the webhook and the user is the API server. What a server cannot
//! do for a webhook is refused by its name: plugins, token files, proxies, impersonation.

use kubist_apiserver::{Identity, PemError, RemoteService};
use kubist_kubeconfig::{Environment, Kubeconfig, KubeconfigError, Selection};
use kubist_transport::{Auth, Config, Pem, Verify};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum bytes of a file of certificates or keys.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Why a kubeconfig does not describe a webhook.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteKubeconfigError {
    /// It cannot be read, or is no kubeconfig with a current context.
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    /// A file that it names cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The client certificate or its key cannot be used.
    #[error("the client certificate cannot be used")]
    Identity(#[from] PemError),
    /// It asks for something that this server does not do for webhooks.
    #[error("{what} is not supported for webhooks")]
    Unsupported {
        /// What it asks for.
        what: &'static str,
    },
}

/// Reads the kubeconfig of a webhook.
///
/// # Errors
/// It cannot be read or used.
pub fn read_remote_kubeconfig(path: &Path) -> Result<RemoteService, RemoteKubeconfigError> {
    let kubeconfig = Kubeconfig::read(path)?;
    let selected = kubeconfig.select(&Selection::default(), &Environment::default())?;
    service(selected.transport)
}

fn service(config: Config) -> Result<RemoteService, RemoteKubeconfigError> {
    let unsupported = |what| Err(RemoteKubeconfigError::Unsupported { what });
    if config.proxy.is_some() {
        return unsupported("proxy-url");
    }
    if config.impersonate.is_some() {
        return unsupported("impersonation");
    }
    let authorization = match &config.auth {
        Auth::None => None,
        Auth::Bearer(token) => Some(format!("Bearer {}", token.reveal())),
        Auth::Basic { username, password } => {
            let pair = format!("{username}:{}", password.reveal());
            let pair = kubist_apimachinery::ByteString(pair.into_bytes());
            Some(format!("Basic {}", pair.to_base64()))
        }
        Auth::TokenFile(_) => return unsupported("tokenFile"),
        _ => return unsupported("an exec plugin"),
    };
    let (ca_pem, insecure) = match &config.tls.verify {
        Verify::Authorities(pem) => (read(pem)?, false),
        Verify::Nothing => (String::new(), true),
        _ => (String::new(), false),
    };
    let identity = match &config.tls.identity {
        Some(it) => Some(Identity::from_pem(
            &read(&it.certificate)?,
            &read(&it.key)?,
        )?),
        None => None,
    };
    Ok(RemoteService {
        url: config.server.to_string(),
        ca_pem,
        insecure,
        tls_server_name: config.tls.server_name.unwrap_or_default(),
        identity,
        authorization,
    })
}

fn read(pem: &Pem) -> Result<String, RemoteKubeconfigError> {
    let path = match pem {
        Pem::Data(text) => return Ok(text.reveal().to_owned()),
        Pem::File(path) => path,
    };
    let fail = |source| RemoteKubeconfigError::Read {
        path: path.clone(),
        source,
    };
    let bytes = crate::read_regular_file(path, PEM_BYTES_MAX).map_err(fail)?;
    String::from_utf8(bytes).map_err(|_| fail(io::Error::other("it is not text")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cluster: &str, user: &str) -> Result<RemoteService, String> {
        let text = format!(
            "clusters: [{{name: c, cluster: {{{cluster}}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n\
             contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
        );
        let kubeconfig = Kubeconfig::parse(&text, "k.yaml".as_ref()).unwrap();
        let selected = kubeconfig.select(&Selection::default(), &Environment::default());
        service(selected.unwrap().transport).map_err(|it| it.to_string())
    }

    const URL: &str = "server: 'https://hook.example.com/review'";

    #[test]
    fn a_kubeconfig_says_where_the_webhook_is_and_who_the_server_is() {
        let it = of(
            &format!("{URL}, insecure-skip-tls-verify: true"),
            "token: abc",
        )
        .unwrap();
        assert_eq!(it.url, "https://hook.example.com/review");
        assert!(it.insecure);
        assert_eq!(it.authorization.as_deref(), Some("Bearer abc"));
        let it = of(
            &format!("{URL}, tls-server-name: other"),
            "username: a, password: b",
        );
        let it = it.unwrap();
        assert_eq!(it.tls_server_name, "other");
        assert_eq!(it.authorization.as_deref(), Some("Basic YTpi"));
    }

    #[test]
    fn what_is_not_done_for_webhooks_is_refused_by_its_name() {
        for (cluster, user, what) in [
            ("proxy-url: 'http://p:1'", "", "proxy-url"),
            ("", "as: bob", "impersonation"),
            ("", "tokenFile: t", "tokenFile"),
        ] {
            let refused = of(&format!("{URL}, {cluster}"), user).unwrap_err();
            assert_eq!(refused, format!("{what} is not supported for webhooks"));
        }
    }
}
