//! The service `Maintenance`: the state of the store, and its alarms.

use crate::header::{Identity, number, signed};
use crate::refusal;
use crate::service::Etcd;
use kubist_etcd_api as api;
use kubist_etcd_api::{AlarmAction, AlarmType};
use tonic::Status;

/// The version of etcd whose API this is. A kube-apiserver decides by it what it may ask for.
pub(crate) const VERSION: &str = "3.6.0";
/// The version of the cluster, without its patch.
pub(crate) const CLUSTER_VERSION: &str = "3.6.0";

impl Etcd {
    pub(crate) async fn status(self, _: api::StatusRequest) -> Result<api::StatusResponse, Status> {
        let header = self.current_header().await?;
        let size = self.kv().size_bytes().await.map_err(refusal::of_read)?;
        let applied = u64::try_from(header.revision).unwrap_or(0);
        // etcdctl divides by it, and a store in memory has no file.
        let size = signed(size.unwrap_or(0).max(1));
        Ok(api::StatusResponse {
            version: VERSION.to_owned(),
            db_size: size,
            db_size_in_use: size,
            leader: self.identity().member(),
            raft_index: applied,
            raft_applied_index: applied,
            raft_term: Identity::term(),
            errors: self.alarm().map(|it| it.1).into_iter().collect(),
            storage_version: CLUSTER_VERSION.to_owned(),
            db_size_quota: signed(self.config().quota_bytes),
            header: Some(header),
            ..api::StatusResponse::default()
        })
    }

    /// Alarms follow the state of the store, so there is nothing to raise or to clear.
    pub(crate) async fn alarms(
        self,
        request: api::AlarmRequest,
    ) -> Result<api::AlarmResponse, Status> {
        if AlarmAction::try_from(request.action) == Ok(AlarmAction::Activate) {
            return Err(refusal::unsupported("raising an alarm"));
        }
        let alarms = self.alarm().map(|(alarm, _)| api::AlarmMember {
            member_id: self.identity().member(),
            alarm: alarm.into(),
        });
        Ok(api::AlarmResponse {
            header: Some(self.current_header().await?),
            alarms: alarms.into_iter().collect(),
        })
    }

    pub(crate) async fn defragment(
        self,
        _: api::DefragmentRequest,
    ) -> Result<api::DefragmentResponse, Status> {
        let size = self.kv().size_bytes().await.map_err(refusal::of_read)?;
        if size.is_some() {
            return Err(Status::unimplemented(
                "the file of a running server cannot be made smaller: stop it, and run `kubist \
                 storage compact`",
            ));
        }
        // In memory there is nothing to free.
        Ok(api::DefragmentResponse {
            header: Some(self.current_header().await?),
        })
    }

    pub(crate) async fn auth_status(
        self,
        _: api::AuthStatusRequest,
    ) -> Result<api::AuthStatusResponse, Status> {
        Ok(api::AuthStatusResponse {
            header: Some(self.current_header().await?),
            enabled: false,
            auth_revision: 1,
        })
    }

    fn alarm(&self) -> Option<(AlarmType, String)> {
        Some((AlarmType::NoSpace, self.unhealthy()?))
    }

    /// Returns why writes are refused.
    pub(crate) fn unhealthy(&self) -> Option<String> {
        let full = self.kv().no_space_error().map(|it| it.to_string());
        full.or_else(|| self.kv().writable().err().map(|it| it.to_string()))
    }

    /// The header of a response that was not computed at a revision of its own.
    pub(crate) async fn current_header(&self) -> Result<api::ResponseHeader, Status> {
        let revision = self.kv().revision().await.map_err(refusal::of_read)?;
        debug_assert!(number(revision) > 0, "an empty store is at 1");
        Ok(self.header(revision))
    }
}
