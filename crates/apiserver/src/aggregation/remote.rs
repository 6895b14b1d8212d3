//! `Remote`: a group version that another server serves.

use crate::certificates::Identity;
use crate::webhook::tls::{self, Trust};
use kubist_api::apiregistration::v1::{APIService, APIServiceSpec};
use kubist_apimachinery::Resource as _;
use kubist_registry::WebhookService;
use rustls::ClientConfig;
use std::sync::Arc;

/// The condition of an `APIService` that answers.
pub(super) const AVAILABLE: &str = "Available";
/// The port of a Service reference without one.
const HTTPS: i32 = 443;

/// A group version that another server serves.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    /// The name of the `APIService`.
    pub(super) name: String,
    pub(super) spec: Arc<APIServiceSpec>,
    pub(super) service: WebhookService,
    /// Its TLS configuration, or why it cannot be made.
    pub(super) tls: Result<Arc<ClientConfig>, String>,
    /// Whether its condition says that it answers.
    pub(super) available: bool,
}

impl Remote {
    /// Returns the remote of an `APIService`; `None` for a local one. `before` is what it was.
    pub(super) fn of(
        object: &APIService,
        identity: Option<&Identity>,
        before: Option<&Self>,
    ) -> Option<Self> {
        let spec = &object.spec;
        let service = spec.service.as_deref()?;
        if spec.group == *APIService::GROUP {
            // Nobody takes the API away by which this is undone.
            return None;
        }
        let available = is_available(object);
        if let Some(before) = before.filter(|it| *it.spec == *spec) {
            return Some(Self {
                available,
                ..before.clone()
            });
        }
        let port = service.port.unwrap_or(HTTPS);
        let trust = if spec.insecure_skip_tls_verify {
            Trust::Anything
        } else {
            Trust::Bundle(&spec.ca_bundle)
        };
        Some(Self {
            name: object.metadata.name.to_string(),
            spec: Arc::new(spec.clone()),
            service: WebhookService {
                namespace: service.namespace.to_string(),
                name: service.name.to_string(),
                path: String::new(),
                port: u16::try_from(port).unwrap_or_default(),
            },
            tls: tls::client(trust, identity).map_err(|error| error.to_string()),
            available,
        })
    }

    /// Whether it answers.
    pub(crate) fn is_available(&self) -> bool {
        self.available
    }

    /// Why there is no TLS configuration, if there is none.
    pub(crate) fn tls_problem(&self) -> Option<&str> {
        self.tls.as_ref().err().map(String::as_str)
    }

    /// The name in the certificate of the server.
    pub(super) fn server_name(&self) -> String {
        format!("{}.{}.svc", self.service.name, self.service.namespace)
    }

    /// `group/version`, or the version alone for core.
    pub(super) fn group_version(&self) -> String {
        match &*self.spec.group {
            "" => self.spec.version.to_string(),
            group => format!("{group}/{}", self.spec.version),
        }
    }

    /// The path of its discovery document.
    pub(super) fn root(&self) -> String {
        match &*self.spec.group {
            "" => format!("/api/{}", self.spec.version),
            group => format!("/apis/{group}/{}", self.spec.version),
        }
    }
}

/// Reports whether the condition of an `APIService` says that it answers.
pub(super) fn is_available(object: &APIService) -> bool {
    let mut conditions = object.status.conditions.iter();
    conditions.any(|it| it.type_ == *AVAILABLE && it.status == *"True")
}
