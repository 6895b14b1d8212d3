//! `TokenWebhook`: asks a webhook who has a token, with upstream's `TokenReview`.
//!
//! As upstream, answers are kept for a while, good ones and bad ones, and failures are not; several
//! requests with one token ask once; a call that fails for the moment is repeated.

use crate::authentication::authenticator::Asked;
use crate::authentication::authenticators::{ReviewVersion, TokenWebhookConfig};
use crate::authentication::refusal::Refusal;
use crate::authentication::request_authenticator::Authenticated;
use crate::expiring_cache::{self, ExpiringCache};
use crate::remote::{RemoteClient, RemoteError};
use bytes::Bytes;
use kubist_apimachinery::Str;
use kubist_registry::User;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time limit of a call, as upstream.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum length of an answer.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// A webhook that knows tokens.
#[derive(Debug)]
pub(crate) struct TokenWebhook {
    client: RemoteClient,
    version: ReviewVersion,
    cache_ttl: Duration,
    answers: ExpiringCache<Answer>,
}

/// A user, or why there is none.
type Answer = Result<Authenticated, Option<String>>;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Review {
    kind: String,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    authenticated: bool,
    user: UserInfo,
    #[serde(deserialize_with = "crate::remote::nullable")]
    audiences: Vec<Str>,
    error: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UserInfo {
    username: Str,
    uid: Str,
    #[serde(deserialize_with = "crate::remote::nullable")]
    groups: Vec<Str>,
    #[serde(deserialize_with = "crate::remote::nullable")]
    extra: BTreeMap<Str, Vec<Str>>,
}

impl TokenWebhook {
    /// # Errors
    /// The webhook cannot be called at all.
    pub(crate) fn new(config: &TokenWebhookConfig) -> Result<Self, RemoteError> {
        Ok(Self {
            client: RemoteClient::new(&config.service)?,
            version: config.version,
            cache_ttl: config.cache_ttl,
            answers: ExpiringCache::default(),
        })
    }

    /// Returns the user of a token; `None` if the webhook does not know it. `implicit` are the
    /// audiences of this server.
    pub(crate) async fn authenticate(
        &self,
        token: &str,
        implicit: &[Str],
        asked: &Asked<'_>,
    ) -> Result<Option<Authenticated>, Refusal> {
        let audiences = asked.audiences.iter().map(|it| it.as_bytes());
        let key = expiring_cache::key([token.as_bytes()].into_iter().chain(audiences));
        if let Some(known) = self.answers.get(&key) {
            return told(known);
        }
        let turn = self.answers.turn(&key).await;
        if let Some(known) = self.answers.get(&key) {
            return told(known);
        }
        let answer = self.ask(token, implicit, asked.audiences).await;
        let answer = answer.map_err(|error| {
            tracing::warn!(%error, "failed to make webhook authenticator request");
            Refusal::NotGood(error.to_string())
        })?;
        // As upstream, what the webhook says in its field of errors is an error.
        if !matches!(answer, Err(Some(_))) {
            self.answers.put(key, answer.clone(), self.cache_ttl);
        }
        drop(turn);
        told(answer)
    }

    async fn ask(
        &self,
        token: &str,
        implicit: &[Str],
        wanted: &[Str],
    ) -> Result<Answer, RemoteError> {
        let wanted_texts: Vec<&str> = wanted.iter().map(|it| &**it).collect();
        let mut spec = json!({"token": token});
        if !wanted.is_empty() {
            spec["audiences"] = json!(wanted_texts);
        }
        let review = json!({
            "kind": "TokenReview",
            "apiVersion": format!("authentication.k8s.io/{}", self.version.name()),
            "metadata": {},
            "spec": spec,
            "status": {"user": {}},
        });
        let body = Bytes::from(review.to_string());
        let response = self
            .client
            .post_with_backoff(&body, TIMEOUT, ANSWER_BYTES_MAX)
            .await?;
        let review: Review = self.client.decode(&response)?;
        if !matches!(&*review.kind, "" | "TokenReview") {
            return Err(self.client.malformed(&format!("it is a {}", review.kind)));
        }
        Ok(answer(review.status, implicit, wanted))
    }
}

fn told(answer: Answer) -> Result<Option<Authenticated>, Refusal> {
    match answer {
        Ok(user) => Ok(Some(user)),
        Err(Some(why)) => Err(Refusal::NotGood(why)),
        Err(None) => Ok(None),
    }
}

/// A webhook that says nothing of audiences does not know of them: then the token is for this
/// server.
fn answer(status: Status, implicit: &[Str], wanted: &[Str]) -> Answer {
    let own = match &status.audiences[..] {
        [] => implicit,
        own => own,
    };
    let audiences: Vec<Str> = own
        .iter()
        .filter(|it| wanted.contains(it))
        .cloned()
        .collect();
    if audiences.is_empty() && !wanted.is_empty() {
        return Err(None);
    }
    if !status.authenticated {
        return Err(Some(status.error).filter(|it| !it.is_empty()));
    }
    let UserInfo {
        username,
        uid,
        groups,
        extra,
    } = status.user;
    Ok(Authenticated {
        user: User {
            name: username,
            uid,
            groups,
            extra,
        },
        audiences,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_audiences_is_for_this_server() {
        let status = || Status {
            authenticated: true,
            ..Status::default()
        };
        let own = [Str::from("own")];
        let user = answer(status(), &own, &own).expect("it is known");
        assert_eq!(user.audiences, own);
        assert_eq!(answer(status(), &own, &["other".into()]), Err(None));
        let mut aware = status();
        aware.audiences = vec!["other".into()];
        assert_eq!(answer(aware, &own, &own), Err(None));
        let refused = Status {
            error: "revoked".to_owned(),
            ..Status::default()
        };
        assert_eq!(answer(refused, &own, &own), Err(Some("revoked".to_owned())));
    }
}
