//! `MutatingWebhooks`: the plugin `MutatingAdmissionWebhook`.
//!
//! Webhooks are called one after the other; each sees what the one before it made of the object. If
//! the object changes after the call of a webhook with the reinvocation policy `IfNeeded`, that one
//! is called once more, as part of a second round of all changing plugins.

use super::call::{Failure, Review, Texts, WebhookParts, matched};
use super::hook::Hook;
use super::mutation;
use crate::asked::{self, Asked};
use crate::reinvoked::Reinvoked;
use kubist_apimachinery::{Status, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Target};
use serde::Serialize;
use tokio::time::Instant;

/// The prefix of the annotation about a call.
const MUTATION: &str = "mutation.webhook.admission.k8s.io/";
/// The prefix of the annotation about a webhook that failed and let the request pass.
const FAILED_OPEN: &str = "failed-open.mutation.webhook.admission.k8s.io/";

/// The value of the annotation about a call.
#[derive(Serialize)]
struct Note<'a> {
    configuration: &'a str,
    webhook: &'a str,
    mutated: bool,
}

/// The plugin `MutatingAdmissionWebhook`.
#[derive(Clone, Debug)]
pub struct MutatingWebhooks(WebhookParts);

impl MutatingWebhooks {
    /// The name, as in `--disable-admission-plugins`.
    pub const NAME: &'static str = "MutatingAdmissionWebhook";

    /// Creates the plugin.
    pub fn new(parts: WebhookParts) -> Self {
        Self(parts)
    }

    async fn change(&self, attributes: &mut Attributes<'_>) -> Result<(), Status> {
        let hooks = self.0.table.mutating();
        let asked = Asked::of(attributes);
        let mut memory = Reinvoked::<Str>::begin(Self::NAME, attributes);
        let mut outcome = Ok(());
        for (index, hook) in hooks.iter().enumerate() {
            outcome = self
                .call(&asked, attributes, &mut memory, (index, &**hook))
                .await;
            if outcome.is_err() {
                break;
            }
        }
        memory.end(Self::NAME, attributes);
        outcome
    }

    /// Calls one webhook, if the request is sent to it.
    async fn call(
        &self,
        asked: &Asked<'_>,
        attributes: &mut Attributes<'_>,
        memory: &mut Reinvoked<Str>,
        (index, hook): (usize, &Hook),
    ) -> Result<(), Status> {
        let found = matched(&self.0, asked, attributes, (hook, true)).await?;
        let Some(matched) = found.filter(|_| memory.is_due(&hook.id)) else {
            return Ok(());
        };
        let texts = Texts::of(attributes, matched);
        let texts = texts.await.map_err(Status::internal_error)?;
        let review = Review {
            parts: &self.0,
            asked,
            hook,
            matched,
            is_mutating: true,
        };
        let (uid, began) = (attributes.stores().new_uid(), Instant::now());
        let outcome = match review.send(&texts, &uid).await {
            Ok(Some(patch)) => mutation::apply(attributes, hook, matched, &patch).await,
            Ok(None) => Ok(false),
            Err(failure) => Err(failure),
        };
        review.count(began, &outcome);
        let is_changed = matches!(outcome, Ok(true));
        let place = format!("round_{}_index_{index}", u8::from(memory.is_second()));
        let note = Note {
            configuration: &hook.configuration,
            webhook: &hook.name,
            mutated: is_changed,
        };
        let note = serde_json::to_string(&note).map_err(Status::internal_error)?;
        let cx = attributes.cx();
        cx.annotate(format!("{MUTATION}{place}"), note);
        if is_changed {
            memory.object_changed(attributes);
        }
        if hook.is_reinvoked {
            memory.was_invoked(hook.id.clone());
        }
        match outcome {
            Ok(_) => Ok(()),
            Err(Failure::NotCalled { why, .. }) if hook.fails_open => {
                tracing::warn!(%why, "a webhook failed; the request passes");
                cx.annotate(format!("{FAILED_OPEN}{place}"), &*hook.name);
                Ok(())
            }
            Err(failure) => Err(failure.into_status()),
        }
    }
}

impl AdmissionPlugin for MutatingWebhooks {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn validates(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let operation = asked::operations(target.operation);
        let table = &self.0.table;
        table.may_mutate(target.resource.plural, operation) && !asked::is_exempt(target)
    }

    fn admit<'a>(
        &'a self,
        attributes: &'a mut Attributes<'_>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(self.change(attributes))
    }
}
