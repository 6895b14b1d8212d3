//! What this crate wants to know of its process: variables and the service account's folder.
//!
//! A value, so that tests (and programs with ideas of their own) can make another.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variables that are read, by [`Environment::current`] and by nothing else.
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

/// Where a Pod finds its service account.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Environment variables and the folder of the service account.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
    service_account: PathBuf,
}

impl Environment {
    /// That of this process: `KUBECONFIG`, `HOME`, `USERPROFILE`, `KUBERNETES_SERVICE_HOST`,
    /// `KUBERNETES_SERVICE_PORT`, `POD_NAMESPACE`, and `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`
    /// in upper or lower case.
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

    /// Looks for the service account in another folder.
    pub fn with_service_account(mut self, folder: impl Into<PathBuf>) -> Self {
        self.service_account = folder.into();
        self
    }

    /// A variable, unless it is empty.
    pub(crate) fn os(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(name)
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable, unless it is empty or not UTF-8.
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
