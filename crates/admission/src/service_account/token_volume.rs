//! The volume with a token of the service account.

use kubist_api::core::v1::{
    ConfigMapProjection, Container, DownwardAPIProjection, DownwardAPIVolumeFile, KeyToPath,
    ObjectFieldSelector, Pod, ProjectedVolumeSource, ServiceAccountTokenProjection, Volume,
    VolumeMount, VolumeProjection,
};

/// Where containers find the token.
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
const PREFIX: &str = "kube-api-access-";
/// An hour and some seconds, by which upstream recognizes tokens that it made longer.
const SECONDS: i64 = 3_607;
const MODE: i32 = 0o644;

/// Mounts a token in all containers that have nothing else at its path. `volume` is the name of the
/// volume, unless the Pod has one already.
pub(super) fn mount(pod: &mut Pod, volume: String) {
    let mut volumes = pod.spec.volumes.iter();
    let existing = volumes.find(|it| it.name.starts_with(PREFIX));
    let existing = existing.map(|it| it.name.clone());
    let is_new = existing.is_none();
    let name = existing.unwrap_or_else(|| volume.into());
    let mount = VolumeMount {
        name: name.clone(),
        read_only: true,
        mount_path: PATH.into(),
        ..VolumeMount::default()
    };
    let mut is_used = false;
    let spec = &mut pod.spec;
    let containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
    for container in containers.filter(|it| is_free(it)) {
        container.volume_mounts.push(mount.clone());
        is_used = true;
    }
    if is_new && is_used {
        spec.volumes.push(Volume {
            name,
            projected: Some(Box::new(source())),
            ..Volume::default()
        });
    }
}

fn is_free(container: &Container) -> bool {
    !container
        .volume_mounts
        .iter()
        .any(|it| it.mount_path == PATH)
}

/// Returns the token, the certificate authority of the server and the namespace.
fn source() -> ProjectedVolumeSource {
    let token = ServiceAccountTokenProjection {
        path: "token".into(),
        expiration_seconds: Some(SECONDS),
        ..ServiceAccountTokenProjection::default()
    };
    let authority = ConfigMapProjection {
        name: "kube-root-ca.crt".into(),
        items: vec![KeyToPath {
            key: "ca.crt".into(),
            path: "ca.crt".into(),
            ..KeyToPath::default()
        }],
        ..ConfigMapProjection::default()
    };
    let namespace = DownwardAPIProjection {
        items: vec![DownwardAPIVolumeFile {
            path: "namespace".into(),
            field_ref: Some(Box::new(ObjectFieldSelector {
                api_version: "v1".into(),
                field_path: "metadata.namespace".into(),
            })),
            ..DownwardAPIVolumeFile::default()
        }],
    };
    ProjectedVolumeSource {
        default_mode: Some(MODE),
        sources: vec![
            VolumeProjection {
                service_account_token: Some(Box::new(token)),
                ..VolumeProjection::default()
            },
            VolumeProjection {
                config_map: Some(Box::new(authority)),
                ..VolumeProjection::default()
            },
            VolumeProjection {
                downward_api: Some(Box::new(namespace)),
                ..VolumeProjection::default()
            },
        ],
    }
}
