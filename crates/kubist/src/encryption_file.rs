//! `EncryptionFile`: a file of encryption that is read again when it has changed.
//!
//! It is looked at from time to time, as upstream does; no news of the file system is needed, so
//! it may be a link that is replaced, as mounted secrets are. What cannot be used changes nothing,
//! and is told and counted at each look.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kubist_registry::transformer::{EncryptionConfiguration, LiveEncryption};
use kubist_registry::{Registry, User};
use tokio::task::spawn_blocking;

/// A file of encryption that is followed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct EncryptionFile {
    /// The file.
    pub path: PathBuf,
    /// How often it is looked at.
    pub look_every: Duration,
}

impl EncryptionFile {
    /// How often upstream looks.
    pub const LOOK_EVERY: Duration = Duration::from_secs(1 * 60);

    /// This file, looked at as often as upstream does.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            look_every: Self::LOOK_EVERY,
        }
    }

    /// Follows the file; never returns.
    pub(crate) async fn follow(&self, live: &LiveEncryption, registry: &Registry) {
        let now = || registry.request(User::default()).received.as_secs();
        loop {
            tokio::time::sleep(self.look_every).await;
            let (path, known) = (self.path.clone(), live.current());
            let looked = spawn_blocking(move || look(&path, known.hash())).await;
            let file = self.path.display();
            match looked.map_err(Box::from).flatten() {
                Ok(None) => {}
                Ok(Some(configuration)) => {
                    live.replace(configuration, now());
                    tracing::info!(%file, "the configuration of encryption was replaced");
                }
                Err(error) => {
                    live.note_failure(now());
                    let error: &dyn Error = &*error;
                    tracing::error!(
                        %file,
                        error,
                        "the configuration of encryption cannot be used; the one before stays"
                    );
                }
            }
        }
    }
}

/// What the file says, if that is not what is known.
fn look(
    path: &Path,
    known: &str,
) -> Result<Option<EncryptionConfiguration>, Box<dyn Error + Send + Sync>> {
    let text = std::fs::read(path)?;
    if EncryptionConfiguration::hash_of(&text) == known {
        return Ok(None);
    }
    Ok(Some(EncryptionConfiguration::parse(&text)?))
}
