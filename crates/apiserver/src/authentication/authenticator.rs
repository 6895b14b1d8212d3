//! `Authenticator`: identifies the user of a request.
//!
//! One valid credential is sufficient: refused ones beside it do not matter. Credentials are tried
//! in upstream's order, those that are judged here before those that others are asked about; the
//! documentation of [`Authenticator::authenticate`] has it. It does not decide what a user may do.

use crate::authentication::anonymous::Anonymous;
use crate::authentication::authenticators::Authenticators;
use crate::authentication::bearer;
use crate::authentication::jwt_issuers::JwtIssuers;
use crate::authentication::peer::Peer;
use crate::authentication::refusal::Refusal;
use crate::authentication::request_authenticator::{
    Authenticated, Authentication, Credentials, RequestAuthenticator,
};
use crate::authentication::request_header::RequestHeaderAuthenticator;
use crate::authentication::service_accounts;
use crate::authentication::static_tokens::StaticTokens;
use crate::authentication::token_issuer::TokenIssuer;
use crate::authentication::token_webhook::TokenWebhook;
use crate::remote::RemoteError;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use kubist_api::core::v1::Secret;
use kubist_apimachinery::{Status, Str, Time};
use kubist_authentication::{BootstrapToken, RequestHeaders, aggregate};
pub use kubist_authorization::MASTERS_GROUP;
use kubist_registry::{Registry, RequestContext, User};
use rustls::server::danger::ClientCertVerifier;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The group of all authenticated users.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// The user of anonymous requests, where they are allowed.
pub const ANONYMOUS_USER: &str = "system:anonymous";
/// The group of [`ANONYMOUS_USER`].
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";

/// The key in the user's extra fields that identifies the credential.
pub(crate) const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";
pub(crate) const INVALID_TOKEN: &str = "invalid bearer token";

/// A static bearer token and its user.
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct StaticToken {
    /// The token. This is a secret.
    pub token: String,
    /// The user; `system:authenticated` is added to its groups.
    pub user: User,
}

/// Omits the token.
impl fmt::Debug for StaticToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticToken")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Why an authenticator cannot be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuthenticatorError {
    #[error("the authorities of proxies cannot be used")]
    RequestHeader(#[source] rustls::Error),
    #[error("{0}")]
    Remote(RemoteError),
}

/// A request whose user is to be found.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) headers: &'a HeaderMap,
    /// Empty for the request that a token review stands for.
    pub(crate) path: &'a str,
    /// The wanted audiences.
    pub(crate) audiences: &'a [Str],
    pub(crate) cx: &'a RequestContext,
    pub(crate) registry: &'a Registry,
}

/// Why nobody is known to send a request.
#[derive(Debug)]
pub(crate) enum Failure {
    /// No credential is good; the texts are for the log and for token reviews.
    Unauthorized(String),
    /// A credential cannot be judged now.
    Unavailable(Box<Status>),
    /// There are no credentials.
    None,
}

/// Authenticates requests.
#[derive(Debug)]
pub(crate) struct Authenticator {
    tokens: StaticTokens,
    /// `None` if no connection has certificates.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
    issuer: TokenIssuer,
    bootstrap_tokens: bool,
    proxy: Option<RequestHeaderAuthenticator>,
    jwt: JwtIssuers,
    others: Vec<Arc<dyn RequestAuthenticator>>,
    webhook: Option<TokenWebhook>,
}

/// What was refused until somebody is found.
#[derive(Debug, Default)]
struct Refused {
    why: Vec<String>,
    unavailable: Option<Box<Status>>,
}

impl Refused {
    fn push(&mut self, refusal: Refusal) {
        match refusal {
            Refusal::NotGood(why) => self.why.push(why),
            Refusal::Unknown(status) => self.unavailable = Some(status),
        }
    }

    /// Returns what an authenticator found, or keeps why it found nothing.
    fn found<T>(&mut self, found: Result<Option<T>, Refusal>) -> Option<T> {
        found.unwrap_or_else(|refusal| {
            self.push(refusal);
            None
        })
    }
}

