//! `AuthenticationFile`: upstream's file of JWT issuers, followed while the server runs.
//!
//! It is polled, as upstream does in addition to its notifications. New issuers are believed once
//! all of them are found. A file that cannot be used has no effect, and is logged. Which requests
//! may be anonymous is fixed.

use crate::followed_file::FollowedFile;
use kubist_apimachinery::with_causes;
use kubist_apiserver::JwtIssuers;
use kubist_authentication::{
    AnonymousAuthConfig, AuthenticationConfiguration, AuthenticationConfigurationError,
};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A followed file of JWT issuers.
#[derive(Clone, Debug)]
pub struct AuthenticationFile {
    file: FollowedFile,
    /// The issuers of service accounts, which it must not name.
    disallowed_issuers: Vec<String>,
    /// What it said at first.
    anonymous: Option<AnonymousAuthConfig>,
    look_every: Duration,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthenticationFileError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Its contents cannot be used.
    #[error("cannot use {}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: AuthenticationConfigurationError,
    },
}

impl AuthenticationFile {
    /// Upstream's polling interval.
    pub const LOOK_EVERY: Duration = Duration::from_secs(60);

    /// Reads a file. `disallowed_issuers` are those of service accounts.
    ///
    /// # Errors
    /// It cannot be read or used.
    pub fn read(
        path: &Path,
        disallowed_issuers: &[String],
    ) -> Result<(Self, AuthenticationConfiguration), AuthenticationFileError> {
        let file = FollowedFile::read(path).map_err(|source| AuthenticationFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        let configuration = AuthenticationConfiguration::parse(file.text(), disallowed_issuers);
        let configuration = configuration.map_err(|source| AuthenticationFileError::Invalid {
            path: path.to_owned(),
            source,
        })?;
        let followed = Self {
            file,
            disallowed_issuers: disallowed_issuers.to_vec(),
            anonymous: configuration.anonymous.clone(),
            look_every: Self::LOOK_EVERY,
        };
        Ok((followed, configuration))
    }

    /// Polls it at another interval.
    #[must_use]
    pub fn look_every(self, look_every: Duration) -> Self {
        Self { look_every, ..self }
    }

    /// Polls the file; never returns.
    pub(crate) async fn follow(mut self, issuers: JwtIssuers) {
        loop {
            tokio::time::sleep(self.look_every).await;
            let looked = self.look(&issuers).await;
            let file = self.file.path().display();
            match looked {
                Ok(false) => {}
                Ok(true) => tracing::info!(%file, "the authentication configuration was reloaded"),
                Err(error) => {
                    let why = with_causes(&*error);
                    tracing::error!(
                        %file,
                        %why,
                        "the authentication configuration is unusable; the previous one stays in \
                         effect"
                    );
                }
            }
        }
    }

    /// Reports whether the file has changed and was used.
    async fn look(&mut self, issuers: &JwtIssuers) -> Result<bool, Box<dyn Error + Send + Sync>> {
        let Some(text) = self.file.changed().await? else {
            return Ok(false);
        };
        let parsed = AuthenticationConfiguration::parse(&text, &self.disallowed_issuers);
        let usable: Result<_, Box<dyn Error + Send + Sync>> = match parsed {
            Ok(it) if it.anonymous == self.anonymous => Ok(it),
            Ok(_) => Err("anonymous: Forbidden: changed from initial configuration file".into()),
            Err(error) => Err(error.into()),
        };
        match usable {
            Ok(new) => {
                // Issuers that cannot be found now may be found later.
                issuers.replace(new.jwt).await?;
                self.file.settle(text);
                Ok(true)
            }
            Err(error) => {
                self.file.settle(text);
                Err(error)
            }
        }
    }
}
