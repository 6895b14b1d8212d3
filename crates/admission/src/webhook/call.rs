//! Calls one webhook about one request.

use super::answer::{Answer, Patch, Unusable};
use super::hook::{Hook, SideEffects};
use super::metrics::{Called, Judged};
use super::rejection;
use super::table::WebhookTable;
use crate::asked::{self, Asked};
use crate::expressions::{AccessQuestions, Inputs, Verdict};
use crate::matching::Matched;
use kubist_apimachinery::{GroupResource, Status};
use kubist_authorization::Authorizer;
use kubist_cel::Variables;
use kubist_registry::admission::{Attributes, Side};
use kubist_registry::{WebhookCall, WebhookCaller, WebhookError};
use serde_json::Value as Json;
use std::sync::Arc;
use tokio::time::Instant;

/// The maximum length of an answer in bytes. It holds a patch of an object.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// What the plugins of webhooks need.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the server fills it in")]
pub struct WebhookParts {
    /// The configurations in force.
    pub table: Arc<WebhookTable>,
    /// Calls webhooks; none if this server calls none: then each call fails.
    pub caller: Option<Arc<dyn WebhookCaller>>,
    /// Decides what match conditions ask about.
    pub authorizer: Arc<dyn Authorizer>,
}

/// Why a request does not pass a webhook.
#[derive(Debug)]
pub(super) enum Failure {
    /// The webhook was not called, or gave no usable answer: its policy decides.
    NotCalled {
        /// What the client or the log is told.
        why: String,
        /// The code of the failure, for metrics.
        code: u16,
    },
    /// The webhook refuses the request.
    Refused(Box<Status>),
    /// The server refuses the request for what the webhook wants or may do.
    Broken(Box<Status>),
}

impl Failure {
    /// Returns the answer to the client where the failure is not ignored.
    pub(super) fn into_status(self) -> Status {
        match self {
            Self::NotCalled { why, .. } => Status::internal_error(why),
            Self::Refused(status) | Self::Broken(status) => *status,
        }
    }
}

/// The codes of failures, for metrics, as upstream.
const BAD_REQUEST: u16 = 400;
const INTERNAL_ERROR: u16 = 500;
pub(super) const UNAVAILABLE: u16 = 503;

/// The review of one request by one webhook.
#[derive(Clone, Copy)]
pub(super) struct Review<'a> {
    pub(super) parts: &'a WebhookParts,
    pub(super) asked: &'a Asked<'a>,
    pub(super) hook: &'a Hook,
    pub(super) matched: &'a Matched,
    pub(super) is_mutating: bool,
}

/// The objects of a review as finished JSON; empty for none.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) object: Vec<u8>,
    pub(super) old: Vec<u8>,
}

impl Texts {
    /// Returns the objects of a request in the version that a webhook matched.
    ///
    /// # Errors
    /// An object cannot be converted.
    pub(super) async fn of(attributes: &Attributes<'_>, matched: &Matched) -> Result<Self, Status> {
        Ok(Self {
            object: asked::text(attributes, Side::New, matched).await?,
            old: asked::text(attributes, Side::Old, matched).await?,
        })
    }
}

