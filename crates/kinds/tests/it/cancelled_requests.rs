//! Requests that are cancelled between writes: their allocations are either used or released.

use crate::fixture::Fixture;
use kubist_api::core::v1::{Service, ServicePort};
use kubist_apimachinery::DeleteOptions;
use kubist_storage::memory::MemoryKv;
use kubist_storage::{
    DeleteRequest, GetResponse, Kv, KvFuture, KvWrapper, PutRequest, RangeRequest, RangeResponse,
    ReadError, Revision, WriteError, WriteOutcome,
};
use kubist_storage::{KvRead, KvWrite};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The latency of the engine before it begins, and before it responds.
const LATENCY: Duration = Duration::from_millis(2);
/// A duration that exceeds any request, and the cleanup after a cancelled one.
const AT_LAST: Duration = Duration::from_secs(1);

/// An engine that waits before each operation, and again before its response.
#[derive(Clone)]
struct Slow(MemoryKv);

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slow").finish_non_exhaustive()
    }
}

async fn slowly<T>(work: impl Future<Output = T>) -> T {
    sleep(LATENCY).await;
    let done = work.await;
    sleep(LATENCY).await;
    done
}

impl KvWrapper for Slow {
    fn inner(&self) -> &dyn Kv {
        &self.0
    }

    fn get<'a>(
        &'a self,
        key: &'a [u8],
        at: Option<Revision>,
    ) -> KvFuture<'a, Result<GetResponse, ReadError>> {
        KvFuture::boxed(async move { slowly(async { self.0.get(key, at).await }).await })
    }

    fn range(&self, request: RangeRequest) -> KvFuture<'_, Result<RangeResponse, ReadError>> {
        KvFuture::boxed(async move { slowly(async { self.0.range(request).await }).await })
    }

    fn put(&self, request: PutRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move { slowly(async { self.0.put(request).await }).await })
    }

    fn delete(&self, request: DeleteRequest) -> KvFuture<'_, Result<WriteOutcome, WriteError>> {
        KvFuture::boxed(async move { slowly(async { self.0.delete(request).await }).await })
    }
}

async fn slow() -> Fixture {
    Fixture::with(|config| config.kv = Arc::new(Slow(MemoryKv::default()))).await
}

pub(crate) fn service(name: &str, last: u8, node_port: i32) -> Service {
    let mut service = Service::default();
    service.metadata.name = name.into();
    service.spec.type_ = "NodePort".into();
    service.spec.cluster_ip = format!("10.96.0.{last}").into();
    service.spec.session_affinity = "None".into();
    service.spec.ports.push(ServicePort {
        protocol: "TCP".into(),
        port: 80,
        node_port,
        ..ServicePort::default()
    });
    service
}

/// Which outcomes the requests of a test had.
#[derive(Default)]
struct Seen {
    /// Cancelled, and nothing was written.
    undone: bool,
    /// Cancelled, but written.
    done: bool,
}

/// Cancels a request at later and later moments, until one is answered.
async fn at_each_moment(mut request: impl AsyncFnMut(Duration, &mut Seen) -> bool) -> Seen {
    let mut seen = Seen::default();
    let mut wait = Duration::from_micros(500);
    while !request(wait, &mut seen).await {
        wait += LATENCY / 2;
        assert!(wait < AT_LAST, "it comes to an end");
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_create_keeps_only_allocations_that_it_uses() {
    let seen = at_each_moment(async |wait, seen| {
        let fixture = slow().await;
        let created = timeout(wait, fixture.try_create(service("a", 50, 30_100))).await;
        sleep(AT_LAST).await;
        let exists = fixture.get::<Service>("a").await.is_ok();
        if let Ok(created) = created {
            created.expect("it is valid");
            return true;
        }
        *if exists {
            &mut seen.done
        } else {
            &mut seen.undone
        } = true;
        let again = fixture.try_create(service("b", 50, 30_100)).await;
        assert_eq!(again.is_err(), exists, "{wait:?}: only what a service has");
        false
    })
    .await;
    assert!(seen.undone && seen.done, "before it wrote, and after");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_update_has_the_old_ports_or_the_new() {
    let seen = at_each_moment(async |wait, seen| {
        let fixture = slow().await;
        fixture.create(service("a", 50, 30_100)).await;
        let updated = timeout(wait, fixture.put(service("a", 50, 30_200))).await;
        sleep(AT_LAST).await;
        let now: Service = fixture.get("a").await.expect("it is there");
        let now = now.spec.ports[0].node_port;
        if let Ok(updated) = updated {
            updated.expect("it is valid");
            return true;
        }
        *if now == 30_200 {
            &mut seen.done
        } else {
            &mut seen.undone
        } = true;
        let free = 30_300 - now + 30_000;
        let other = fixture.try_create(service("b", 51, free)).await;
        other.unwrap_or_else(|status| panic!("{wait:?}, {now}: {status}"));
        let other = fixture.try_create(service("c", 52, now)).await;
        assert!(other.is_err(), "{wait:?}: it has {now}");
        false
    })
    .await;
    assert!(seen.undone && seen.done, "before it wrote, and after");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_delete_releases_all_allocations_if_it_deletes() {
    let seen = at_each_moment(async |wait, seen| {
        let fixture = slow().await;
        fixture.create(service("a", 50, 30_100)).await;
        let options = DeleteOptions::default();
        let deleted = timeout(wait, fixture.delete::<Service>("a", options)).await;
        sleep(AT_LAST).await;
        let exists = fixture.get::<Service>("a").await.is_ok();
        if let Ok(deleted) = deleted {
            deleted.expect("it is there");
            return true;
        }
        *if exists {
            &mut seen.undone
        } else {
            &mut seen.done
        } = true;
        let again = fixture.try_create(service("b", 50, 30_100)).await;
        assert_eq!(again.is_err(), exists, "{wait:?}: only what a service has");
        false
    })
    .await;
    assert!(seen.done && !seen.undone, "once begun, it goes on");
}
