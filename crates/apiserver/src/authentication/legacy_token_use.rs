//! The label of a Secret with the date on which its token was last used.
//!
//! Upstream's cleaner of legacy tokens invalidates those that were not used for a year, by this
//! label. It is written at most once a day per Secret. A failure is logged: the token is good
//! nevertheless.

use crate::authentication::authenticator::Asked;
use kubist_api::core::v1::Secret;
use kubist_apimachinery::{
    AnyObject, GroupResource, PostOptions, Preconditions, Status, Str, Time,
};
use kubist_authorization::MASTERS_GROUP;
use kubist_registry::{UpdatedObject, User};
use std::any::Any;

const LAST_USED: &str = "kubernetes.io/legacy-token-last-used";
const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// Notes that the token of this Secret is used by a request.
pub(super) async fn note(secret: &Secret, asked: &Asked<'_>) {
    let now = asked.cx.now().unix();
    let today = date(now);
    let noted = secret.metadata.labels.get(LAST_USED).map_or("", |it| it);
    // The clock of another server may already be in the next day.
    if noted == today || noted == date(now.saturating_add(SECONDS_PER_DAY)) {
        return;
    }
    let Some(secrets) = asked.registry.resource("", "v1", "secrets") else {
        return;
    };
    let mut cx = asked.registry.request(User {
        name: "system:apiserver".into(),
        groups: vec![MASTERS_GROUP.into()],
        ..User::default()
    });
    // The manager of what the server itself writes, as upstream.
    cx.user_agent = "kube-apiserver".into();
    let meta = &secret.metadata;
    let used = Used {
        secret: secret.clone(),
        today: today.into(),
    };
    let options = PostOptions::default();
    // The state machine of an update is large, and this one is rare.
    let written = Box::pin(secrets.update(&cx, &meta.namespace, &meta.name, &used, &options));
    if let Err(status) = written.await {
        tracing::error!(
            namespace = &*meta.namespace,
            secret = &*meta.name,
            why = &*status.message,
            "the last use of a legacy service account token cannot be noted"
        );
    }
}

/// The date of a Unix time, in UTC.
fn date(seconds: i64) -> String {
    let time = Time::from_unix(seconds).to_string();
    time.split('T').next().unwrap_or_default().to_owned()
}

/// The Secret with its new label.
struct Used {
    /// As it was found.
    secret: Secret,
    today: Str,
}

impl UpdatedObject for Used {
    fn preconditions(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.secret.metadata.uid.clone()),
            resource_version: None,
        }
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.and_then(|it| (it as &dyn Any).downcast_ref::<Secret>());
        let name = &self.secret.metadata.name;
        let old = old.ok_or_else(|| Status::not_found(&GroupResource::new("", "secrets"), name))?;
        let mut secret = old.clone();
        let labels = &mut secret.metadata.labels;
        labels.insert(LAST_USED.into(), self.today.clone());
        Ok(Box::new(secret))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_utc() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(1_709_251_199), "2024-02-29");
        assert_eq!(date(1_709_251_200), "2024-03-01");
    }
}
