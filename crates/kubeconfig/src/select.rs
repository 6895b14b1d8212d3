//! Selection: resolves context, cluster, user and namespace names to a configuration.

use crate::cluster;
use crate::environment::Environment;
use crate::error::KubeconfigError;
use crate::kubeconfig::{Context, Kubeconfig};
use crate::user;
use base64::Engine as _;
use kubist_transport::{Config, Pem};
use std::path::{Path, PathBuf};

/// The entries of a kubeconfig to use; `None` takes what the file specifies.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The context, instead of the current one.
    pub context: Option<String>,
    /// The cluster, instead of the context's.
    pub cluster: Option<String>,
    /// The user, instead of the context's.
    pub user: Option<String>,
    /// The namespace, instead of the context's.
    pub namespace: Option<String>,
}

/// The complete configuration of a client.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The server, trust and credentials.
    pub transport: Config,
    /// The default namespace.
    pub namespace: String,
    /// The context name; `None` in a cluster or if only a cluster was selected.
    pub context: Option<String>,
}

impl Kubeconfig {
    /// Resolves the names. Without a context, the selection must name a cluster.
    ///
    /// `environment` provides the proxy if the cluster names none.
    pub fn select(
        &self,
        selection: &Selection,
        environment: &Environment,
    ) -> Result<ClientConfig, KubeconfigError> {
        let (name, context) = self.context(selection)?;
        let cluster = selection.cluster.as_ref().unwrap_or(&context.cluster);
        let Some(cluster) = self.clusters.iter().find(|named| named.name == *cluster) else {
            let known = self
                .clusters
                .iter()
                .map(|named| named.name.clone())
                .collect();
            return Err(KubeconfigError::Unknown {
                kind: "cluster",
                name: cluster.clone(),
                known,
            });
        };
        let user_name = selection.user.as_ref().unwrap_or(&context.user);
        let user = self.users.iter().find(|named| named.name == *user_name);
        if user.is_none() && !user_name.is_empty() {
            let (name, kind) = (user_name.clone(), "user");
            let known = self.users.iter().map(|named| named.name.clone()).collect();
            return Err(KubeconfigError::Unknown { kind, name, known });
        }

        let has_certificate = user.is_some_and(|named| {
            let user = &named.user;
            !user.client_certificate.is_empty() || !user.client_certificate_data.is_empty()
        });
        let mut transport = cluster::configure(cluster, has_certificate, environment)?;
        let with_tls = transport.server.scheme_str() == Some("https");
        if let Some(user) = user
            && with_tls
        {
            user::configure(&mut transport, user, cluster)?;
        }
        let namespace = selection.namespace.as_ref().unwrap_or(&context.namespace);
        let namespace = if namespace.is_empty() {
            "default"
        } else {
            namespace
        };
        Ok(ClientConfig {
            transport,
            namespace: namespace.to_owned(),
            context: name,
        })
    }

    fn context(&self, selection: &Selection) -> Result<(Option<String>, Context), KubeconfigError> {
        let known = || {
            self.contexts
                .iter()
                .map(|named| named.name.clone())
                .collect()
        };
        let name = selection.context.as_ref().unwrap_or(&self.current_context);
        if name.is_empty() {
            return match &selection.cluster {
                Some(_) => Ok((None, Context::default())),
                None => Err(KubeconfigError::NoContext { known: known() }),
            };
        }
        let found = self.contexts.iter().find(|named| named.name == *name);
        let context = found.ok_or_else(|| {
            let (name, kind) = (name.clone(), "context");
            KubeconfigError::Unknown {
                kind,
                name,
                known: known(),
            }
        })?;
        Ok((Some(name.clone()), context.context.clone()))
    }
}

/// An entry of a file, for error messages.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) list: &'static str,
    pub(crate) name: &'a str,
    pub(crate) origin: &'a Path,
}

impl Entry<'_> {
    pub(crate) fn invalid(self, field: &str, problem: impl Into<String>) -> KubeconfigError {
        KubeconfigError::Invalid {
            path: self.origin.to_owned(),
            place: format!("{}[{}].{field}", self.list, self.name),
            problem: problem.into(),
        }
    }

    /// Returns a path as written in the file.
    pub(crate) fn path(self, written: &str) -> PathBuf {
        let folder = self.origin.parent().unwrap_or_else(|| Path::new(""));
        folder.join(written)
    }

    /// Returns the base64 data, else the file, else nothing.
    pub(crate) fn pem(
        self,
        field: &str,
        data: &str,
        file: &str,
    ) -> Result<Option<Pem>, KubeconfigError> {
        if data.is_empty() {
            return Ok(Some(file)
                .filter(|file| !file.is_empty())
                .map(|file| Pem::File(self.path(file))));
        }
        let field = format!("{field}-data");
        let compact: String = data.split_ascii_whitespace().collect();
        let decoded = base64::engine::general_purpose::STANDARD
            .decode(compact)
            .map_err(|error| self.invalid(&field, format!("is not base64: {error}")))?;
        let text =
            String::from_utf8(decoded).map_err(|_| self.invalid(&field, "is not PEM in base64"))?;
        Ok(Some(Pem::Data(text.into())))
    }
}
