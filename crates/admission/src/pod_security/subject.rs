//! `Subject`: the part of a Pod, or of a template of Pods, that is checked.

use kubist_api::core::v1::{
    Container, ContainerPort, EphemeralContainer, Lifecycle, PodSecurityContext, PodSpec, Probe,
    SecurityContext,
};
use kubist_apimachinery::{ObjectMeta, Str};
use std::collections::BTreeMap;

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'a> {
    pub(super) annotations: &'a BTreeMap<Str, Str>,
    pub(super) spec: &'a PodSpec,
}

/// A container of any kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyContainer<'a> {
    pub(super) name: &'a str,
    pub(super) security: Option<&'a SecurityContext>,
    pub(super) ports: &'a [ContainerPort],
    pub(super) probes: [Option<&'a Probe>; 3],
    pub(super) lifecycle: Option<&'a Lifecycle>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(meta: &'a ObjectMeta, spec: &'a PodSpec) -> Self {
        Self {
            annotations: &meta.annotations,
            spec,
        }
    }

    /// Returns all containers: first those that run first.
    pub(super) fn containers(self) -> impl Iterator<Item = AnyContainer<'a>> {
        let Self { spec, .. } = self;
        let init = spec.init_containers.iter().chain(&spec.containers);
        let ephemeral = spec.ephemeral_containers.iter();
        init.map(AnyContainer::from)
            .chain(ephemeral.map(AnyContainer::from))
    }

    /// Returns the containers with a security context.
    pub(super) fn contexts(self) -> impl Iterator<Item = (&'a str, &'a SecurityContext)> {
        self.containers()
            .filter_map(|it| Some((it.name, it.security?)))
    }

    /// Returns the security context of the Pod.
    pub(super) fn security(self) -> Option<&'a PodSecurityContext> {
        self.spec.security_context.as_deref()
    }

    /// Reports whether it runs on Windows, where most of the rules do not apply.
    pub(super) fn is_windows(self) -> bool {
        let os = self.spec.os.as_deref();
        os.is_some_and(|it| it.name == "windows")
    }

    /// Reports whether its users are not those of the host.
    pub(super) fn has_own_users(self) -> bool {
        self.spec.host_users == Some(false)
    }
}

macro_rules! any_container {
    ($type:ty) => {
        impl<'a> From<&'a $type> for AnyContainer<'a> {
            fn from(container: &'a $type) -> Self {
                Self {
                    name: &container.name,
                    security: container.security_context.as_deref(),
                    ports: &container.ports,
                    probes: [
                        container.liveness_probe.as_deref(),
                        container.readiness_probe.as_deref(),
                        container.startup_probe.as_deref(),
                    ],
                    lifecycle: container.lifecycle.as_deref(),
                }
            }
        }
    };
}

any_container!(Container);
any_container!(EphemeralContainer);
