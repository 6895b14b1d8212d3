//! What a Pod refers to: Secrets, ConfigMaps, claims, its ServiceAccount.

use super::related::{Related, RelatedKind};
use kubist_api::core::v1::{EnvFromSource, EnvVar, PersistentVolume, Pod, SecretReference, Volume};
use kubist_apimachinery::Str;
use std::collections::BTreeSet;

/// The annotation of Pods that mirror one of a kubelet's own. A kubelet makes them, so they give it
/// no rights.
const MIRROR: &str = "kubernetes.io/config.mirror";

struct References<'a> {
    pod: &'a Pod,
    found: BTreeSet<Related>,
}

/// Returns what a Pod refers to.
pub(crate) fn of_pod(pod: &Pod) -> BTreeSet<Related> {
    let mut references = References {
        pod,
        found: BTreeSet::new(),
    };
    if !pod.metadata.annotations.contains_key(MIRROR) {
        references.collect();
    }
    references.found
}

/// Returns the Secrets of a volume that a kubelet needs.
pub(crate) fn of_volume(volume: &PersistentVolume) -> BTreeSet<Related> {
    let spec = &volume.spec;
    let Some(claim) = &spec.claim_ref else {
        return BTreeSet::new();
    };
    let in_claims = |it: &SecretReference| {
        let namespace = Some(&it.namespace).filter(|it| !it.is_empty());
        (
            namespace.unwrap_or(&claim.namespace).clone(),
            it.name.clone(),
        )
    };
    let own = |it: &SecretReference| (it.namespace.clone(), it.name.clone());
    let azure = spec.azure_file.iter().map(|it| {
        let namespace = it.secret_namespace.clone().filter(|it| !it.is_empty());
        let namespace = namespace.unwrap_or_else(|| claim.namespace.clone());
        (namespace, it.secret_name.clone())
    });
    let cephfs = spec.cephfs.iter().flat_map(|it| &it.secret_ref);
    let flex = spec.flex_volume.iter().flat_map(|it| &it.secret_ref);
    let rbd = spec.rbd.iter().flat_map(|it| &it.secret_ref);
    let scale_io = spec.scale_io.iter().flat_map(|it| &it.secret_ref);
    let iscsi = spec.iscsi.iter().flat_map(|it| &it.secret_ref);
    let shared = cephfs.chain(flex).chain(rbd).chain(scale_io).chain(iscsi);
    let cinder = spec.cinder.iter().flat_map(|it| &it.secret_ref);
    let csi = spec.csi.iter().flat_map(|it| {
        let refs = [
            &it.node_publish_secret_ref,
            &it.node_stage_secret_ref,
            &it.node_expand_secret_ref,
        ];
        refs.into_iter().flatten()
    });
    let storageos = spec.storageos.iter().flat_map(|it| &it.secret_ref);
    let storageos = storageos.map(|it| (it.namespace.clone(), it.name.clone()));
    let all = azure
        .chain(shared.map(|it| in_claims(it)))
        .chain(cinder.chain(csi).map(|it| own(it)))
        .chain(storageos);
    let named = all.filter(|(_, name)| !name.is_empty());
    let secrets = named.map(|(namespace, name)| Related {
        kind: RelatedKind::Secret,
        namespace,
        name,
    });
    secrets.collect()
}

impl References<'_> {
    fn collect(&mut self) {
        let spec = &self.pod.spec;
        self.add(RelatedKind::ServiceAccount, &spec.service_account_name);
        for secret in &spec.image_pull_secrets {
            self.add(RelatedKind::Secret, &secret.name);
        }
        for container in spec.init_containers.iter().chain(&spec.containers) {
            self.of_environment(&container.env, &container.env_from);
        }
        for container in &spec.ephemeral_containers {
            self.of_environment(&container.env, &container.env_from);
        }
        for volume in &spec.volumes {
            self.of_volume(volume);
        }
        self.resource_claims();
    }

    fn add(&mut self, kind: RelatedKind, name: &Str) {
        if !name.is_empty() {
            self.found.insert(Related {
                kind,
                namespace: self.pod.metadata.namespace.clone(),
                name: name.clone(),
            });
        }
    }

    fn of_environment(&mut self, variables: &[EnvVar], from: &[EnvFromSource]) {
        for source in from {
            let secret = source.secret_ref.iter().map(|it| &it.name);
            secret.for_each(|it| self.add(RelatedKind::Secret, it));
            let map = source.config_map_ref.iter().map(|it| &it.name);
            map.for_each(|it| self.add(RelatedKind::ConfigMap, it));
        }
        for source in variables.iter().filter_map(|it| it.value_from.as_ref()) {
            let secret = source.secret_key_ref.iter().map(|it| &it.name);
            secret.for_each(|it| self.add(RelatedKind::Secret, it));
            let map = source.config_map_key_ref.iter().map(|it| &it.name);
            map.for_each(|it| self.add(RelatedKind::ConfigMap, it));
        }
    }

    fn of_volume(&mut self, volume: &Volume) {
        let local = [
            volume.cephfs.as_ref().and_then(|it| it.secret_ref.as_ref()),
            volume.cinder.as_ref().and_then(|it| it.secret_ref.as_ref()),
            volume
                .flex_volume
                .as_ref()
                .and_then(|it| it.secret_ref.as_ref()),
            volume.rbd.as_ref().and_then(|it| it.secret_ref.as_ref()),
            volume
                .scale_io
                .as_ref()
                .and_then(|it| it.secret_ref.as_ref()),
            volume.iscsi.as_ref().and_then(|it| it.secret_ref.as_ref()),
            volume
                .storageos
                .as_ref()
                .and_then(|it| it.secret_ref.as_ref()),
            volume
                .csi
                .as_ref()
                .and_then(|it| it.node_publish_secret_ref.as_ref()),
        ];
        for reference in local.into_iter().flatten() {
            self.add(RelatedKind::Secret, &reference.name);
        }
        if let Some(secret) = &volume.secret {
            self.add(RelatedKind::Secret, &secret.secret_name);
        }
        if let Some(azure) = &volume.azure_file {
            self.add(RelatedKind::Secret, &azure.secret_name);
        }
        if let Some(map) = &volume.config_map {
            self.add(RelatedKind::ConfigMap, &map.name);
        }
        for source in volume.projected.iter().flat_map(|it| &it.sources) {
            let secret = source.secret.iter().map(|it| &it.name);
            secret.for_each(|it| self.add(RelatedKind::Secret, it));
            let map = source.config_map.iter().map(|it| &it.name);
            map.for_each(|it| self.add(RelatedKind::ConfigMap, it));
        }
        if let Some(claim) = &volume.persistent_volume_claim {
            self.add(RelatedKind::Claim, &claim.claim_name);
        } else if volume.ephemeral.is_some() {
            let name = format!("{}-{}", self.pod.metadata.name, volume.name);
            self.add(RelatedKind::Claim, &name.into());
        }
    }

    fn resource_claims(&mut self) {
        let (spec, status) = (&self.pod.spec, &self.pod.status);
        for claim in &spec.resource_claims {
            let mut made = status.resource_claim_statuses.iter();
            let made = made.find(|it| it.name == claim.name);
            let made = made.and_then(|it| it.resource_claim_name.as_ref());
            if let Some(name) = claim.resource_claim_name.as_ref().or(made) {
                self.add(RelatedKind::ResourceClaim, name);
            }
        }
        if let Some(extended) = &status.extended_resource_claim_status {
            self.add(RelatedKind::ResourceClaim, &extended.resource_claim_name);
        }
    }
}
