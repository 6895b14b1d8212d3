//! `Related`: the objects that a Pod or a volume leads a kubelet to.

use kubist_apimachinery::Str;

/// The kinds of objects that a kubelet may read because its node needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RelatedKind {
    Secret,
    ConfigMap,
    Claim,
    ResourceClaim,
    ServiceAccount,
}

/// One of these objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Related {
    pub(crate) kind: RelatedKind,
    pub(crate) namespace: Str,
    pub(crate) name: Str,
}