impl Authenticator {
    /// # Errors
    /// Something of the configuration cannot be used.
    pub(crate) fn new(
        tokens: &[StaticToken],
        verifier: Option<Arc<dyn ClientCertVerifier>>,
        issuer: TokenIssuer,
        config: &Authenticators,
    ) -> Result<Self, AuthenticatorError> {
        let proxy = config.request_header.as_ref();
        let proxy = proxy.map(RequestHeaderAuthenticator::new).transpose();
        let webhook = config.token_webhook.as_ref();
        Ok(Self {
            tokens: StaticTokens::new(tokens),
            verifier,
            issuer,
            bootstrap_tokens: config.bootstrap_tokens,
            proxy: proxy.map_err(AuthenticatorError::RequestHeader)?,
            jwt: JwtIssuers::new(&config.jwt).map_err(AuthenticatorError::Remote)?,
            others: config.others.clone(),
            webhook: webhook
                .map(TokenWebhook::new)
                .transpose()
                .map_err(AuthenticatorError::Remote)?,
        })
    }

    /// Returns the issuer of service account tokens.
    pub(crate) fn issuer(&self) -> &TokenIssuer {
        &self.issuer
    }

    /// The headers that proxies name users in, if there are proxies.
    pub(crate) fn proxy_headers(&self) -> Option<&RequestHeaders> {
        self.proxy.as_ref().map(RequestHeaderAuthenticator::headers)
    }

    /// Returns the issuers of JWTs.
    pub(crate) fn jwt_issuers(&self) -> &JwtIssuers {
        &self.jwt
    }

    /// Returns the user of a request. The first of these that knows it decides:
    ///
    /// 1. the headers of a proxy, if the certificate is that of one;
    /// 2. the client certificate;
    /// 3. the user of an in-process stream, for a request without an `Authorization` header;
    /// 4. the bearer token: a static one, one of a service account, a bootstrap token, or a JWT;
    /// 5. the authenticators of the configuration;
    /// 6. the webhook, about the bearer token.
    ///
    /// Whether a request may be anonymous is decided by the caller, for those with no credentials.
    pub(crate) async fn authenticate(&self, asked: &Asked<'_>) -> Result<Authenticated, Failure> {
        let mut refused = Refused::default();
        if let Some(user) = self.by_connection(asked, &mut refused) {
            return Ok(authenticated(user));
        }
        let token = bearer::token(asked.headers);
        if let Some(token) = token
            && let Some(user) = self.by_token(token, asked, &mut refused).await
        {
            return Ok(authenticated(user));
        }
        if let Some(user) = self.by_others(token, asked, &mut refused).await {
            return Ok(authenticated(user));
        }
        if let (Some(token), Some(webhook)) = (token, &self.webhook) {
            let audiences = self.issuer.audiences();
            let found = webhook.authenticate(token, audiences, asked).await;
            if let Some(user) = refused.found(found) {
                return Ok(authenticated(user));
            }
        }
        if let Some(status) = refused.unavailable {
            return Err(Failure::Unavailable(status));
        }
        // As upstream, whose own tokens are compared first.
        if token.is_some() {
            refused.why.insert(0, INVALID_TOKEN.to_owned());
        }
        Err(match &refused.why[..] {
            [] => Failure::None,
            why => Failure::Unauthorized(aggregate(why)),
        })
    }

    /// The user whom the connection identifies, or a proxy at its other end.
    fn by_connection(&self, asked: &Asked<'_>, refused: &mut Refused) -> Option<Authenticated> {
        let now = asked.cx.received;
        if let Some(proxy) = &self.proxy
            && let Some(audiences) = self.implicit(asked)
        {
            let user = proxy.user(asked.peer, asked.headers, now);
            let user = refused.found(user.map_err(Refusal::NotGood));
            if let Some(user) = user {
                return Some(Authenticated { user, audiences });
            }
        }
        let user = match (asked.peer, &self.verifier) {
            (Peer::Certificates(chain), Some(verifier)) => {
                let user = chain.user(&**verifier, now);
                refused.found(user.map_err(Refusal::NotGood))
            }
            (Peer::Certificates(_), None) => {
                refused.push(Refusal::not_good("this server trusts no certificates"));
                None
            }
            (Peer::Trusted(user), _) if !asked.headers.contains_key(AUTHORIZATION) => {
                Some(User::clone(user))
            }
            _ => None,
        };
        user.map(Authenticated::for_this_server)
    }

