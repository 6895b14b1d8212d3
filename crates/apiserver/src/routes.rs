//! Paths outside the resource API: health checks, the version, `OpenID` documents and backups.

pub(crate) mod backup;
pub(crate) mod health;
pub(crate) mod openid;
