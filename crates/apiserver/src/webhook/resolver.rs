//! `ServiceResolver`: finds the network address of a service that serves a webhook.

use kubist_api::core::v1::{Endpoints, Service, ServicePort};
use kubist_api::discovery::v1::EndpointSlice;
use kubist_apimachinery::{AnyObject, KubeObject, Resource as _};
use kubist_registry::{BoxFuture, Lookup, WebhookService};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Finds the addresses of services.
pub trait ServiceResolver: fmt::Debug + Send + Sync {
    /// Returns an address of a service.
    ///
    /// # Errors
    /// The reason why it has none, for the error of the call.
    fn resolve<'a>(
        &'a self,
        service: &'a WebhookService,
        lookup: &'a dyn Lookup,
    ) -> BoxFuture<'a, Result<ServiceAddress, String>>;
}

/// The network address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "resolvers fill it in")]
pub struct ServiceAddress {
    /// An IP address or a DNS name.
    pub host: String,
    /// The port.
    pub port: u16,
}

/// Finds services as stored in the server: the first ready endpoint, else the cluster IP, else the
/// external name. A service that is not stored has its DNS name in the cluster.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct ClusterResolver;

/// The label of the slices of a service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The cluster IP of a service without one.
const HEADLESS: &str = "None";

impl ServiceResolver for ClusterResolver {
    fn resolve<'a>(
        &'a self,
        service: &'a WebhookService,
        lookup: &'a dyn Lookup,
    ) -> BoxFuture<'a, Result<ServiceAddress, String>> {
        Box::pin(resolve(service, lookup))
    }
}

async fn resolve(service: &WebhookService, lookup: &dyn Lookup) -> Result<ServiceAddress, String> {
    let (namespace, name, port) = (&service.namespace, &service.name, service.port);
    let found = get::<Service>(lookup, namespace, name).await?;
    let Some(found) = found.as_deref().and_then(typed::<Service>) else {
        return Ok(ServiceAddress {
            host: format!("{name}.{namespace}.svc"),
            port,
        });
    };
    if found.spec.type_ == *"ExternalName" {
        return Ok(ServiceAddress {
            host: found.spec.external_name.to_string(),
            port,
        });
    }
    let mut ports = found.spec.ports.iter();
    let of_port = ports
        .find(|it| it.port == i32::from(port))
        .ok_or_else(|| format!("no service port {port} found for service {name:?}"))?;
    if let Some(endpoint) = endpoint(service, of_port, lookup).await? {
        return Ok(endpoint);
    }
    let cluster_ip = &found.spec.cluster_ip;
    if cluster_ip.is_empty() || *cluster_ip == *HEADLESS {
        return Err(format!("no endpoints available for service {name:?}"));
    }
    Ok(ServiceAddress {
        host: cluster_ip.to_string(),
        port,
    })
}

/// Returns a ready endpoint of a port: from slices, else from the older form.
async fn endpoint(
    service: &WebhookService,
    of_port: &ServicePort,
    lookup: &dyn Lookup,
) -> Result<Option<ServiceAddress>, String> {
    let (namespace, name) = (&service.namespace, &service.name);
    let slices = lookup.list(EndpointSlice::GROUP, EndpointSlice::PLURAL, namespace);
    let slices = slices.await.map_err(|it| it.message.to_string())?;
    let slices = slices.iter().filter_map(|it| typed::<EndpointSlice>(&**it));
    for slice in slices.filter(|it| is_slice_of(it, name)) {
        let mut ports = slice.ports.iter();
        let port = ports.find(|it| it.name.as_deref().unwrap_or_default() == &*of_port.name);
        let mut ready = slice
            .endpoints
            .iter()
            .filter(|it| it.conditions.ready != Some(false));
        let address = ready.find_map(|it| it.addresses.first());
        if let (Some(Some(port)), Some(address)) = (port.map(|it| it.port), address) {
            return Ok(at(address, port));
        }
    }
    let found = get::<Endpoints>(lookup, namespace, name).await?;
    let subsets = found.as_deref().and_then(typed::<Endpoints>);
    for subset in subsets.into_iter().flat_map(|it| &it.subsets) {
        let mut ports = subset.ports.iter();
        let port = ports.find(|it| *it.name == *of_port.name);
        if let (Some(port), Some(address)) = (port, subset.addresses.first()) {
            return Ok(at(&address.ip, port.port));
        }
    }
    Ok(None)
}

fn at(host: &str, port: i32) -> Option<ServiceAddress> {
    Some(ServiceAddress {
        host: host.to_owned(),
        port: u16::try_from(port).ok()?,
    })
}

async fn get<K: KubeObject>(
    lookup: &dyn Lookup,
    namespace: &str,
    name: &str,
) -> Result<Option<Arc<dyn AnyObject>>, String> {
    let found = lookup.get(K::GROUP, K::PLURAL, namespace, name).await;
    found.map_err(|it| it.message.to_string())
}

/// Reports whether a slice has endpoints of a service.
pub(crate) fn is_slice_of(slice: &EndpointSlice, service: &str) -> bool {
    let label = slice.metadata.labels.get(SERVICE_NAME);
    label.is_some_and(|it| **it == *service)
}

/// Returns an object as one of a kind.
pub(crate) fn typed<K: KubeObject>(object: &dyn AnyObject) -> Option<&K> {
    let object: &dyn Any = object;
    object.downcast_ref()
}

#[cfg(test)]
mod tests;
