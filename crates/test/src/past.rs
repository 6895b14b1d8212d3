//! `Past`: a server's state at an earlier revision.

use crate::assertion::observer::Observer;
use crate::error::TestError;
use crate::server::TestServer;
use crate::snapshot::Snapshot;
use kubist::apimachinery::wire::Ingest;
use kubist::apimachinery::{FieldSelector, ListOptions};
use kubist::client::Api;
use std::fmt;
use std::sync::Arc;

/// How a list matches a resource version exactly.
const EXACT: &str = "Exact";

/// The state of a server at a revision. It can be read as long as the server has not compacted it,
/// and forked: then the fork keeps it.
pub struct Past {
    observer: Arc<Observer>,
    snapshot: Snapshot,
    revision: u64,
}

impl Past {
    pub(crate) fn new(observer: Arc<Observer>, snapshot: Snapshot, revision: u64) -> Self {
        Self {
            observer,
            snapshot,
            revision,
        }
    }

    /// Returns the revision.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Reads an object as it was; none if it did not exist. A cluster-scoped one has the namespace
    /// `""`.
    ///
    /// # Errors
    /// The revision is compacted by now, or the kind is not served.
    pub async fn get<K: Ingest>(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<K>, TestError> {
        let options = ListOptions {
            field_selector: FieldSelector::equals("metadata.name", name),
            ..ListOptions::default()
        };
        let list = self.read(namespace, options).await?;
        Ok(list.into_iter().next())
    }

    /// Reads the objects of a namespace as they were, or of all namespaces for `""`.
    ///
    /// # Errors
    /// The revision is compacted by now, or the kind is not served.
    pub async fn list<K: Ingest>(&self, namespace: &str) -> Result<Vec<K>, TestError> {
        self.read(namespace, ListOptions::default()).await
    }

    async fn read<K: Ingest>(
        &self,
        namespace: &str,
        options: ListOptions,
    ) -> Result<Vec<K>, TestError> {
        let mut api: Api<K> = Api::all(self.observer.client.clone());
        if !namespace.is_empty() {
            api = api.in_namespace(namespace);
        }
        let options = ListOptions {
            resource_version: self.revision.to_string().into(),
            resource_version_match: EXACT.into(),
            ..options
        };
        match api.list(&options).await {
            Ok(list) => Ok(list.items),
            Err(error) if error.is_expired() || error.is_gone() => Err(TestError::Compacted {
                revision: self.revision,
                oldest: self.observer.oldest_revision(),
            }),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns a snapshot of this state, at the server's current date.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Starts a server with this state, as if nothing had been written since.
    ///
    /// # Errors
    /// The server cannot start.
    pub async fn fork(&self) -> Result<TestServer, TestError> {
        self.snapshot.start().await
    }
}

impl fmt::Debug for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Past").field(&self.revision).finish()
    }
}