impl Review<'_> {
    /// Sends the review, and returns the patch of a webhook that allows the request.
    pub(super) async fn send(&self, texts: &Texts, uid: &str) -> Result<Option<Patch>, Failure> {
        let Self { asked, hook, .. } = self;
        if asked.target().dry_run {
            match hook.side_effects {
                SideEffects::NoneOnDryRun => {}
                SideEffects::Unknown => {
                    return Err(self.not_called("Webhook SideEffects is nil", BAD_REQUEST));
                }
                SideEffects::Some => {
                    let status = rejection::no_dry_run(&hook.name);
                    return Err(Failure::Broken(Box::new(status)));
                }
            }
        }
        let Some(version) = hook.review else {
            return Err(self.not_called(
                "could not create admission objects: webhook does not accept known \
                 AdmissionReview versions (v1, v1beta1)",
                BAD_REQUEST,
            ));
        };
        let form = asked.form(self.matched);
        let body = form.review(version.as_str(), uid, &texts.object, &texts.old);
        let response = self.call(body).await?;
        let answer = Answer::read(version, uid, self.is_mutating, &response);
        let answer = answer.map_err(|unusable| match unusable {
            Unusable::Undecodable(why) => {
                self.not_called(&format!("failed to call webhook: {why}"), UNAVAILABLE)
            }
            Unusable::Invalid(why) => {
                let why = format!("received invalid webhook response: {why}");
                self.not_called(&why, UNAVAILABLE)
            }
        })?;
        for (name, value) in &answer.annotations {
            asked
                .cx()
                .annotate(format!("{}/{name}", hook.name), &**value);
        }
        for warning in &answer.warnings {
            asked.cx().warn(&**warning);
        }
        if answer.allowed {
            return Ok(answer.patch);
        }
        let status = rejection::denied(&hook.name, answer.result);
        Err(Failure::Refused(Box::new(status)))
    }

    async fn call(&self, body: Vec<u8>) -> Result<bytes::Bytes, Failure> {
        let hook = self.hook;
        let failed = |error: &WebhookError| {
            let code = match error {
                WebhookError::Refused { code, .. } => *code,
                _ => UNAVAILABLE,
            };
            let why = format!("failed to call webhook: {}", call_error(error));
            self.not_called(&why, code)
        };
        let caller = self.parts.caller.as_deref();
        let caller = caller.ok_or_else(|| failed(&WebhookError::NoCaller))?;
        let client = hook.endpoint.client(caller).map_err(|error| {
            let why = format!("could not get REST client: {error}");
            self.not_called(&why, INTERNAL_ERROR)
        })?;
        let call = WebhookCall {
            body: body.into(),
            response_bytes_max: ANSWER_BYTES_MAX,
            timeout: hook.timeout,
            lookup: self.asked.objects(),
        };
        client.call(call).await.map_err(|error| failed(&error))
    }

    fn not_called(&self, why: &str, code: u16) -> Failure {
        let why = rejection::not_called(&self.hook.name, why);
        Failure::NotCalled { why, code }
    }

    /// Counts the review, which began at that time.
    pub(super) fn count<T>(&self, began: Instant, outcome: &Result<T, Failure>) {
        let call = Called {
            name: &self.hook.name,
            kind: if self.is_mutating {
                "admit"
            } else {
                "validating"
            },
            operation: self.asked.target().operation,
            fails_open: self.hook.fails_open,
            took: began.elapsed(),
        };
        self.parts.table.metrics().called(&call, outcome);
    }
}

/// Returns the text of a failed call. Upstream limits the call itself, not its client, so that a
/// timeout has other words than that of a conversion.
fn call_error(error: &WebhookError) -> String {
    match error {
        WebhookError::Deadline { url } => format!("Post {url:?}: context deadline exceeded"),
        other => other.to_string(),
    }
}

/// Returns the version in which a webhook matches a request; none if the request is not sent to it.
///
/// # Errors
/// A match condition fails, or the object cannot be converted for it.
pub(super) async fn matched<'a>(
    parts: &WebhookParts,
    asked: &'a Asked<'_>,
    attributes: &Attributes<'_>,
    (hook, is_mutating): (&Hook, bool),
) -> Result<Option<&'a Matched>, Status> {
    let (new, old) = (attributes.object(), attributes.old_object());
    let Some(matched) = asked.matched(&hook.criteria, new, old).await? else {
        return Ok(None);
    };
    if hook.conditions.is_empty() {
        return Ok(Some(matched));
    }
    let version = asked::api_version(matched);
    let object = json(attributes, Side::New, &version).await?;
    let old = json(attributes, Side::Old, &version).await?;
    let request = asked.form(matched).for_expressions();
    let questions = AccessQuestions::new(attributes.user());
    let resource = asked.resource_check();
    let began = Instant::now();
    let (verdict, failures) = loop {
        let inputs = Inputs {
            object: object.as_deref(),
            old_object: old.as_deref(),
            params: None,
            request: &request,
            namespace: None,
            questions: Some(&questions),
            resource: &resource,
        };
        let judged = hook.conditions.judge_counting(&inputs, &Variables::new());
        if !questions.settle(&*parts.authorizer).await {
            break judged;
        }
    };
    parts.table.metrics().judged(&Judged {
        name: &hook.name,
        is_mutating,
        operation: asked.target().operation,
        is_excluded: verdict == Verdict::NotMatched,
        failures,
        took: began.elapsed(),
    });
    match verdict {
        Verdict::Matched => Ok(Some(matched)),
        Verdict::NotMatched => Ok(None),
        Verdict::Failed(why) => {
            let target = asked.target();
            let resource = GroupResource::new(target.resource.group, target.resource.plural);
            Err(Status::forbidden(&resource, target.name, why))
        }
    }
}

async fn json(
    attributes: &Attributes<'_>,
    side: Side,
    version: &str,
) -> Result<Option<Arc<Json>>, Status> {
    let found = attributes.json(side, version).await;
    found.map_err(|status| Status::internal_error(&status.message))
}
