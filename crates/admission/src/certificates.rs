//! The plugins of certificates: who may approve and sign requests, of which signer, and
//! who vouches for trust bundles.

mod attestation;
mod request;
mod signer;
mod signer_permission;
mod subject_restriction;

pub(crate) use attestation::ClusterTrustBundleAttest;
pub(crate) use request::common_name;
pub(crate) use signer_permission::{CertificateApproval, CertificateSigning};
pub(crate) use subject_restriction::CertificateSubjectRestriction;
