//! The endpoints of the service `kubernetes`: the API servers that have a lease, as upstream.

use super::system_objects::{create_or_update, named};
use super::{Cluster, bootstrap};
use kubist_api::core::v1::{EndpointAddress, EndpointPort, EndpointSubset, Endpoints};
use kubist_api::discovery::v1 as discovery;
use kubist_apimachinery::{GroupResource, ListOptions, Status, Str};
use kubist_registry::storage::{
    Allowed, Change, Changed, DeleteRequest, ListRequest, PutOptions, Scope, Storage,
    UpdateRequest as StorageUpdate,
};
use kubist_registry::{
    Announcement, BoxFuture, PlainStrategy, Predicate, RawStorage, StorageError, Stored, Stores,
};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

/// The interval at which they are reconciled, as upstream.
pub(super) const ENDPOINTS_EVERY: Duration = Duration::from_secs(10);
/// The lease duration of a server, as upstream.
const LEASE: Duration = Duration::from_secs(15);
/// The resource of the server leases, as upstream.
pub(super) const LEASES: &str = "masterleases";
/// The service through which pods reach the API servers, and its endpoints.
const SERVICE: &str = "kubernetes";

/// Renews the lease of this server, and updates the service endpoints to all live servers.
pub(super) async fn renew(
    stores: &Arc<Stores>,
    cluster: &Cluster,
    announcement: &Announcement,
) -> Result<(), Status> {
    let (Some(address), Some(leases)) = (announcement.address, &cluster.leases) else {
        return Ok(());
    };
    let renewed = renew_lease(leases, address).await;
    renewed.map_err(Status::internal_error)?;
    publish(stores, &live(leases).await?, announcement.port).await
}

/// Ends the lease of this server, and removes it from the service endpoints. The last server stays
/// there, as upstream: no endpoints at all would help nobody.
pub(super) async fn withdraw(
    stores: &Arc<Stores>,
    cluster: &Cluster,
    announcement: &Announcement,
) -> Result<(), Status> {
    let (Some(address), Some(leases)) = (announcement.address, &cluster.leases) else {
        return Ok(());
    };
    let key = leases.keys().key("", &address.to_string());
    let key = key.map_err(Status::internal_error)?;
    let always: &Allowed<'_> = &|_| Ok(());
    match leases.delete(key, DeleteRequest::default(), always).await {
        Ok(_) | Err(StorageError::NotFound { .. }) => {}
        Err(error) => return Err(Status::internal_error(error)),
    }
    let others = live(leases).await?;
    if others.is_empty() {
        return Ok(());
    }
    publish(stores, &others, announcement.port).await
}

/// Makes these addresses the endpoints of the service.
async fn publish(stores: &Arc<Stores>, addresses: &[Str], port: u16) -> Result<(), Status> {
    let cx = &bootstrap::request(stores);
    let subset = EndpointSubset {
        addresses: addresses.iter().map(endpoint_address).collect(),
        ports: vec![EndpointPort {
            name: "https".into(),
            port: i32::from(port),
            protocol: "TCP".into(),
            ..EndpointPort::default()
        }],
        ..EndpointSubset::default()
    };
    let old = Endpoints {
        metadata: named("default", SERVICE),
        ..Endpoints::default()
    };
    create_or_update(stores, cx, old, |it| {
        it.subsets = vec![subset.clone()];
        let skip = "endpointslice.kubernetes.io/skip-mirror";
        it.metadata.labels.insert(skip.into(), "true".into());
    })
    .await?;
    let slice = discovery::EndpointSlice {
        metadata: named("default", SERVICE),
        address_type: "IPv4".into(),
        ..discovery::EndpointSlice::default()
    };
    create_or_update(stores, cx, slice, |it| {
        let of = "kubernetes.io/service-name";
        it.metadata.labels.insert(of.into(), SERVICE.into());
        it.endpoints = addresses.iter().map(endpoint).collect();
        it.ports = vec![discovery::EndpointPort {
            name: Some("https".into()),
            protocol: Some("TCP".into()),
            port: Some(i32::from(port)),
            ..discovery::EndpointPort::default()
        }];
    })
    .await
}

fn endpoint_address(ip: &Str) -> EndpointAddress {
    EndpointAddress {
        ip: ip.clone(),
        ..EndpointAddress::default()
    }
}

fn endpoint(ip: &Str) -> discovery::Endpoint {
    discovery::Endpoint {
        addresses: vec![ip.clone()],
        conditions: discovery::EndpointConditions {
            ready: Some(true),
            ..discovery::EndpointConditions::default()
        },
        ..discovery::Endpoint::default()
    }
}

/// A lease renewal. Each one is written, which extends the lease.
struct Renewal(Str);

impl Change for Renewal {
    fn attempt<'a>(
        &'a mut self,
        current: Option<&'a Stored>,
    ) -> BoxFuture<'a, Result<Changed, Status>> {
        Box::pin(std::future::ready(self.renewed(current)))
    }
}

impl Renewal {
    fn renewed(&self, current: Option<&Stored>) -> Result<Changed, Status> {
        let current = current.map(Stored::object).transpose()?;
        let mut lease = Endpoints::default();
        lease.metadata.generation = current.map_or(0, |it| it.meta().generation) + 1;
        lease.subsets.push(EndpointSubset {
            addresses: vec![endpoint_address(&self.0)],
            ..EndpointSubset::default()
        });
        let options = PutOptions {
            ttl: Some(LEASE),
            ..PutOptions::default()
        };
        Ok(Changed::Write(Box::new(lease), options))
    }
}

async fn renew_lease(leases: &RawStorage, address: Ipv4Addr) -> Result<(), StorageError> {
    let address = address.to_string();
    let key = leases.keys().key("", &address)?;
    let request = StorageUpdate {
        missing_ok: true,
        ..StorageUpdate::default()
    };
    let mut renewal = Renewal(address.into());
    leases.update(key, request, &mut renewal).await.map(drop)
}

/// Returns the addresses of all live servers, sorted.
async fn live(leases: &RawStorage) -> Result<Vec<Str>, Status> {
    let request = ListRequest {
        resource: &GroupResource::new("", LEASES),
        scope: Scope::default(),
        predicate: &Predicate::everything(Arc::new(PlainStrategy::default())),
        options: &ListOptions::default(),
    };
    let mut addresses = Vec::new();
    for stored in leases.list(request).await?.items {
        let object: &dyn Any = &**stored.object()?;
        let lease = object.downcast_ref::<Endpoints>();
        let subsets = lease.into_iter().flat_map(|it| &it.subsets);
        addresses.extend(subsets.flat_map(|it| &it.addresses).map(|it| it.ip.clone()));
    }
    addresses.sort();
    addresses.dedup();
    Ok(addresses)
}
