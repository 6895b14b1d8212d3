//! Options for authentication, under upstream's names.

use super::authorization_options::review_version;
use super::oidc_options::OidcArgs;
use super::proxy_options::ProxyOptions;
use super::{WrongUsage, values};
use clap::{ArgAction, Args};
use kubist::apiserver::{ReviewVersion, ServiceAccounts, TokenWebhookConfig};
use kubist::authentication::{AuthenticationConfiguration, go_url_error, parse_token_file};
use kubist::{
    Anonymous, AuthenticationFile, Authenticators, StaticToken, read_regular_file,
    read_remote_kubeconfig,
};
use kubist_apimachinery::with_causes;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of a file of tokens.
const TOKENS_BYTES_MAX: u64 = 1 << 20;

#[derive(Args, Debug)]
pub(super) struct AuthenticationOptions {
    /// Serve requests without credentials as system:anonymous, as far as the authorization allows
    /// them; where everything is allowed, only /livez, /readyz, /healthz and /version
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_missing_value = "true"
    )]
    anonymous_auth: Option<bool>,
    /// A file of bearer tokens: CSV with token, user name, uid and, in quotes, groups
    #[arg(long, value_name = "FILE")]
    token_auth_file: Option<PathBuf>,
    /// Believe bootstrap tokens, which are Secrets in kube-system
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_value_t = false,
        default_missing_value = "true"
    )]
    enable_bootstrap_token_auth: bool,
    /// The issuers of service account tokens; the first issues new ones. By default it is the
    /// address of an API server within its cluster
    #[arg(long, value_name = "ISSUER")]
    service_account_issuer: Vec<String>,
    /// The audiences of this server; by default the issuers
    #[arg(long, value_name = "AUDIENCE,...", value_delimiter = ',')]
    api_audiences: Vec<String>,
    /// Believe the tokens of Secrets only as long as the Secret and the account exist
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        action = ArgAction::Set,
        default_value_t = true,
        default_missing_value = "true"
    )]
    service_account_lookup: bool,
    /// Where the discovery document says that the keys of service account tokens are
    #[arg(long, value_name = "URL")]
    service_account_jwks_uri: Option<String>,
    /// Upstream's file of JWT issuers and anonymous paths, which is looked at once a minute
    #[arg(long, value_name = "FILE")]
    authentication_config: Option<PathBuf>,
    #[command(flatten)]
    oidc: OidcArgs,
    #[command(flatten)]
    proxy: ProxyOptions,
    /// The kubeconfig of a webhook that is asked about tokens; its cluster is the webhook
    #[arg(long, value_name = "FILE")]
    authentication_token_webhook_config_file: Option<PathBuf>,
    /// The version of the reviews that are sent to it: v1 or v1beta1
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "v1beta1",
        value_parser = review_version,
        requires = "authentication_token_webhook_config_file"
    )]
    authentication_token_webhook_version: ReviewVersion,
    /// How long its answers count
    #[arg(
        long,
        value_name = "DURATION",
        default_value = "2m",
        value_parser = values::duration,
        requires = "authentication_token_webhook_config_file"
    )]
    authentication_token_webhook_cache_ttl: Duration,
}

/// Who is believed.
pub(super) struct Believed {
    pub(super) authenticators: Authenticators,
    pub(super) anonymous: Anonymous,
    /// The file that says a part of it.
    pub(super) file: Option<AuthenticationFile>,
}

