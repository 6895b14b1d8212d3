//! Kinds of `rbac.authorization.k8s.io`.

mod grants;
pub(crate) mod role;
pub(crate) mod role_binding;
