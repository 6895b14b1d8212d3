//! `RequestAuthenticator`: an authenticator of the user of this crate.

use http::HeaderMap;
use kubist_apimachinery::Str;
use kubist_authorization::BoxFuture;
use kubist_registry::User;
use rustls_pki_types::CertificateDer;
use std::fmt;
use std::time::Duration;

/// Says who sends a request. A server asks it after its own authenticators and before the anonymous
/// user, for requests that nobody has identified yet, and for the tokens of token reviews. What it
/// says is not cached.
///
/// An authenticator of API keys, in a server of one's own:
///
/// ```
/// use kubist_apiserver::{
///     Authenticated, Authentication, Authenticators, Config, Credentials, RequestAuthenticator,
/// };
/// use kubist_authorization::{BoxFuture, User};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct ApiKeys;
///
/// impl RequestAuthenticator for ApiKeys {
///     fn authenticate<'a>(
///         &'a self,
///         credentials: &'a Credentials<'a>,
///     ) -> BoxFuture<'a, Authentication> {
///         Box::pin(async move {
///             let Some(key) = credentials.headers.get("x-api-key") else {
///                 return Authentication::NoOpinion;
///             };
///             if key != "s3cret" {
///                 return Authentication::Refused("unknown API key".to_owned());
///             }
///             let groups = vec!["robots".into()];
///             let user = User { name: "robot".into(), groups, ..User::default() };
///             Authentication::User(Authenticated::for_this_server(user))
///         })
///     }
/// }
///
/// let config = Config {
///     authenticators: Authenticators {
///         others: vec![Arc::new(ApiKeys)],
///         ..Authenticators::default()
///     },
///     ..Config::default()
/// };
/// # drop(config);
/// ```
///
/// # Cancel safety
/// The future is dropped when the request ends first.
pub trait RequestAuthenticator: fmt::Debug + Send + Sync + 'static {
    /// Says who has these credentials.
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> BoxFuture<'a, Authentication>;
}

/// What a request proves its sender by.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Credentials<'a> {
    /// The bearer token. This is a secret.
    pub token: Option<&'a str>,
    /// The headers of the request. Those of a token review are empty.
    pub headers: &'a HeaderMap,
    /// The client's certificates, its own first. The client has proved that it owns the key;
    /// whether an authority is trusted is not known.
    pub certificates: &'a [CertificateDer<'static>],
    /// The path of the request; empty for a token review.
    pub path: &'a str,
    /// The audiences, of which the credentials must be meant for one: those of the server, or those
    /// of a token review.
    pub audiences: &'a [Str],
    /// The time since the Unix epoch.
    pub now: Duration,
}

/// What an authenticator says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it is one of these")]
pub enum Authentication {
    /// The user.
    User(Authenticated),
    /// The credentials are for this authenticator and are not good. Others are still asked; if none
    /// knows the sender, the request gets 401 and is not anonymous. The text is for the log and for
    /// token reviews.
    Refused(String),
    /// The credentials are for others.
    NoOpinion,
}

/// A user, and for whom its credentials are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "authenticators fill it in")]
pub struct Authenticated {
    /// The user. The group `system:authenticated` is added.
    pub user: User,
    /// Those of the wanted audiences that the credentials are meant for. Empty if they are only
    /// meant for this server.
    pub audiences: Vec<Str>,
}

impl Authenticated {
    /// Returns a user whose credentials are only meant for this server.
    pub fn for_this_server(user: User) -> Self {
        Self {
            user,
            audiences: Vec::new(),
        }
    }
}