impl AuthenticationOptions {
    /// Returns the tokens of the file.
    pub(super) fn user_tokens(&self) -> Result<Vec<StaticToken>, Box<dyn Error>> {
        let Some(path) = &self.token_auth_file else {
            return Ok(Vec::new());
        };
        let shown = path.display();
        let bytes = read_regular_file(path, TOKENS_BYTES_MAX)
            .map_err(|error| format!("--token-auth-file: cannot read {shown}: {error}"))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("--token-auth-file: {shown} is not text"))?;
        let file = parse_token_file(&text)
            .map_err(|error| format!("--token-auth-file: {shown}: {error}"))?;
        for oddity in file.oddities {
            tracing::warn!(file = %shown, "--token-auth-file: {oddity}");
        }
        let tokens = file.tokens.into_iter().map(|it| StaticToken {
            token: it.token,
            user: it.user,
        });
        Ok(tokens.collect())
    }

    /// Returns who else is believed, and which requests may be anonymous. `client_ca_file` are the
    /// authorities of users. `allows_all`: nobody decides about requests.
    ///
    /// # Errors
    /// Options contradict each other, or a file cannot be used.
    pub(super) fn authenticators(
        &self,
        client_ca_file: Option<&Path>,
        allows_all: bool,
    ) -> Result<Believed, Box<dyn Error>> {
        let service_accounts = self.service_accounts()?;
        let (file, configuration) = self.configuration(&service_accounts.issuers)?;
        let anonymous = self.anonymous(&configuration, allows_all)?;
        let jwt = configuration.jwt.into_iter().map(Arc::new).collect();
        let authenticators = Authenticators {
            service_accounts,
            bootstrap_tokens: self.enable_bootstrap_token_auth,
            request_header: self.proxy.request_header(client_ca_file)?,
            jwt,
            token_webhook: self.webhook()?,
            others: Vec::new(),
        };
        Ok(Believed {
            authenticators,
            anonymous,
            file,
        })
    }

    fn service_accounts(&self) -> Result<ServiceAccounts, WrongUsage> {
        let mut accounts = ServiceAccounts {
            lookup: self.service_account_lookup,
            jwks_uri: self.service_account_jwks_uri.clone(),
            ..ServiceAccounts::default()
        };
        if let Some(uri) = &accounts.jwks_uri
            && !uri.starts_with("https://")
        {
            let why = format!("service-account-jwks-uri requires https scheme, parsed as: {uri}");
            return Err(WrongUsage(why));
        }
        let issuers = &self.service_account_issuer;
        for (at, issuer) in issuers.iter().enumerate() {
            if issuer.is_empty() {
                let why = "service-account-issuer should not be an empty string";
                return Err(WrongUsage(why.to_owned()));
            }
            if issuer.contains(':')
                && let Some(error) = go_url_error(issuer)
            {
                return Err(WrongUsage(format!(
                    "service-account-issuer {issuer:?} contained a ':' but was not a valid URL: \
                     {error}"
                )));
            }
            if issuers[..at].contains(issuer) {
                let why = format!("service-account-issuer {issuer:?} is already specified");
                return Err(WrongUsage(why));
            }
        }
        if !issuers.is_empty() {
            accounts.issuers.clone_from(issuers);
        }
        if !self.api_audiences.is_empty() {
            accounts.api_audiences = Some(self.api_audiences.clone());
        }
        Ok(accounts)
    }

    fn configuration(
        &self,
        issuers: &[String],
    ) -> Result<(Option<AuthenticationFile>, AuthenticationConfiguration), Box<dyn Error>> {
        let oidc = self.oidc.options()?;
        let Some(path) = &self.authentication_config else {
            let configuration = match oidc {
                Some(oidc) => oidc
                    .configuration(issuers)
                    .map_err(|error| WrongUsage(error.to_string()))?,
                None => AuthenticationConfiguration::default(),
            };
            return Ok((None, configuration));
        };
        if oidc.is_some() {
            let why = "authentication-config file and oidc-* flags are mutually exclusive";
            return Err(WrongUsage(why.to_owned()).into());
        }
        let (file, configuration) = AuthenticationFile::read(path, issuers)
            .map_err(|error| format!("--authentication-config: {}", with_causes(&error)))?;
        Ok((Some(file), configuration))
    }

    fn anonymous(
        &self,
        configuration: &AuthenticationConfiguration,
        allows_all: bool,
    ) -> Result<Anonymous, WrongUsage> {
        match (&configuration.anonymous, self.anonymous_auth) {
            (Some(_), Some(_)) => {
                let why = "anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous \
                           field is configured in authentication configuration file";
                Err(WrongUsage(why.to_owned()))
            }
            (Some(file), None) => Ok(Anonymous::from(file)),
            (None, Some(false)) => Ok(Anonymous::Never),
            (None, _) if allows_all => Ok(Anonymous::PublicPaths),
            (None, _) => Ok(Anonymous::Authorized),
        }
    }

    fn webhook(&self) -> Result<Option<TokenWebhookConfig>, Box<dyn Error>> {
        let Some(path) = &self.authentication_token_webhook_config_file else {
            return Ok(None);
        };
        let service = read_remote_kubeconfig(path).map_err(|error| {
            let (shown, why) = (path.display(), with_causes(&error));
            format!("--authentication-token-webhook-config-file: {shown}: {why}")
        })?;
        Ok(Some(TokenWebhookConfig {
            service,
            version: self.authentication_token_webhook_version,
            cache_ttl: self.authentication_token_webhook_cache_ttl,
        }))
    }
}
