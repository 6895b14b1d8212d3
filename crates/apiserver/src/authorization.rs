//! Authorization: the [`Authorizer`](authorizer::Authorizer) seam, and the rules for paths that are
//! no resources.

pub(crate) mod authorizer;
pub(crate) mod non_resource;
