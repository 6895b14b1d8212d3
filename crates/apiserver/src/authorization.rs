//! Authorization: what a request asks for, who decides, and how the roles of the decision are
//! followed.

pub(crate) mod authorizer;
pub(crate) mod non_resource;
pub(crate) mod request_attributes;
pub(crate) mod role_follower;
