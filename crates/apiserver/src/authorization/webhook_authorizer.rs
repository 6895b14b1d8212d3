//! `WebhookAuthorizer`: asks a webhook what a user may do, with upstream's `SubjectAccessReview`.
//!
//! As upstream, answers are kept for a while, unless the client has made the question long; a call
//! that fails for the moment is repeated; and the policy says what a failure means.

use crate::authentication::authenticators::ReviewVersion;
use crate::expiring_cache::{self, ExpiringCache};
use crate::remote::{RemoteClient, RemoteError};
use crate::webhook::remote_service::RemoteService;
use bytes::Bytes;
use kubist_authorization::{
    Attributes, Authorizer, BoxFuture, Decision, FailurePolicy, MatchConditions, ReviewSpec,
};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Maximum length of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// How a webhook that decides about requests is asked.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "configuration is filled in")]
pub struct AuthorizationWebhook {
    /// The webhook.
    pub service: RemoteService,
    /// The version of the review. Upstream's default for its options: `v1beta1`.
    pub version: ReviewVersion,
    /// How long an answer that allows counts. Zero: it is not kept. Upstream's default: 5 min.
    pub authorized_ttl: Duration,
    /// How long another answer counts. Zero: it is not kept. Upstream's default: 30 s.
    pub unauthorized_ttl: Duration,
    /// Time limit of a call; a call that fails may be made five times. Upstream's default for its
    /// options: 30 s.
    pub timeout: Duration,
    /// What a failed call means.
    pub failure_policy: FailurePolicy,
    /// The conditions under which it is asked.
    pub match_conditions: Arc<MatchConditions>,
}

/// Asks a webhook.
#[derive(Debug)]
pub struct WebhookAuthorizer {
    client: RemoteClient,
    config: AuthorizationWebhook,
    answers: ExpiringCache<Answer>,
}

/// What a webhook answers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    allowed: bool,
    denied: bool,
    reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Review {
    kind: String,
    status: Answer,
}

/// The webhook cannot be called at all: its URL, authorities or certificate are unusable.
#[derive(Debug, thiserror::Error)]
#[error("the webhook cannot be called: {reason}")]
pub struct WebhookAuthorizerError {
    reason: String,
}

impl WebhookAuthorizer {
    /// Creates an authorizer. It calls nobody yet.
    ///
    /// # Errors
    /// The webhook cannot be called at all.
    pub fn new(config: AuthorizationWebhook) -> Result<Self, WebhookAuthorizerError> {
        let client = RemoteClient::new(&config.service).map_err(|error| {
            let reason = error.to_string();
            WebhookAuthorizerError { reason }
        })?;
        Ok(Self {
            client,
            config,
            answers: ExpiringCache::default(),
        })
    }

    async fn decide(&self, attributes: Attributes<'_>) -> Decision {
        let spec = ReviewSpec::of(&attributes);
        match self.config.match_conditions.match_request(&spec) {
            Ok(true) => {}
            Ok(false) => return Decision::NoOpinion(String::new()),
            Err(error) => return self.failed(error),
        }
        match self.answer(&spec).await {
            Ok(answer) => decision(answer),
            Err(error) => {
                tracing::warn!(%error, "failed to make webhook authorizer request");
                self.failed(error.to_string())
            }
        }
    }

    async fn answer(&self, spec: &ReviewSpec) -> Result<Answer, RemoteError> {
        let text = spec.json().to_string();
        let key = expiring_cache::key([text.as_bytes()]);
        if let Some(known) = self.answers.get(&key) {
            return Ok(known);
        }
        let review = json!({
            "kind": "SubjectAccessReview",
            "apiVersion": format!("authorization.k8s.io/{}", self.config.version.name()),
            "metadata": {},
            "spec": self.spec(spec),
            "status": {"allowed": false},
        });
        let body = Bytes::from(review.to_string());
        let response = self
            .client
            .post_with_backoff(&body, self.config.timeout, ANSWER_BYTES_MAX)
            .await?;
        let review: Review = self.client.decode(&response)?;
        if !matches!(&*review.kind, "" | "SubjectAccessReview") {
            return Err(self.client.malformed(&format!("it is a {}", review.kind)));
        }
        let answer = review.status;
        if spec.may_be_kept() {
            let ttl = if answer.allowed {
                self.config.authorized_ttl
            } else {
                self.config.unauthorized_ttl
            };
            self.answers.put(key, answer.clone(), ttl);
        }
        Ok(answer)
    }

    /// In `v1beta1`, groups have another name.
    fn spec(&self, spec: &ReviewSpec) -> serde_json::Value {
        let mut spec = spec.json().clone();
        if self.config.version == ReviewVersion::V1Beta1
            && let Some(fields) = spec.as_object_mut()
            && let Some(groups) = fields.remove("groups")
        {
            fields.insert("group".to_owned(), groups);
        }
        spec
    }

    fn failed(&self, error: String) -> Decision {
        Decision::Failed {
            denies: self.config.failure_policy == FailurePolicy::Deny,
            reason: String::new(),
            error,
        }
    }
}

fn decision(answer: Answer) -> Decision {
    let Answer {
        allowed,
        denied,
        reason,
    } = answer;
    match (allowed, denied) {
        (true, true) => Decision::Failed {
            denies: true,
            reason,
            error: "webhook subject access review returned both allow and deny response".to_owned(),
        },
        (false, true) => Decision::Deny(reason),
        (true, false) => Decision::Allow(reason),
        (false, false) => Decision::NoOpinion(reason),
    }
}

impl Authorizer for WebhookAuthorizer {
    fn authorize<'a>(&'a self, attributes: Attributes<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(self.decide(attributes))
    }

    fn unlisted_rules(&self) -> Option<&'static str> {
        Some("webhook authorizer does not support user rule resolution")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_allows_refuses_or_leaves_it_to_the_next() {
        let of = |allowed, denied| {
            let reason = "r".to_owned();
            decision(Answer {
                allowed,
                denied,
                reason,
            })
        };
        assert_eq!(of(true, false), Decision::Allow("r".to_owned()));
        assert_eq!(of(false, true), Decision::Deny("r".to_owned()));
        assert_eq!(of(false, false), Decision::NoOpinion("r".to_owned()));
        assert!(of(true, true).is_denied());
    }
}
