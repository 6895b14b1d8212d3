//! The server: one lease, compared and set by its resource version.

use crate::machine::{Answer, Output};
use kubist_api::coordination::v1::Lease;

#[derive(Debug, Default)]
pub(super) struct Server {
    lease: Option<Lease>,
    version: u64,
}

impl Server {
    /// Applies a request.
    pub(super) fn serve(&mut self, request: &Output) -> Answer {
        match (request, &self.lease) {
            (Output::Read | Output::Update(_), None) => Answer::NotFound,
            (Output::Read, Some(lease)) => Answer::Lease(Box::new(lease.clone())),
            (Output::Create(lease), None) => self.store((**lease).clone()),
            (Output::Update(lease), Some(stored))
                if stored.metadata.resource_version == lease.metadata.resource_version =>
            {
                self.store((**lease).clone())
            }
            _ => Answer::Conflict,
        }
    }

    /// Somebody labels the lease: its resource version changes, and its record does not.
    pub(super) fn label(&mut self, value: u64) {
        if let Some(mut lease) = self.lease.clone() {
            let value = value.to_string();
            lease.metadata.labels.insert("seen".into(), value.into());
            self.store(lease);
        }
    }

    fn store(&mut self, mut lease: Lease) -> Answer {
        self.version += 1;
        lease.metadata.resource_version = self.version.to_string().into();
        self.lease = Some(lease.clone());
        Answer::Lease(Box::new(lease))
    }
}
