//! A lease in memory, which can be slow, absent or out of reach.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use kubist_api::coordination::v1::Lease;
use kubist_apimachinery::{ApiResource, GroupResource, Status, Str};
use kubist_client::ApiError;
use kubist_leader_election::Lock;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryLock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) lease: Option<Lease>,
    version: u64,
    pub(crate) requests: Vec<&'static str>,
    /// Requests hang.
    pub(crate) is_out_of_reach: bool,
    /// How long an answer takes.
    pub(crate) latency: Duration,
    pub(crate) panics: bool,
}

impl MemoryLock {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while it is held")
    }

    pub(crate) fn holder(&self) -> Option<Str> {
        let holder = self.state().lease.as_ref()?.spec.holder_identity.clone();
        holder.filter(|it| !it.is_empty())
    }

    fn serve(
        &self,
        verb: &'static str,
        act: impl FnOnce(&mut State) -> Result<Lease, Box<Status>> + Send + 'static,
    ) -> BoxFuture<'_, Result<Lease, ApiError>> {
        async move {
            let (hangs, latency) = {
                let mut state = self.state();
                state.requests.push(verb);
                (state.is_out_of_reach, state.latency)
            };
            assert!(!self.state().panics, "on purpose");
            if hangs {
                std::future::pending::<()>().await;
            }
            let answer = act(&mut self.state());
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
            answer.map_err(ApiError::Status)
        }
        .boxed()
    }
}

fn leases() -> GroupResource {
    ApiResource::of::<Lease>().gvr().group_resource()
}

impl State {
    fn store(&mut self, mut lease: Lease) -> Lease {
        self.version += 1;
        lease.metadata.resource_version = self.version.to_string().into();
        self.lease = Some(lease.clone());
        lease
    }
}

impl Lock for MemoryLock {
    fn get(&self) -> BoxFuture<'_, Result<Lease, ApiError>> {
        self.serve("get", |state| {
            let lease = state.lease.clone();
            lease.ok_or_else(|| Status::not_found(&leases(), "operator").into())
        })
    }

    fn create(&self, lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
        self.serve("create", move |state| match state.lease {
            Some(_) => Err(Status::already_exists(&leases(), "operator").into()),
            None => Ok(state.store(lease)),
        })
    }

    fn update(&self, lease: Lease) -> BoxFuture<'_, Result<Lease, ApiError>> {
        self.serve("update", move |state| {
            let version = state.lease.as_ref().map(|it| &it.metadata.resource_version);
            if version == Some(&lease.metadata.resource_version) {
                return Ok(state.store(lease));
            }
            Err(Status::conflict(&leases(), "operator", "it has changed").into())
        })
    }

    fn describe(&self) -> Str {
        "shop/operator".into()
    }
}
