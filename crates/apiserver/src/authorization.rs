//! Authorization: what a request asks for, who decides, and how the objects that decide are
//! followed: roles and bindings, and what kubelets need.

pub(crate) mod authorizer;
mod live_modes;
pub(crate) mod node_follower;
pub(crate) mod non_resource;
pub(crate) mod request_attributes;
pub(crate) mod role_follower;
pub(crate) mod webhook_authorizer;
