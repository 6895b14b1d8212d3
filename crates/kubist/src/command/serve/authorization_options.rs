//! Options for authorization, under upstream's names.

use super::{WrongUsage, values};
use clap::{Args, ValueEnum};
use kubist::apiserver::ReviewVersion;
use kubist::authorization::{
    AlwaysDeny, AuthorizerConfiguration, FailurePolicy, MatchConditions, WebhookConfiguration,
};
use kubist::{Authorization, AuthorizationFile, authorization_modes};
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time limit of a call of the webhook of the options, as upstream.
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Args, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "they are the names of the options"
)]
pub(super) struct AuthorizationOptions {
    /// Who decides about requests, in this order; the first that allows one decides.
    /// system:masters may do everything, unless nobody may do anything. By default it is RBAC
    #[arg(
        long,
        value_name = "MODES",
        value_delimiter = ',',
        ignore_case = false,
        conflicts_with = "authorization_config"
    )]
    authorization_mode: Vec<Mode>,
    /// The kubeconfig of the webhook of the mode Webhook; its cluster is the webhook
    #[arg(long, value_name = "FILE", conflicts_with = "authorization_config")]
    authorization_webhook_config_file: Option<PathBuf>,
    /// The version of the reviews that are sent to it: v1 or v1beta1
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = review_version,
        conflicts_with = "authorization_config"
    )]
    authorization_webhook_version: Option<ReviewVersion>,
    /// How long its answers count that allow a request; by default 5m
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = values::duration,
        conflicts_with = "authorization_config"
    )]
    authorization_webhook_cache_authorized_ttl: Option<Duration>,
    /// How long its other answers count; by default 30s
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = values::duration,
        conflicts_with = "authorization_config"
    )]
    authorization_webhook_cache_unauthorized_ttl: Option<Duration>,
    /// Upstream's file of authorizers, instead of these options; it is looked at once a minute
    #[arg(long, value_name = "FILE")]
    authorization_config: Option<PathBuf>,
}

/// A way to authorize requests, by its name of upstream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Everything is allowed to every authenticated user; roles are not obeyed.
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// Nothing is allowed.
    #[value(name = "AlwaysDeny")]
    AlwaysDeny,
    /// What kubelets may do is decided by the Pods of their node.
    #[value(name = "Node")]
    Node,
    /// The stored roles and bindings decide.
    #[value(name = "RBAC")]
    Rbac,
    /// The webhook of --authorization-webhook-config-file decides.
    #[value(name = "Webhook")]
    Webhook,
}

/// Who decides.
pub(super) struct Decider {
    pub(super) authorization: Authorization,
    /// The file that says it.
    pub(super) file: Option<AuthorizationFile>,
    /// The modes, as they are named.
    pub(super) modes: String,
    /// Whether everything is allowed in the end.
    pub(super) allows_all: bool,
}

/// Parses the version of a review.
pub(super) fn review_version(text: &str) -> Result<ReviewVersion, String> {
    match text {
        "v1" => Ok(ReviewVersion::V1),
        "v1beta1" => Ok(ReviewVersion::V1Beta1),
        _ => Err("must be v1 or v1beta1".to_owned()),
    }
}

impl AuthorizationOptions {
    /// Returns who decides about requests.
    ///
    /// # Errors
    /// Options contradict each other, or a file cannot be used.
    pub(super) fn decider(&self) -> Result<Decider, Box<dyn Error>> {
        let (file, authorizers) = match &self.authorization_config {
            Some(path) => {
                let (file, configuration) = AuthorizationFile::read(path)
                    .map_err(|error| format!("--authorization-config: {}", with_causes(&error)))?;
                (Some(file), configuration.authorizers)
            }
            None => (None, self.of_modes()?),
        };
        let names: Vec<&str> = authorizers.iter().map(name).collect();
        let modes = authorization_modes(authorizers).map_err(|error| with_causes(&error))?;
        let authorization = match &names[..] {
            _ if file.is_some() => Authorization::replaceable(modes),
            ["AlwaysAllow"] => Authorization::default(),
            ["AlwaysDeny"] => Authorization::by(Arc::new(AlwaysDeny)),
            _ => Authorization::chain(modes),
        };
        Ok(Decider {
            authorization,
            file,
            modes: names.join(","),
            allows_all: names.contains(&"AlwaysAllow"),
        })
    }

    fn of_modes(&self) -> Result<Vec<AuthorizerConfiguration>, Box<dyn Error>> {
        let modes = match &self.authorization_mode[..] {
            [] => &[Mode::Rbac],
            modes => modes,
        };
        let wrong = |why: String| Err(WrongUsage(format!("--authorization-mode: {why}")).into());
        if let Some(twice) = (1..modes.len()).find(|&at| modes[..at].contains(&modes[at])) {
            let name = modes[twice].to_possible_value();
            let name = name.map_or_else(String::new, |it| it.get_name().to_owned());
            return wrong(format!("{name} is named twice"));
        }
        let of_webhook = self.authorization_webhook_config_file.is_some()
            || self.authorization_webhook_version.is_some()
            || self.authorization_webhook_cache_authorized_ttl.is_some()
            || self.authorization_webhook_cache_unauthorized_ttl.is_some();
        let has_webhook = modes.contains(&Mode::Webhook);
        if has_webhook && self.authorization_webhook_config_file.is_none() {
            return wrong("Webhook needs --authorization-webhook-config-file".to_owned());
        }
        if of_webhook && !has_webhook {
            return wrong("--authorization-webhook-* need the mode Webhook".to_owned());
        }
        Ok(modes.iter().map(|it| self.authorizer(*it)).collect())
    }

    fn authorizer(&self, mode: Mode) -> AuthorizerConfiguration {
        match mode {
            Mode::AlwaysAllow => AuthorizerConfiguration::AlwaysAllow,
            Mode::AlwaysDeny => AuthorizerConfiguration::AlwaysDeny,
            Mode::Node => AuthorizerConfiguration::Node,
            Mode::Rbac => AuthorizerConfiguration::Rbac,
            Mode::Webhook => {
                let file = self.authorization_webhook_config_file.as_ref();
                let file = file.map(|it| it.to_string_lossy().into_owned());
                let authorized = Duration::from_secs(5 * 60);
                let unauthorized = Duration::from_secs(30);
                AuthorizerConfiguration::Webhook(WebhookConfiguration {
                    name: "default".to_owned(),
                    authorized_ttl: self
                        .authorization_webhook_cache_authorized_ttl
                        .unwrap_or(authorized),
                    unauthorized_ttl: self
                        .authorization_webhook_cache_unauthorized_ttl
                        .unwrap_or(unauthorized),
                    timeout: WEBHOOK_TIMEOUT,
                    version: self
                        .authorization_webhook_version
                        .unwrap_or_default()
                        .name()
                        .to_owned(),
                    failure_policy: FailurePolicy::NoOpinion,
                    kube_config_file: file.unwrap_or_default(),
                    match_conditions: MatchConditions::default(),
                })
            }
        }
    }
}

fn name(authorizer: &AuthorizerConfiguration) -> &'static str {
    match authorizer {
        AuthorizerConfiguration::AlwaysAllow => "AlwaysAllow",
        AuthorizerConfiguration::AlwaysDeny => "AlwaysDeny",
        AuthorizerConfiguration::Node => "Node",
        AuthorizerConfiguration::Rbac => "RBAC",
        _ => "Webhook",
    }
}
