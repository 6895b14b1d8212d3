//! `Lock`: where the record of an election is. `LeaseLock`: a Lease of `coordination.k8s.io/v1`.

use futures_core::future::BoxFuture;
use kubist_api::coordination::v1::Lease;
use kubist_apimachinery::Str;
use kubist_client::{Ambient, Api, ApiError, Client};

/// Reads and writes the record of an election. client-go's `resourcelock.Interface`.
///
/// A test can implement it without a server. An update must fail with a conflict unless the stored
/// lease has the resource version of the given one.
pub trait Lock: Send + Sync + 'static {
    /// Reads the lease, not from a cache.
    fn get(&self) -> BoxFuture<'_, Result<Lease, ApiError>>;

    /// Creates the lease. The lock sets namespace and name.
    fn create(&self, lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>>;

    /// Replaces the lease that has this resource version.
    fn update(&self, lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>>;

    /// Returns the namespace and name for logs, such as `kube-system/my-operator`.
    fn describe(&self) -> Str;

    /// Returns where the dates in the record, and random numbers, come from. Default: the machine.
    fn ambient(&self) -> Ambient {
        Ambient::default()
    }
}

/// A lock that is a Lease, in one namespace and with one name.
///
/// The candidates need the verbs `get`, `create` and `update` on `leases`.
#[derive(Clone, Debug)]
pub struct LeaseLock {
    leases: Api<Lease>,
    name: Str,
}

impl LeaseLock {
    /// Returns a lock. It need not exist: the first leader creates it.
    pub fn new(client: Client, namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self {
            leases: Api::namespaced(client, namespace),
            name: name.into(),
        }
    }

    fn namespace(&self) -> Str {
        self.leases.namespace().cloned().unwrap_or_default()
    }
}

impl Lock for LeaseLock {
    fn get(&self) -> BoxFuture<'_, Result<Lease, ApiError>> {
        Box::pin(self.leases.get(&self.name))
    }

    fn create(&self, mut lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
        lease.metadata.namespace = self.namespace();
        lease.metadata.name = self.name.clone();
        Box::pin(async move { self.leases.create(&lease).await })
    }

    fn update(&self, lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
        Box::pin(async move { self.leases.replace(&lease).await })
    }

    fn describe(&self) -> Str {
        format!("{}/{}", self.namespace(), self.name).into()
    }

    fn ambient(&self) -> Ambient {
        self.leases.client().ambient().clone()
    }
}
