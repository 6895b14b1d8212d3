//! `EncryptionFile`: an encryption configuration file that is reloaded when it changes.
//!
//! It is polled, as upstream does, so it may be a link that is replaced, like mounted Secrets. A
//! file that cannot be used has no effect, and is logged and counted at each poll.

use kubist_registry::transformer::{EncryptionConfiguration, LiveEncryption};
use kubist_registry::{Registry, User};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::spawn_blocking;

/// A reloaded encryption configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct EncryptionFile {
    /// The file.
    pub path: PathBuf,
    /// The polling interval.
    pub look_every: Duration,
}

impl EncryptionFile {
    /// Upstream's polling interval.
    pub const LOOK_EVERY: Duration = Duration::from_secs(60);

    /// Reloads this file with upstream's interval.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            look_every: Self::LOOK_EVERY,
        }
    }

    /// Polls the file; never returns.
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
                    tracing::info!(%file, "the encryption configuration was reloaded");
                }
                Err(error) => {
                    live.note_failure(now());
                    let error: &dyn Error = &*error;
                    tracing::error!(
                        %file,
                        error,
                        "the encryption configuration is unusable; the previous one stays in effect"
                    );
                }
            }
        }
    }
}

/// Returns the configuration in the file, if it changed.
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
