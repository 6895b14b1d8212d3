//! The etcd engine against the conformance suite, on Debian's etcd 3.4, without progress requests,
//! and on a current one.

use crate::etcd::{Etcd, Release};
use kubist_storage::conformance::Subject;
use std::sync::Arc;

async fn subject(release: Release) -> Option<Subject> {
    let etcd = Etcd::start(release).await?;
    let kv = Arc::new(etcd.kv());
    Some(Subject::new(kv, "/check/", etcd))
}

mod packaged {
    use super::{Release, subject};
    use kubist_storage::conformance_suite;

    conformance_suite!(#[tokio::test] => subject(Release::Packaged));
}

mod current {
    use super::{Release, subject};
    use kubist_storage::conformance_suite;

    conformance_suite!(#[tokio::test] => subject(Release::Current));
}
