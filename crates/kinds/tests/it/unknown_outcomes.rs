//! Writes that storage applied although it returned an error: their allocations stay.

use crate::cancelled_requests::service;
use crate::fixture::Fixture;
use kubist_api::core::v1::Service;
use kubist_storage::KvWrite;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    Fault, FaultKind, Kv, KvFuture, KvWrapper, PutRequest, WriteError, WriteOutcome,
};
use std::fmt;
use std::sync::Arc;

/// An engine that applies the first write of a service, and returns an error.
#[derive(Clone)]
struct Fails(MemoryKv, FaultKind);

impl fmt::Debug for Fails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fails").finish_non_exhaustive()
    }
}

impl KvWrapper for Fails {
    fn inner(&self) -> &dyn Kv {
        &self.0
    }

    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        let fails = request.key.ends_with(b"/services/specs/default/a");
        KvFuture::boxed(async move {
            let done = self.0.put(request).await?;
            if fails {
                return Err(WriteError::Fault(Fault::new(self.1, "it was done")));
            }
            Ok(done)
        })
    }
}

#[tokio::test(start_paused = true)]
async fn allocations_stay_after_a_write_that_was_reported_as_failed() {
    // etcd applies the write that exceeds its quota, and returns that there is no space.
    for kind in [FaultKind::NoSpace, FaultKind::Timeout, FaultKind::Unknown] {
        let engine = Fails(MemoryKv::default(), kind);
        let fixture = Fixture::with(|config| config.kv = Arc::new(engine)).await;
        let refused = fixture.try_create(service("a", 50, 30_100)).await;
        assert_eq!(refused.expect_err("it fails").code, 500, "{kind:?}");
        let stored: Service = fixture.get("a").await.expect("it was written");
        assert_eq!(stored.spec.cluster_ip, "10.96.0.50");
        let other = fixture.try_create(service("b", 50, 30_200)).await;
        assert!(other.is_err(), "{kind:?}: a has the address");
        let other = fixture.try_create(service("c", 51, 30_100)).await;
        assert!(other.is_err(), "{kind:?}: a has the port");
    }
}
