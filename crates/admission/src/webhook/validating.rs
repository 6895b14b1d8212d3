//! `ValidatingWebhooks`: the plugin `ValidatingAdmissionWebhook`.
//!
//! All webhooks that a request matches are called at the same time. The request passes if all of
//! them allow it; else the client gets the refusal of the first, in their order.

use super::call::{Failure, Review, Texts, WebhookParts, matched};
use crate::asked::{self, Asked};
use futures_util::future::join_all;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use std::fmt;
use tokio::time::Instant;

/// The prefix of the annotation about a webhook that failed and let the request pass.
const FAILED_OPEN: &str = "failed-open.validating.webhook.admission.k8s.io/";

/// The plugin `ValidatingAdmissionWebhook`.
#[derive(Clone, Debug)]
pub struct ValidatingWebhooks(WebhookParts);

impl ValidatingWebhooks {
    /// The name, as in `--disable-admission-plugins`.
    pub const NAME: &'static str = "ValidatingAdmissionWebhook";

    /// Creates the plugin.
    pub fn new(parts: WebhookParts) -> Self {
        Self(parts)
    }

    async fn judge(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let hooks = self.0.table.validating();
        let asked = Asked::of(attributes);
        let mut reviews = Vec::new();
        for hook in hooks.iter() {
            let found = matched(&self.0, &asked, attributes, (hook, false)).await?;
            let Some(matched) = found else {
                continue;
            };
            let texts = Texts::of(attributes, matched).await.map_err(internal)?;
            let review = Review {
                parts: &self.0,
                asked: &asked,
                hook,
                matched,
                is_mutating: false,
            };
            reviews.push((review, texts, attributes.stores().new_uid()));
        }
        let calls = reviews.iter().map(|(it, texts, uid)| async move {
            let began = Instant::now();
            let answer = it.send(texts, uid).await;
            it.count(began, &answer);
            answer
        });
        let answers = join_all(calls).await;
        for (index, ((review, ..), answer)) in reviews.iter().zip(answers).enumerate() {
            match answer {
                Ok(_) => {}
                Err(Failure::NotCalled { why, .. }) if review.hook.fails_open => {
                    tracing::warn!(%why, "a webhook failed; the request passes");
                    let key = format!("{FAILED_OPEN}round_0_index_{index}");
                    attributes.cx().annotate(key, &*review.hook.name);
                }
                Err(failure) => return Err(failure.into_status()),
            }
        }
        Ok(())
    }
}

fn internal(why: impl fmt::Display) -> Status {
    Status::internal_error(why)
}

impl AdmissionPlugin for ValidatingWebhooks {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let operation = asked::operations(target.operation);
        let table = &self.0.table;
        table.may_validate(target.resource.plural, operation) && !asked::is_exempt(target)
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(self.judge(attributes))
    }
}
