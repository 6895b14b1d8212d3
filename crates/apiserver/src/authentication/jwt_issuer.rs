//! `JwtIssuer`: the tokens of an issuer elsewhere, verified with the keys that it publishes.
//!
//! The discovery document is fetched in the background, every ten seconds until it is there, so a
//! server starts without its issuers, and an issuer may run on the server. Keys are fetched when a
//! token cannot be verified with those that are known and these have run out; at most once a
//! second, by one request for all. A document has a bounded size, and a fetch a time limit.

use crate::authentication::authenticator::Asked;
use crate::authentication::refusal::Refusal;
use crate::remote::{FetchClient, Fetched, RemoteError};
use kubist_authentication::{CompactJwt, JwtAuthenticator, KeySet};
use kubist_registry::User;
use parking_lot::Mutex;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex as Turn;
use tokio::time::Instant;

/// The pause between attempts to fetch the discovery document, as upstream.
const RETRY: Duration = Duration::from_secs(10);
/// The shortest time between two fetches of keys.
const REFRESH_MIN: Duration = Duration::from_secs(1);
/// Keys are fetched again this long before they run out, as upstream.
const EXPIRY_DELTA: Duration = Duration::from_secs(30);
/// The longest time for which keys are not fetched again, whatever the issuer says.
const EXPIRY_MAX: Duration = Duration::from_secs(24 * 3600);
/// Time limit of a fetch, as upstream.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of a document.
const DOCUMENT_BYTES_MAX: usize = 1 << 20;
const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// An issuer of tokens.
#[derive(Debug)]
pub(crate) struct JwtIssuer {
    authenticator: Arc<JwtAuthenticator>,
    client: FetchClient,
    /// Where the keys are, once it is known.
    keys_url: Mutex<Option<String>>,
    keys: Mutex<Arc<Keys>>,
    /// Held by the request that fetches keys.
    turn: Turn<()>,
}

#[derive(Debug, Default)]
struct Keys {
    set: KeySet,
    /// When they were fetched, and until when they are not fetched again.
    fetched: Option<Instant>,
    until: Option<Instant>,
}

/// What is read of the discovery document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

impl JwtIssuer {
    /// # Errors
    /// Its certificate authorities cannot be used.
    pub(crate) fn new(authenticator: Arc<JwtAuthenticator>) -> Result<Self, RemoteError> {
        let authorities = &authenticator.issuer().certificate_authority;
        Ok(Self {
            client: FetchClient::new(authorities.as_bytes())?,
            authenticator,
            keys_url: Mutex::default(),
            keys: Mutex::default(),
            turn: Turn::default(),
        })
    }

    /// Fetches the discovery document, and tries again until it is there. Returns at once if it is.
    ///
    /// # Cancel safety
    /// Can be dropped at any time.
    pub(crate) async fn discover(&self) {
        while self.keys_url.lock().is_none() {
            match self.discover_once().await {
                Ok(url) => {
                    *self.keys_url.lock() = Some(url);
                    return;
                }
                Err(why) => {
                    let issuer = &self.authenticator.issuer().url;
                    tracing::warn!(%issuer, %why, "oidc authenticator: initializing plugin");
                }
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn discover_once(&self) -> Result<String, String> {
        let issuer = self.authenticator.issuer();
        let url = match &*issuer.discovery_url {
            "" => format!(
                "{}{WELL_KNOWN}",
                issuer.url.strip_suffix('/').unwrap_or(&issuer.url)
            ),
            url => url.to_owned(),
        };
        let fetched = self.fetch(&url).await?;
        let document: Discovery = serde_json::from_slice(&fetched.body).map_err(|error| {
            format!("oidc: failed to decode provider discovery object: {error}")
        })?;
        if document.issuer != issuer.url {
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {:?} got {:?}",
                issuer.url, document.issuer
            ));
        }
        if document.jwks_uri.is_empty() {
            return Err("provider did not return JWKS URL".to_owned());
        }
        Ok(document.jwks_uri)
    }

    async fn fetch(&self, url: &str) -> Result<Fetched, String> {
        let fetched = self.client.get(url, TIMEOUT, DOCUMENT_BYTES_MAX).await;
        let fetched = fetched.map_err(|error| error.to_string())?;
        if fetched.status.is_success() {
            return Ok(fetched);
        }
        let body = String::from_utf8_lossy(&fetched.body);
        let shown: String = body.chars().take(256).collect();
        Err(format!("{}: {shown}", fetched.status))
    }

    /// Returns the user of a token; `None` if it is of another issuer.
    pub(crate) async fn authenticate(
        &self,
        token: &str,
        asked: &Asked<'_>,
    ) -> Result<Option<User>, Refusal> {
        if !self.authenticator.is_issuer_of(token) {
            return Ok(None);
        }
        let Some(url) = self.keys_url.lock().clone() else {
            return Err(Refusal::not_good("oidc: authenticator not initialized"));
        };
        let failed = |why: String| Refusal::NotGood(format!("oidc: verify token: {why}"));
        let jwt = CompactJwt::parse(token).map_err(|error| failed(error.to_string()))?;
        self.authenticator.check_algorithm(&jwt).map_err(failed)?;
        self.verify(&jwt, &url)
            .await
            .map_err(|why| failed(format!("failed to verify signature: {why}")))?;
        let claims = jwt.claims().map_err(|error| failed(error.to_string()))?;
        let user = self.authenticator.user(&claims, asked.cx.received);
        user.map(Some).map_err(Refusal::NotGood)
    }

    async fn verify(&self, jwt: &CompactJwt<'_>, url: &str) -> Result<(), String> {
        let unknown = || Err("failed to verify id token signature".to_owned());
        let known = Arc::clone(&self.keys.lock());
        // Whether they have run out does not matter, so that an issuer may be out of reach.
        if known.set.verifies(jwt) {
            return Ok(());
        }
        if !known.may_be_fetched() {
            return unknown();
        }
        let turn = self.turn.lock().await;
        let mut keys = Arc::clone(&self.keys.lock());
        if keys.may_be_fetched() {
            keys = Arc::new(self.fetch_keys(url).await?);
            *self.keys.lock() = Arc::clone(&keys);
        }
        drop(turn);
        if keys.set.verifies(jwt) {
            return Ok(());
        }
        unknown()
    }

    async fn fetch_keys(&self, url: &str) -> Result<Keys, String> {
        let now = Instant::now();
        let fetched = self.fetch(url).await;
        let fetched = fetched.and_then(|it| {
            let set = KeySet::parse(&it.body).map_err(|error| error.to_string())?;
            Ok((set, it))
        });
        match fetched {
            Ok((set, fetched)) => Ok(Keys {
                set,
                fetched: Some(now),
                until: fetched.fresh_for().map(|it| now + it.min(EXPIRY_MAX)),
            }),
            Err(why) => {
                // A failure counts as a fetch, so that the issuer is not asked again at once.
                let mut keys = self.keys.lock();
                *keys = Arc::new(Keys {
                    set: keys.set.clone(),
                    fetched: Some(now),
                    until: None,
                });
                Err(format!("fetching keys oidc: get keys failed {why}"))
            }
        }
    }
}

impl Keys {
    fn may_be_fetched(&self) -> bool {
        let now = Instant::now();
        let rests = self.fetched.is_some_and(|it| now < it + REFRESH_MIN);
        let counts = self.until.is_some_and(|it| now + EXPIRY_DELTA <= it);
        !rests && !counts
    }
}
