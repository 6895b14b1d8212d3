//! `AuthorizationConfiguration`: upstream's file of the authorizers that decide about requests, in
//! their order, with webhooks and the conditions under which they are asked.

mod conditions;
mod file;
mod validation;

pub use conditions::MatchConditions;

use file::{FIELDS, File};
use kubist_apimachinery::FieldError;
use kubist_codec::config_file::{self, ConfigFileError};
use std::time::Duration;

const KIND: &str = "AuthorizationConfiguration";
const VERSIONS: [&str; 2] = [
    "apiserver.config.k8s.io/v1",
    "apiserver.config.k8s.io/v1beta1",
];

/// The authorizers of a server, in their order.
///
/// ```
/// use kubist_authorization::{AuthorizationConfiguration, AuthorizerConfiguration};
///
/// let text = "
/// apiVersion: apiserver.config.k8s.io/v1
/// kind: AuthorizationConfiguration
/// authorizers:
/// - type: Webhook
///   name: company
///   webhook:
///     timeout: 3s
///     subjectAccessReviewVersion: v1
///     matchConditionSubjectAccessReviewVersion: v1
///     failurePolicy: Deny
///     connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/company.yaml}
///     matchConditions:
///     - expression: has(request.resourceAttributes)
/// - {type: RBAC, name: rbac}
/// ";
/// let configuration = AuthorizationConfiguration::parse(text.as_bytes())?;
/// assert!(matches!(configuration.authorizers[1], AuthorizerConfiguration::Rbac));
/// # Ok::<(), kubist_authorization::AuthorizationConfigurationError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct AuthorizationConfiguration {
    /// The authorizers, at least one.
    pub authorizers: Vec<AuthorizerConfiguration>,
}

/// An authorizer of the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum AuthorizerConfiguration {
    /// Everything is allowed.
    AlwaysAllow,
    /// Nothing is allowed.
    AlwaysDeny,
    /// What kubelets may do is decided by the Pods of their node.
    Node,
    /// The stored roles decide.
    Rbac,
    /// A webhook decides.
    Webhook(WebhookConfiguration),
}

/// A webhook that decides.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct WebhookConfiguration {
    /// Its name.
    pub name: String,
    /// How long an answer that allows counts. Zero: it is not kept.
    pub authorized_ttl: Duration,
    /// How long another answer counts. Zero: it is not kept.
    pub unauthorized_ttl: Duration,
    /// Time limit of a call.
    pub timeout: Duration,
    /// The version of the review: `v1` or `v1beta1`.
    pub version: String,
    /// What a failed call means.
    pub failure_policy: FailurePolicy,
    /// The kubeconfig of the webhook.
    pub kube_config_file: String,
    /// The conditions under which it is asked.
    pub match_conditions: MatchConditions,
}

/// What a failed call of a webhook means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "upstream has no others")]
pub enum FailurePolicy {
    /// The next authorizer is asked.
    #[default]
    NoOpinion,
    /// The action is refused.
    Deny,
}

/// Why an authorization configuration cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationConfigurationError {
    /// It is not the file.
    #[error("failed to load AuthorizationConfiguration from file: {0}")]
    File(#[from] ConfigFileError),
    /// It says something that makes no sense.
    #[error("{}", FieldError::aggregate(errors))]
    Invalid {
        /// What is wrong, in upstream's words.
        errors: Vec<FieldError>,
    },
    /// An authorizer has another name than that of its type.
    #[error("expected name {expected} for authorizer {kind} instead of {found}")]
    Name {
        /// The type.
        kind: String,
        /// The name of the type.
        expected: String,
        /// The name in the file.
        found: String,
    },
}

impl AuthorizationConfiguration {
    /// Parses a file. It is not looked whether the kubeconfigs of webhooks exist.
    ///
    /// # Errors
    /// It is not the file, or is invalid.
    pub fn parse(text: &[u8]) -> Result<Self, AuthorizationConfigurationError> {
        let file: File = config_file::parse(text, KIND, &VERSIONS, &FIELDS)?;
        validation::configuration(file)
    }
}

#[cfg(test)]
mod tests;
