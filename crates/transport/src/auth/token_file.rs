//! A bearer token in a file that is rotated externally.
//!
//! The file is read at the first request and again when the copy is a minute old. If that fails,
//! the last token stays in use.

use super::{AuthError, Issued, bearer};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// The age at which the file is read again: client-go's minute less its leeway of 10 s.
const AGE_MAX: Duration = Duration::from_secs(50);

#[derive(Debug)]
pub(crate) struct TokenFile {
    path: PathBuf,
    /// Held while the file is read, so that concurrent requests share one read.
    last: Mutex<Option<(Issued, Instant)>>,
}

impl TokenFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            last: Mutex::new(None),
        }
    }

    pub(super) async fn issue(&self) -> Result<Issued, AuthError> {
        let mut last = self.last.lock().await;
        if let Some((issued, read_at)) = &*last
            && read_at.elapsed() < AGE_MAX
        {
            return Ok(issued.clone());
        }
        self.read(&mut last).await
    }

    pub(super) async fn renew(&self, refused: &Issued) -> Result<Option<Issued>, AuthError> {
        let mut last = self.last.lock().await;
        let issued = self.read(&mut last).await?;
        Ok(Some(issued).filter(|issued| issued.header != refused.header))
    }

    async fn read(&self, last: &mut Option<(Issued, Instant)>) -> Result<Issued, AuthError> {
        let now = Instant::now();
        match (self.header().await, &mut *last) {
            (Ok(header), _) => {
                let serial = last.as_ref().map_or(0, |(issued, _)| issued.serial + 1);
                let issued = Issued {
                    header: Some(header),
                    identity: None,
                    serial,
                };
                *last = Some((issued.clone(), now));
                Ok(issued)
            }
            (Err(_), Some((issued, read_at))) => {
                *read_at = now;
                Ok(issued.clone())
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn header(&self) -> Result<http::HeaderValue, AuthError> {
        let path = self.path.clone();
        let text = match tokio::fs::read_to_string(&path).await {
            Ok(text) => text,
            Err(error) => {
                return Err(AuthError::TokenFile {
                    path,
                    source: Arc::new(error),
                });
            }
        };
        let token = text.trim();
        if token.is_empty() {
            return Err(AuthError::TokenFileEmpty { path });
        }
        bearer(token).ok_or(AuthError::Token)
    }
}
