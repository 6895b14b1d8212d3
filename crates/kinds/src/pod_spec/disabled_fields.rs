//! Fields of Pods and templates behind upstream gates that are off by default. They are dropped
//! unless the stored object already uses them.

use kubist_api::core::v1::{Lifecycle, PodSpec, VolumeProjection};

/// Drops the fields that `old`, the stored spec, does not use.
pub(crate) fn drop_from(spec: &mut PodSpec, old: Option<&PodSpec>) {
    // GenericWorkload.
    if old.is_none_or(|it| it.scheduling_group.is_none()) {
        spec.scheduling_group = None;
    }
    // ContainerStopSignals.
    if !old.is_some_and(has_stop_signal) {
        lifecycles_mut(spec).for_each(drop_stop_signal);
    }
    drop_projections(spec, old);
}

/// Drops projections from signers: ClusterTrustBundleProjection and PodCertificateRequest.
fn drop_projections(spec: &mut PodSpec, old: Option<&PodSpec>) {
    let uses = |is_used: fn(&VolumeProjection) -> bool| {
        let volumes = old.into_iter().flat_map(|it| &it.volumes);
        let projected = volumes.flat_map(|it| &it.projected);
        projected.flat_map(|it| &it.sources).any(is_used)
    };
    let bundles = uses(|it| it.cluster_trust_bundle.is_some());
    let certificates = uses(|it| it.pod_certificate.is_some());
    let projected = spec.volumes.iter_mut().flat_map(|it| &mut it.projected);
    for source in projected.flat_map(|it| &mut it.sources) {
        if !bundles {
            source.cluster_trust_bundle = None;
        }
        if !certificates {
            source.pod_certificate = None;
        }
    }
}

fn has_stop_signal(spec: &PodSpec) -> bool {
    let ephemeral = spec.ephemeral_containers.iter();
    let containers = spec.init_containers.iter().chain(&spec.containers);
    let lifecycles = containers.map(|it| &it.lifecycle);
    lifecycles
        .chain(ephemeral.map(|it| &it.lifecycle))
        .flatten()
        .any(|it| it.stop_signal.is_some())
}

fn lifecycles_mut(spec: &mut PodSpec) -> impl Iterator<Item = &mut Option<Box<Lifecycle>>> {
    let ephemeral = spec.ephemeral_containers.iter_mut();
    let containers = spec.init_containers.iter_mut().chain(&mut spec.containers);
    let lifecycles = containers.map(|it| &mut it.lifecycle);
    lifecycles.chain(ephemeral.map(|it| &mut it.lifecycle))
}

/// Drops the stop signal, together with a lifecycle that contains nothing else.
fn drop_stop_signal(lifecycle: &mut Option<Box<Lifecycle>>) {
    let Some(all) = lifecycle else {
        return;
    };
    if all.stop_signal.take().is_some() && **all == Lifecycle::default() {
        *lifecycle = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::{Container, PodSchedulingGroup, ProjectedVolumeSource, Volume};

    fn spec(lifecycle: Lifecycle) -> PodSpec {
        PodSpec {
            containers: vec![Container {
                lifecycle: Some(Box::new(lifecycle)),
                ..Container::default()
            }],
            scheduling_group: Some(Box::new(PodSchedulingGroup::default())),
            ..PodSpec::default()
        }
    }

    fn with_signal() -> Lifecycle {
        Lifecycle {
            stop_signal: Some("SIGTERM".into()),
            ..Lifecycle::default()
        }
    }

    #[test]
    fn what_is_behind_a_gate_is_dropped() {
        let mut new = spec(with_signal());
        drop_from(&mut new, None);
        assert_eq!(new.containers[0].lifecycle, None);
        assert_eq!(new.scheduling_group, None);
        let mut other = spec(Lifecycle {
            post_start: Some(Box::default()),
            ..with_signal()
        });
        drop_from(&mut other, Some(&PodSpec::default()));
        let kept = other.containers[0].lifecycle.as_ref().unwrap();
        assert_eq!(
            (kept.stop_signal.as_ref(), kept.post_start.is_some()),
            (None, true)
        );
    }

    #[test]
    fn what_is_stored_already_stays() {
        let old = spec(with_signal());
        let mut new = old.clone();
        drop_from(&mut new, Some(&old));
        assert_eq!(new, old);
        // An empty lifecycle without a stop signal is kept.
        let mut empty = spec(Lifecycle::default());
        drop_from(&mut empty, None);
        assert!(empty.containers[0].lifecycle.is_some());
    }

    #[test]
    fn bundles_are_dropped_unless_they_are_there_already() {
        let source = VolumeProjection {
            cluster_trust_bundle: Some(Box::default()),
            pod_certificate: Some(Box::default()),
            ..VolumeProjection::default()
        };
        let projected = ProjectedVolumeSource {
            sources: vec![source],
            ..ProjectedVolumeSource::default()
        };
        let mut new = PodSpec {
            volumes: vec![Volume {
                projected: Some(Box::new(projected)),
                ..Volume::default()
            }],
            ..PodSpec::default()
        };
        let mut old = new.clone();
        drop_projections(&mut new, Some(&old));
        assert_eq!(new, old);
        if let Some(projected) = &mut old.volumes[0].projected {
            projected.sources[0].pod_certificate = None;
        }
        drop_projections(&mut new, Some(&old));
        assert_eq!(new, old);
        drop_projections(&mut new, None);
        let projected = new.volumes[0].projected.as_ref().unwrap();
        assert_eq!(projected.sources, [VolumeProjection::default()]);
    }
}
