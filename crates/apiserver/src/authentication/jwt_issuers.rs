//! `JwtIssuers`: the issuers elsewhere whose tokens a server believes. They may be replaced while
//! it runs.

use crate::authentication::authenticator::Asked;
use crate::authentication::jwt_issuer::JwtIssuer;
use crate::authentication::refusal::Refusal;
use crate::remote::RemoteError;
use futures_util::future::join_all;
use kubist_authentication::JwtAuthenticator;
use kubist_registry::User;
use parking_lot::RwLock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// How long new issuers may take to be found, as upstream.
const FIND_TIMEOUT: Duration = Duration::from_secs(60);

/// The issuers elsewhere whose tokens a running server believes. Clones are those of the same
/// server.
#[derive(Clone, Debug)]
pub struct JwtIssuers(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    current: RwLock<Arc<[JwtIssuer]>>,
    replaced: Notify,
}

/// Why issuers are not replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceIssuersError {
    /// The certificate authorities of one cannot be used.
    #[error("the certificate authorities of an issuer cannot be used: {reason}")]
    Authorities {
        /// What is wrong with them.
        reason: String,
    },
    /// At least one of them cannot be found. The log says which and why.
    #[error("not every issuer was found within {} s", FIND_TIMEOUT.as_secs())]
    NotFound,
}

impl JwtIssuers {
    /// # Errors
    /// The certificate authorities of one cannot be used.
    pub(crate) fn new(configured: &[Arc<JwtAuthenticator>]) -> Result<Self, RemoteError> {
        Ok(Self(Arc::new(Shared {
            current: RwLock::new(issuers(configured)?),
            replaced: Notify::new(),
        })))
    }

    fn current(&self) -> Arc<[JwtIssuer]> {
        Arc::clone(&self.0.current.read())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.current.read().is_empty()
    }

    /// Finds the issuers of the start. Returns when all are found or they are replaced.
    ///
    /// # Cancel safety
    /// Can be dropped at any time.
    pub(crate) async fn discover(&self) {
        let current = self.current();
        tokio::select! {
            biased;
            () = self.0.replaced.notified() => {}
            _ = join_all(current.iter().map(JwtIssuer::discover)) => {}
        }
    }

    /// Replaces them all, as soon as each of the new ones is found. Until then, and after an error,
    /// those that there were are believed.
    ///
    /// # Errors
    /// The new ones cannot be used, or not all are found within a minute.
    ///
    /// # Cancel safety
    /// Can be dropped at any time; then nothing is replaced.
    pub async fn replace(
        &self,
        new: impl IntoIterator<Item = JwtAuthenticator>,
    ) -> Result<(), ReplaceIssuersError> {
        let new: Vec<_> = new.into_iter().map(Arc::new).collect();
        let new = issuers(&new).map_err(|error| ReplaceIssuersError::Authorities {
            reason: error.to_string(),
        })?;
        let found = join_all(new.iter().map(JwtIssuer::discover));
        let found = tokio::time::timeout(FIND_TIMEOUT, found).await;
        found.map_err(|_| ReplaceIssuersError::NotFound)?;
        *self.0.current.write() = new;
        self.0.replaced.notify_one();
        Ok(())
    }

    /// Returns the user of a token; `None` if it is of none of these issuers. As upstream, the
    /// issuer that a token names is the only one for it.
    pub(crate) async fn authenticate(
        &self,
        token: &str,
        asked: &Asked<'_>,
    ) -> Result<Option<User>, Refusal> {
        for issuer in &*self.current() {
            if let Some(user) = issuer.authenticate(token, asked).await? {
                return Ok(Some(user));
            }
        }
        Ok(None)
    }
}

fn issuers(configured: &[Arc<JwtAuthenticator>]) -> Result<Arc<[JwtIssuer]>, RemoteError> {
    let issuers = configured.iter().map(|it| JwtIssuer::new(Arc::clone(it)));
    issuers.collect()
}
