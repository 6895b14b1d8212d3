//! `Environment`: the environment variables and the service account folder that this crate reads.
//!
//! It is a value, so that tests and programs can substitute their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variables that are read, only by [`Environment::current`].
const VARIABLES: [&str; 12] = [
    "KUBECONFIG",
    "HOME",
    "USERPROFILE",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "POD_NAMESPACE",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
];

/// The service account folder in a Pod.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Environment variables and the service account folder.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    service_account: PathBuf,
}

impl Environment {
    /// Returns the environment of this process: `KUBECONFIG`, `HOME`, `USERPROFILE`,
    /// `KUBERNETES_SERVICE_HOST`, `KUBERNETES_SERVICE_PORT`, `POD_NAMESPACE`, and `HTTPS_PROXY`,
    /// `HTTP_PROXY` and `NO_PROXY` in upper or lower case.
    pub fn current() -> Self {
        let variables = VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
            .collect();
        Self {
            variables,
            service_account: SERVICE_ACCOUNT.into(),
        }
    }

    /// Sets a variable in this value, not in the process.
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the service account folder.
    pub fn with_service_account(mut self, folder: impl Into<PathBuf>) -> Self {
        self.service_account = folder.into();
        self
    }

    /// Returns a variable, unless it is empty.
    pub(crate) fn os(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(name)
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns a variable, unless it is empty or not UTF-8.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.os(name).and_then(OsStr::to_str)
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.os("HOME")
            .or_else(|| self.os("USERPROFILE"))
            .map(Path::new)
    }

    pub(crate) fn service_account(&self) -> &Path {
        &self.service_account
    }
}