    /// The user of a token, as far as it is judged here, or by the keys of its issuer.
    async fn by_token(
        &self,
        token: &str,
        asked: &Asked<'_>,
        refused: &mut Refused,
    ) -> Option<Authenticated> {
        let implicit = self.implicit(asked);
        if let (Some(audiences), Some(user)) = (&implicit, self.tokens.user(token)) {
            return Some(Authenticated {
                user: user.clone(),
                audiences: audiences.clone(),
            });
        }
        let account = service_accounts::authenticate(&self.issuer, token, asked).await;
        if let Some(account) = refused.found(account) {
            return Some(account);
        }
        let audiences = implicit?;
        if self.bootstrap_tokens {
            let found = bootstrap_user(token, asked).await;
            if let Some(user) = refused.found(found) {
                return Some(Authenticated { user, audiences });
            }
        }
        let user = refused.found(self.jwt.authenticate(token, asked).await)?;
        Some(Authenticated { user, audiences })
    }

    async fn by_others(
        &self,
        token: Option<&str>,
        asked: &Asked<'_>,
        refused: &mut Refused,
    ) -> Option<Authenticated> {
        let credentials = Credentials {
            token,
            headers: asked.headers,
            certificates: asked.peer.certificates(),
            path: asked.path,
            audiences: asked.audiences,
            now: asked.cx.received,
        };
        for other in &self.others {
            match other.authenticate(&credentials).await {
                Authentication::NoOpinion => {}
                Authentication::Refused(why) => refused.push(Refusal::NotGood(why)),
                Authentication::User(mut user) => {
                    if user.audiences.is_empty() {
                        match self.implicit(asked) {
                            Some(audiences) => user.audiences = audiences,
                            None => continue,
                        }
                    }
                    if asked.audiences.iter().any(|it| user.audiences.contains(it)) {
                        return Some(user);
                    }
                    let why = "unable to match the audience";
                    refused.push(Refusal::not_good(why));
                }
            }
        }
        None
    }

    /// Returns those of the wanted audiences that are this server's; `None` if none is. Credentials
    /// that know of no audience are for this server.
    fn implicit(&self, asked: &Asked<'_>) -> Option<Vec<Str>> {
        let own = self.issuer.audiences();
        let both = asked.audiences.iter().filter(|it| own.contains(it));
        let both: Vec<Str> = both.cloned().collect();
        (!both.is_empty()).then_some(both)
    }
}

async fn bootstrap_user(token: &str, asked: &Asked<'_>) -> Result<Option<User>, Refusal> {
    let Some(token) = BootstrapToken::parse(token) else {
        return Ok(None);
    };
    let (namespace, name) = (BootstrapToken::NAMESPACE, token.secret_name());
    let lookup = asked.registry.lookup();
    let found = lookup.get("", "secrets", namespace, &name).await?;
    let secret = found.as_ref().and_then(|it| {
        let object: &dyn Any = &**it;
        object.downcast_ref::<Secret>()
    });
    let seconds = i64::try_from(asked.cx.received.as_secs()).unwrap_or(i64::MAX);
    let now = Time::from_unix(seconds);
    Ok(secret.and_then(|it| token.user(it, now)))
}

/// Adds the group of all authenticated users, unless the user is known not to be one.
pub(crate) fn authenticated_user(mut user: User) -> User {
    let is_settled = *user.name == *ANONYMOUS_USER
        || user.is_in(AUTHENTICATED_GROUP)
        || user.is_in(UNAUTHENTICATED_GROUP);
    if !is_settled {
        user.groups.push(AUTHENTICATED_GROUP.into());
    }
    user
}

fn authenticated(found: Authenticated) -> Authenticated {
    Authenticated {
        user: authenticated_user(found.user),
        ..found
    }
}

/// The user of a request without credentials.
pub(crate) fn anonymous(asked: &Asked<'_>) -> Authenticated {
    Authenticated {
        user: Anonymous::user(),
        audiences: asked.audiences.to_vec(),
    }
}

#[cfg(test)]
mod tests;
