//! Fields of Pods and templates that upstream has behind gates which are off by default: they are
//! dropped, unless what is stored uses them already.

use kubist_api::core::v1::{Lifecycle, PodSpec};

/// Drops what `old`, the spec that is stored, does not use.
pub(super) fn drop_from(spec: &mut PodSpec, old: Option<&PodSpec>) {
    // GenericWorkload.
    if old.is_none_or(|it| it.scheduling_group.is_none()) {
        spec.scheduling_group = None;
    }
    // ContainerStopSignals.
    if !old.is_some_and(has_stop_signal) {
        lifecycles_mut(spec).for_each(drop_stop_signal);
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

/// A lifecycle that said nothing else goes with it.
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
    use kubist_api::core::v1::{Container, PodSchedulingGroup};

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
        // An empty lifecycle by itself is none of its business.
        let mut empty = spec(Lifecycle::default());
        drop_from(&mut empty, None);
        assert!(empty.containers[0].lifecycle.is_some());
    }
}
