//! The service `Cluster`: one member, for ever.

use crate::service::Etcd;
use kubist_etcd_api as api;
use tonic::Status;

impl Etcd {
    pub(crate) async fn member_list(
        self,
        _: api::MemberListRequest,
    ) -> Result<api::MemberListResponse, Status> {
        let config = self.config();
        let member = api::Member {
            id: self.identity().member(),
            name: config.name.clone(),
            peer_urls: config.peer_urls.clone(),
            client_urls: config.client_urls.clone(),
            is_learner: false,
        };
        Ok(api::MemberListResponse {
            header: Some(self.current_header().await?),
            members: vec![member],
        })
    }
}
