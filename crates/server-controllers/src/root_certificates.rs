//! The controller of root certificates: every active namespace has a `ConfigMap` named
//! `kube-root-ca.crt` with the certificate authority of the API server, as upstream's controller
//! makes it. Pods mount it to know the server.
//!
//! A change of it is undone, unless a kube-controller-manager made it: that has an authority of its
//! own, and neither would ever stop.

use crate::created::{self, ACTIVE};
use crate::outdated::ignore_outdated;
use kubist_api::core::v1::{ConfigMap, Namespace};
use kubist_apimachinery::{ObjectName, Str};
use kubist_cache::{Lister, Selection};
use kubist_client::{Api, Client};
use kubist_controller::{Action, Controller, Error, Manager, ManagerError, Reconciler, Stats};
use kubist_informers::SharedInformerFactory;
use tokio_util::sync::CancellationToken;

const NAME: &str = "kube-root-ca.crt";
const KEY: &str = "ca.crt";
/// As upstream's, of which nothing but its presence is checked.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
     endpoints such as the internal service IP or kubernetes.default.svc. No other usage is \
     guaranteed across distributions of Kubernetes clusters.",
);
/// The field manager of upstream's controllers.
const UPSTREAM: &str = "kube-controller-manager";

/// Runs until `token` is cancelled, with certificates in PEM.
///
/// # Errors
/// Namespaces or `ConfigMap`s could not be listed for two minutes.
pub async fn run(
    client: Client,
    certificates: String,
    token: CancellationToken,
) -> Result<Stats, ManagerError> {
    let factory = SharedInformerFactory::new(client.clone());
    let namespaces = factory.informer::<Namespace>();
    let named = Selection::all().with_fields(format!("metadata.name={NAME}"));
    let maps = factory.informer_of::<ConfigMap>(&named);
    let controller = Controller::new("root-ca-cert-publisher", &namespaces)
        .watches(&maps, |map: &ConfigMap| {
            vec![ObjectName::cluster(map.metadata.namespace.clone())]
        });
    let reconciler = RootCertificates {
        client,
        certificates: certificates.into(),
        namespaces: namespaces.lister_unsynced(),
        maps: maps.lister_unsynced(),
    };
    let manager = Manager::new(factory).with(controller, reconciler);
    let monitors = manager.monitors();
    manager.run(token).await?;
    let stats = monitors.first().map(kubist_controller::Monitor::stats);
    Ok(stats.unwrap_or_default())
}

struct RootCertificates {
    client: Client,
    certificates: Str,
    namespaces: Lister<Namespace>,
    maps: Lister<ConfigMap>,
}

impl Reconciler for RootCertificates {
    async fn reconcile(&self, key: ObjectName) -> Result<Action, Error> {
        let namespace = self.namespaces.get(&key);
        if namespace.is_none_or(|it| it.status.phase != *ACTIVE) {
            return Ok(Action::done());
        }
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), key.name.clone());
        let Some(found) = self.maps.get(&ObjectName::new(key.name, NAME)) else {
            let mut map = ConfigMap::default();
            map.metadata.name = NAME.into();
            fill(&mut map, &self.certificates);
            created::unless_needless(api.create(&map).await)?;
            return Ok(Action::done());
        };
        if is_right(&found, &self.certificates) || is_upstreams(&found) {
            return Ok(Action::done());
        }
        let mut map = ConfigMap::clone(&found);
        fill(&mut map, &self.certificates);
        ignore_outdated(api.replace(&map).await)?;
        Ok(Action::done())
    }
}

fn fill(map: &mut ConfigMap, certificates: &Str) {
    map.data.clear();
    map.data.insert(KEY.into(), certificates.clone());
    let (key, description) = DESCRIPTION;
    map.metadata
        .annotations
        .insert(key.into(), description.into());
}

fn is_right(map: &ConfigMap, certificates: &Str) -> bool {
    let described = map.metadata.annotations.get(DESCRIPTION.0);
    let data = map.data.len() == 1 && map.data.get(KEY) == Some(certificates);
    data && described.is_some_and(|it| !it.is_empty())
}

fn is_upstreams(map: &ConfigMap) -> bool {
    map.metadata
        .managed_fields
        .iter()
        .any(|it| it.manager == *UPSTREAM)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ManagedFieldsEntry;

    #[test]
    fn data_and_a_description_make_it_right() {
        let certificates = Str::from("pem");
        let mut map = ConfigMap::default();
        assert!(!is_right(&map, &certificates));
        fill(&mut map, &certificates);
        assert!(is_right(&map, &certificates));
        map.data.insert("other".into(), "x".into());
        assert!(!is_right(&map, &certificates));
        fill(&mut map, &certificates);
        assert!(is_right(&map, &certificates));
        assert!(!is_right(&map, &"other".into()));
        map.metadata
            .annotations
            .insert(DESCRIPTION.0.into(), "mine".into());
        assert!(is_right(&map, &certificates));
        map.metadata.annotations.clear();
        assert!(!is_right(&map, &certificates));
    }

    #[test]
    fn what_a_controller_manager_wrote_is_its_own() {
        let mut map = ConfigMap::default();
        let mut entry = ManagedFieldsEntry {
            manager: "kubist".into(),
            ..ManagedFieldsEntry::default()
        };
        map.metadata.managed_fields = vec![entry.clone()];
        assert!(!is_upstreams(&map));
        entry.manager = UPSTREAM.into();
        map.metadata.managed_fields.push(entry);
        assert!(is_upstreams(&map));
    }
}
