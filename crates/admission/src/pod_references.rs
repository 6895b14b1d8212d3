//! The objects that a Pod refers to.

use kubist_api::core::v1::{EnvFromSource, EnvVar, Pod, Volume, VolumeProjection};

/// Returns the secret in the value of a variable.
pub(crate) fn secret_of(variable: &EnvVar) -> Option<&str> {
    let from = variable.value_from.as_deref()?;
    Some(from.secret_key_ref.as_deref()?.name.as_str())
}

/// Reports whether a Pod refers to any secret.
pub(crate) fn has_secrets(pod: &Pod) -> bool {
    let spec = &pod.spec;
    let of_env = |env: &[EnvVar], from: &[EnvFromSource]| {
        env.iter().any(|it| secret_of(it).is_some())
            || from.iter().any(|it| it.secret_ref.is_some())
    };
    !spec.image_pull_secrets.is_empty()
        || any_env(pod, &of_env)
        || spec.volumes.iter().any(has_secret)
}

/// Reports whether a Pod refers to any config map.
fn has_config_maps(pod: &Pod) -> bool {
    let of_variable = |it: &EnvVar| {
        let from = it.value_from.as_deref();
        from.is_some_and(|it| it.config_map_key_ref.is_some())
    };
    let of_env = |env: &[EnvVar], from: &[EnvFromSource]| {
        env.iter().any(of_variable) || from.iter().any(|it| it.config_map_ref.is_some())
    };
    let of_volume = |it: &Volume| {
        it.config_map.is_some() || sources(it).iter().any(|it| it.config_map.is_some())
    };
    any_env(pod, &of_env) || pod.spec.volumes.iter().any(of_volume)
}

/// Reports whether `holds` for the variables of any container.
fn any_env(pod: &Pod, holds: &dyn Fn(&[EnvVar], &[EnvFromSource]) -> bool) -> bool {
    let spec = &pod.spec;
    let mut containers = spec.containers.iter().chain(&spec.init_containers);
    let mut ephemeral = spec.ephemeral_containers.iter();
    containers.any(|it| holds(&it.env, &it.env_from))
        || ephemeral.any(|it| holds(&it.env, &it.env_from))
}

fn sources(volume: &Volume) -> &[VolumeProjection] {
    let projected = volume.projected.as_deref();
    projected.map_or(&[], |it| &it.sources)
}

fn has_secret(volume: &Volume) -> bool {
    let azure = volume.azure_file.as_deref();
    let csi = volume.csi.as_deref();
    let refs = [
        volume.secret.is_some(),
        azure.is_some_and(|it| !it.secret_name.is_empty()),
        csi.is_some_and(|it| it.node_publish_secret_ref.is_some()),
        volume
            .cephfs
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .cinder
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .flex_volume
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .rbd
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .scale_io
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .iscsi
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
        volume
            .storageos
            .as_deref()
            .is_some_and(|it| it.secret_ref.is_some()),
    ];
    refs.contains(&true) || sources(volume).iter().any(|it| it.secret.is_some())
}

/// Returns the first kind of objects that a Pod refers to, in upstream's words and order.
pub(crate) fn first_reference(pod: &Pod) -> Option<&'static str> {
    if !pod.spec.service_account_name.is_empty() {
        return Some("serviceaccounts");
    }
    if has_secrets(pod) {
        return Some("secrets");
    }
    if has_config_maps(pod) {
        return Some("configmaps");
    }
    if !pod.spec.resource_claims.is_empty() {
        return Some("resourceclaims");
    }
    pod.spec.volumes.iter().find_map(of_volume)
}

/// Returns what else a volume refers to: not secrets and config maps, which come before.
fn of_volume(volume: &Volume) -> Option<&'static str> {
    let all = [
        (volume.csi.is_some(), "csidrivers (via CSI volumes)"),
        (
            volume.glusterfs.is_some(),
            "endpoints (via glusterFS volumes)",
        ),
        (
            volume.persistent_volume_claim.is_some(),
            "persistentvolumeclaims",
        ),
        (
            volume.ephemeral.is_some(),
            "persistentvolumeclaims (via ephemeral volumes)",
        ),
        (
            volume.azure_file.is_some(),
            "secrets (via azureFile volumes)",
        ),
    ];
    let found = all.into_iter().find(|(refers, _)| *refers);
    let projected = || sources(volume).iter().find_map(of_source);
    found.map(|(_, what)| what).or_else(projected)
}

fn of_source(source: &VolumeProjection) -> Option<&'static str> {
    if source.service_account_token.is_some() {
        Some("serviceaccounts (via projected volumes)")
    } else if source.cluster_trust_bundle.is_some() {
        Some("clustertrustbundles")
    } else {
        source.pod_certificate.as_ref().map(|_| "podcertificates")
    }
}
