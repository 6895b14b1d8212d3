//! Paths outside the resource API: health checks, the version, `OpenID` documents, tables of flow control and backups.

pub(crate) mod backup;
pub(crate) mod flow_dumps;
pub(crate) mod health;
pub(crate) mod openid;
