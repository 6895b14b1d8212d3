//! `Evaluator`: how the objects of one resource count.

use super::scopes::Scope;
use super::{claims, pods, services};
use crate::amounts::Amounts;
use crate::objects::typed;
use kubist_api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kubist_api::resource::v1::ResourceClaim;
use kubist_apimachinery::{AnyObject, Quantity, Str, Time};
use kubist_registry::admission::{Operation, Target};
use std::collections::BTreeSet;

/// How the objects of one resource count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evaluator {
    Pods,
    Services,
    /// Claims of volumes.
    VolumeClaims,
    /// Claims of devices.
    DeviceClaims,
    /// Each object counts as one of `count/<plural>.<group>`, and of its older name, if it has one.
    Count {
        name: Str,
        older: Option<&'static str>,
    },
}

impl Evaluator {
    /// Returns that of a resource.
    pub(crate) fn of(group: &str, plural: &str) -> Self {
        match (group, plural) {
            ("", "pods") => Self::Pods,
            ("", "services") => Self::Services,
            ("", "persistentvolumeclaims") => Self::VolumeClaims,
            ("resource.k8s.io", "resourceclaims") => Self::DeviceClaims,
            _ => Self::Count {
                name: count_name(group, plural).into(),
                older: older_name(group, plural),
            },
        }
    }

    /// Reports whether updates of a resource, or of one of its subresources, may change its usage.
    pub(crate) fn counts_updates(target: &Target<'_>) -> bool {
        let facts = target.resource;
        matches!(
            (facts.group, facts.plural, target.subresource),
            ("", "pods", "" | "resize")
                | ("", "services", "")
                | ("", "persistentvolumeclaims", "" | "status")
                | ("resource.k8s.io", "resourceclaims", "")
        )
    }

    /// Reports whether a request may change the usage.
    pub(crate) fn handles(
        &self,
        target: &Target<'_>,
        new: &dyn AnyObject,
        old: Option<&dyn AnyObject>,
    ) -> bool {
        let creates = target.operation == Operation::Create;
        match (self, target.subresource) {
            (Self::Pods, "") if !creates => {
                let pods = (typed::<Pod>(new), old.and_then(typed::<Pod>));
                let (Some(new), Some(old)) = pods else {
                    return false;
                };
                pods::is_terminating(new) != pods::is_terminating(old)
            }
            (Self::Pods, "resize") => !creates,
            (Self::VolumeClaims, "status") => {
                let claims = (
                    typed::<PersistentVolumeClaim>(new),
                    old.and_then(typed::<PersistentVolumeClaim>),
                );
                matches!(claims, (Some(new), Some(old)) if claims::status_counts(new, old))
            }
            (Self::Count { .. }, "") => creates,
            (_, subresource) => subresource.is_empty(),
        }
    }

    /// Returns which of the limited names it counts.
    pub(crate) fn names<'a>(&self, limited: impl Iterator<Item = &'a Str>) -> BTreeSet<Str> {
        limited.filter(|it| self.counts(it)).cloned().collect()
    }

    fn counts(&self, limited: &str) -> bool {
        match self {
            Self::Pods => pods::counts(limited),
            Self::Services => services::NAMES.contains(&limited),
            Self::VolumeClaims => claims::counts_volumes(limited),
            Self::DeviceClaims => claims::counts_devices(limited),
            Self::Count { name, older } => *name == *limited || *older == Some(limited),
        }
    }

    /// Reports whether an object is in a scope.
    pub(crate) fn is_in(&self, scope: &Scope<'_>, object: &dyn AnyObject) -> bool {
        match self {
            Self::Pods => typed::<Pod>(object).is_some_and(|it| pods::is_in(scope, it)),
            Self::VolumeClaims => {
                let claim = typed::<PersistentVolumeClaim>(object);
                claim.is_some_and(|it| claims::is_in(scope, it))
            }
            _ => false,
        }
    }

    /// Returns why an object lacks something that a quota of these names requires.
    pub(crate) fn lacks(&self, names: &BTreeSet<Str>, object: &dyn AnyObject) -> Option<String> {
        match self {
            Self::Pods => typed::<Pod>(object).and_then(|it| pods::lacks(names, it)),
            _ => None,
        }
    }

    /// Returns the usage of an object.
    pub(crate) fn usage(&self, object: &dyn AnyObject, now: Time) -> Amounts {
        match self {
            Self::Pods => typed::<Pod>(object).map(|it| pods::usage(it, now)),
            Self::Services => typed::<Service>(object).map(services::usage),
            Self::VolumeClaims => typed::<PersistentVolumeClaim>(object).map(claims::of_volume),
            Self::DeviceClaims => typed::<ResourceClaim>(object).map(claims::of_devices),
            Self::Count { name, older } => {
                let names = [Some(name.clone()), older.map(Str::from)];
                let names = names.into_iter().flatten();
                Some(names.map(|name| (name, Quantity::from(1))).collect())
            }
        }
        .unwrap_or_default()
    }
}

/// Returns the name for the number of objects of a resource.
pub(crate) fn count_name(group: &str, plural: &str) -> String {
    if group.is_empty() {
        format!("count/{plural}")
    } else {
        format!("count/{plural}.{group}")
    }
}

fn older_name(group: &str, plural: &str) -> Option<&'static str> {
    let older = [
        "configmaps",
        "resourcequotas",
        "replicationcontrollers",
        "secrets",
    ];
    let found = older.into_iter().find(|it| *it == plural);
    found.filter(|_| group.is_empty())
}
