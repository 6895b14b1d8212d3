//! All containers of a Pod, regardless of their kind.

use kubist_api::core::v1::{Container, EphemeralContainer, PodSpec};
use kubist_apimachinery::FieldPath;
use std::borrow::Cow;

/// Returns each container and its path: init containers, regular ones, ephemeral ones.
pub(crate) fn all<'a>(
    spec: &'a PodSpec,
    path: &FieldPath,
) -> impl Iterator<Item = (Cow<'a, Container>, FieldPath)> + use<'a> {
    let initial = at(&spec.init_containers, path.child("initContainers"));
    let usual = at(&spec.containers, path.child("containers"));
    let ephemeral = at(
        &spec.ephemeral_containers,
        path.child("ephemeralContainers"),
    );
    let borrowed = initial
        .chain(usual)
        .map(|(it, path)| (Cow::Borrowed(it), path));
    borrowed.chain(ephemeral.map(|(it, path)| (Cow::Owned(from_ephemeral(it)), path)))
}

fn at<T>(list: &[T], path: FieldPath) -> impl Iterator<Item = (&T, FieldPath)> {
    list.iter()
        .enumerate()
        .map(move |(index, it)| (it, path.index(index)))
}

/// Converts an ephemeral container to a regular one, without its target.
pub(crate) fn from_ephemeral(container: &EphemeralContainer) -> Container {
    let it = container.clone();
    Container {
        name: it.name,
        image: it.image,
        command: it.command,
        args: it.args,
        working_dir: it.working_dir,
        ports: it.ports,
        env_from: it.env_from,
        env: it.env,
        resources: it.resources,
        resize_policy: it.resize_policy,
        restart_policy: it.restart_policy,
        restart_policy_rules: it.restart_policy_rules,
        volume_mounts: it.volume_mounts,
        volume_devices: it.volume_devices,
        liveness_probe: it.liveness_probe,
        readiness_probe: it.readiness_probe,
        startup_probe: it.startup_probe,
        lifecycle: it.lifecycle,
        termination_message_path: it.termination_message_path,
        termination_message_policy: it.termination_message_policy,
        image_pull_policy: it.image_pull_policy,
        security_context: it.security_context,
        stdin: it.stdin,
        stdin_once: it.stdin_once,
        tty: it.tty,
    }
}
