//! `Conversion`: converts custom objects between the versions of their definition.
//!
//! With the strategy `None`, only the name of the version changes. With `Webhook`, the objects are
//! sent to the webhook of the definition, those of a list together. Objects that are in the wanted
//! version already are not sent. Order and identity are kept.
//!
//! The answer of a webhook is checked (`conversion/answer.rs`), and a call that takes longer than
//! [`CALL_TIMEOUT`] fails. A failure affects only the request that needs the conversion: no lock is
//! held during a call, and watch caches hold the stored form.

pub(crate) mod answer;
pub(crate) mod flights;
pub(crate) mod review;

use crate::custom::conversion::answer::Refusal;
use crate::custom::conversion::review::ReviewVersion;
use crate::custom::pipeline::Pipeline;
use crate::storage::work_budget::WorkBudget;
use crate::store::field_managers::{ConvertVersions, invalid_version, object_of};
use crate::store::stores::Stores;
use crate::stored::custom_object::custom;
use crate::stored::written_json;
use crate::strategy::BoxFuture;
use crate::strategy::conversion_memo::Wanted;
use crate::webhook::{
    WebhookCall, WebhookCaller, WebhookClient, WebhookConfig, WebhookError, WebhookService,
    WebhookTarget,
};
use kubist_api::Kind;
use kubist_api::apiextensions::v1::{CustomResourceConversion, CustomResourceDefinition};
use kubist_apimachinery::wire::{Message as _, to_json_value};
use kubist_apimachinery::{CustomObject, Str};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The time limit of a webhook call, as upstream.
pub(crate) const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of objects in one review. Longer lists need several.
const OBJECTS_MAX: usize = 500;
/// The length of the objects after which a review is complete. One object is always sent.
const REVIEW_BYTES: usize = 4 << 20;
/// The maximum length of an answer.
const ANSWER_BYTES_MAX: usize = 32 << 20;
/// The port of a service without one, as upstream.
const DEFAULT_PORT: i32 = 443;

/// The conversion of a definition.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// Identifies it among all conversions of this process.
    id: u64,
    /// The steps of each version in which objects can be stored.
    pipelines: Vec<Pipeline>,
    /// `None` if only the name of the version changes.
    webhook: Option<Webhook>,
}

/// What a conversion needs beside the definition.
#[derive(Clone, Debug)]
pub(crate) struct ConversionParts {
    /// The webhook caller; `None` if this server calls no webhooks.
    pub(crate) caller: Option<Arc<dyn WebhookCaller>>,
    pub(crate) stores: Arc<Stores>,
}

/// The webhook of a definition.
#[derive(Debug)]
struct Webhook {
    config: Result<WebhookConfig, WebhookError>,
    accepted: Vec<Str>,
    parts: Option<ConversionParts>,
    /// The client, created at the first call.
    client: OnceLock<Result<Arc<dyn WebhookClient>, WebhookError>>,
}

/// The objects of one review.
struct Batch<'a> {
    objects: &'a [CustomObject],
    to: &'static Kind,
}

impl Conversion {
    /// Returns the conversion of a definition with these versions.
    pub(crate) fn of(
        definition: &CustomResourceDefinition,
        pipelines: Vec<Pipeline>,
        parts: Option<&ConversionParts>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let conversion = definition.spec.conversion.as_deref();
        let webhook = conversion.filter(|it| it.strategy != *"None");
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            pipelines,
            webhook: webhook.map(|it| Webhook::of(it, parts.cloned())),
        }
    }

    /// Returns a number that no other conversion of this process has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Reports whether versions differ in more than their name.
    pub(crate) fn has_webhook(&self) -> bool {
        self.webhook.is_some()
    }

    /// Reports whether reading an object can change more than the name of its version.
    pub(crate) fn changes_objects(&self) -> bool {
        self.has_webhook() || self.pipelines.iter().any(|it| it.reading() > 0)
    }

    /// Returns the versions in which objects can be stored.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &'static Kind> + '_ {
        self.pipelines.iter().map(|it| it.kind)
    }

    /// Returns the version of that name.
    pub(crate) fn version(&self, api_version: &str) -> Option<&'static Kind> {
        self.versions()
            .find(|kind| kind.facts().api_version == api_version)
    }

    /// Returns the steps of a version.
    pub(crate) fn pipeline(&self, kind: &Kind) -> Option<&Pipeline> {
        let mut pipelines = self.pipelines.iter();
        pipelines.find(|it| it.kind.facts() == kind.facts())
    }

    /// Returns the objects in the version `to`, in the same order.
    ///
    /// # Errors
    /// Upstream's message. None of the objects is converted.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the calls.
    pub(crate) async fn convert(
        &self,
        objects: Vec<CustomObject>,
        to: &'static Kind,
    ) -> Result<Vec<CustomObject>, String> {
        let is_other = |it: &CustomObject| !std::ptr::eq(it.schema(), to.schema());
        let (mut others, mut places) = (Vec::new(), Vec::with_capacity(objects.len()));
        for object in objects {
            if is_other(&object) {
                others.push(object);
                places.push(None);
            } else {
                places.push(Some(object));
            }
        }
        let mut converted = match &self.webhook {
            _ if others.is_empty() => Vec::new(),
            None => renamed(others, to),
            Some(webhook) => webhook.convert(others, to).await?,
        };
        if let Some(pipeline) = self.pipeline(to) {
            for object in &mut converted {
                pipeline.converted(object);
            }
        }
        let mut converted = converted.into_iter();
        // There is one for each place without an object.
        let filled = places.into_iter().map(|it| it.or_else(|| converted.next()));
        Ok(filled.flatten().collect())
    }
}

impl ConvertVersions for Conversion {
    fn convert(&self, wanted: Wanted) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            let from = wanted.object["apiVersion"].as_str().unwrap_or_default();
            let find = |version: &str| {
                let unknown = || invalid_version(version);
                self.version(version).ok_or_else(unknown)
            };
            let (from, to) = (find(from)?, find(&wanted.to)?);
            let object = object_of(&wanted.object, from).map_err(|it| it.message.to_string())?;
            let object = custom(&*object)
                .cloned()
                .ok_or("a custom object was expected")?;
            let converted = Self::convert(self, vec![object], to).await?;
            let converted = converted.first().ok_or("an object was not converted")?;
            Ok(to_json_value(converted))
        })
    }
}

fn renamed(mut objects: Vec<CustomObject>, to: &'static Kind) -> Vec<CustomObject> {
    for object in &mut objects {
        object.set_schema(to.schema());
    }
    objects
}

impl Webhook {
    fn of(conversion: &CustomResourceConversion, parts: Option<ConversionParts>) -> Self {
        let webhook = conversion.webhook.as_deref();
        Self {
            config: config_of(conversion),
            accepted: webhook.map_or_else(Vec::new, |it| it.conversion_review_versions.clone()),
            parts,
            client: OnceLock::new(),
        }
    }

    async fn convert(
        &self,
        mut objects: Vec<CustomObject>,
        to: &'static Kind,
    ) -> Result<Vec<CustomObject>, String> {
        // As upstream, an object without content and metadata is not sent.
        if let [object] = &objects[..]
            && object.content().is_empty()
            && object.metadata == Default::default()
        {
            return Ok(renamed(objects, to));
        }
        let Some(version) = ReviewVersion::first_known(&self.accepted) else {
            return Err("no supported conversion review versions".to_owned());
        };
        let mut converted = Vec::with_capacity(objects.len());
        let mut budget = WorkBudget::new();
        // Upstream converts stored objects before it adds their resource version.
        let versions: Vec<Str> = objects
            .iter_mut()
            .map(|it| std::mem::take(&mut it.metadata.resource_version))
            .collect();
        let mut rest = &objects[..];
        while !rest.is_empty() {
            let (mut texts, mut length) = (Vec::new(), 0);
            for object in rest.iter().take(OBJECTS_MAX) {
                if length > REVIEW_BYTES {
                    break;
                }
                let text = written_json::custom_shown(object).map_err(|it| it.to_string())?;
                length += text.len();
                budget.spend(text.len()).await;
                texts.push(text);
            }
            let batch = Batch {
                objects: &rest[..texts.len()],
                to,
            };
            converted.extend(self.review(&batch, version, &texts, &mut budget).await?);
            rest = &rest[batch.objects.len()..];
        }
        for (object, version) in converted.iter_mut().zip(versions) {
            object.metadata.resource_version = version;
        }
        Ok(converted)
    }

    /// Sends one review, and checks the answer.
    async fn review(
        &self,
        batch: &Batch<'_>,
        version: ReviewVersion,
        texts: &[Vec<u8>],
        budget: &mut WorkBudget,
    ) -> Result<Vec<CustomObject>, String> {
        let failed = |why: &dyn fmt::Display| batch.error(0, &format_args!("failed: {why}"));
        let parts = self.parts.as_ref().filter(|it| it.caller.is_some());
        let parts = parts.ok_or_else(|| failed(&WebhookError::NoCaller))?;
        let uid = parts.stores.random.uid();
        let desired = batch.to.facts().api_version;
        let body = review::request(version, &uid, desired, texts);
        let answer = self.call(parts, body).await;
        let answer = answer.map_err(|error| failed(&error))?;
        let found = review::converted_objects(version, &uid, &answer);
        let found = found.map_err(|error| failed(&error))?;
        batch.checked(&found, budget).await
    }

    async fn call(
        &self,
        parts: &ConversionParts,
        body: Vec<u8>,
    ) -> Result<bytes::Bytes, WebhookError> {
        let config = self.config.as_ref().map_err(Clone::clone)?;
        let client = self.client.get_or_init(|| match &parts.caller {
            Some(caller) => caller.client(config),
            None => Err(WebhookError::NoCaller),
        });
        let client = client.as_ref().map_err(Clone::clone)?;
        let deadline = Instant::now() + CALL_TIMEOUT;
        let call = client.call(WebhookCall {
            body: body.into(),
            response_bytes_max: ANSWER_BYTES_MAX,
            timeout: CALL_TIMEOUT,
            lookup: &*parts.stores,
        });
        // A caller that ignores the limit does not delay the request.
        match timeout_at(deadline, call).await {
            Ok(answer) => answer,
            Err(_) => Err(WebhookError::Deadline {
                url: config.target.url(CALL_TIMEOUT),
            }),
        }
    }
}

impl Batch<'_> {
    /// Returns the converted objects, if each is the counterpart of its original.
    async fn checked(
        &self,
        found: &[&RawValue],
        budget: &mut WorkBudget,
    ) -> Result<Vec<CustomObject>, String> {
        let (expected, number) = (self.objects.len(), found.len());
        if number != expected {
            let why = format_args!("returned {number} objects, expected {expected}");
            return Err(self.error(0, &why));
        }
        let mut converted = Vec::with_capacity(expected);
        for (index, (original, found)) in self.objects.iter().zip(found).enumerate() {
            budget.spend(found.get().len()).await;
            let object = answer::converted(original, found, self.to);
            converted.push(object.map_err(|refusal| self.refused(index, &refusal))?);
        }
        Ok(converted)
    }

    /// Returns upstream's message for an object that is refused.
    fn refused(&self, index: usize, refusal: &Refusal) -> String {
        let is_list = self.objects.len() > 1;
        let why = match refusal {
            Refusal::NoObject(why) if !is_list => return why.clone(),
            Refusal::Type(why) if !is_list => {
                format!("returned invalid object at index 0: {why}")
            }
            Refusal::Identity(why) if !is_list => format!("returned invalid object: {why}"),
            Refusal::Metadata(why) if !is_list => format!("returned invalid metadata: {why}"),
            Refusal::NoObject(why) | Refusal::Type(why) | Refusal::Identity(why) => {
                format!("returned invalid converted object at index {index}: {why}")
            }
            Refusal::Metadata(why) => {
                format!("returned invalid metadata in object at index {index}: {why}")
            }
        };
        self.error(index, &why)
    }

    fn error(&self, index: usize, why: &dyn fmt::Display) -> String {
        let kind = self.objects.get(index).and_then(|it| it.schema().kind);
        let (version, kind) = kind.map_or(("", ""), |it| (it.api_version, it.kind));
        format!("conversion webhook for {version}, Kind={kind} {why}")
    }
}

/// Returns the configuration of the webhook of a definition.
fn config_of(conversion: &CustomResourceConversion) -> Result<WebhookConfig, WebhookError> {
    let invalid = |reason: &str| WebhookError::InvalidConfig {
        reason: reason.to_owned(),
    };
    if conversion.strategy != *"Webhook" {
        let strategy = &conversion.strategy;
        return Err(invalid(&format!(
            "unknown conversion strategy {strategy:?}"
        )));
    }
    let webhook = conversion.webhook.as_deref();
    let client = webhook.and_then(|it| it.client_config.as_deref());
    let neither = "webhook configuration must have either service or URL";
    let client = client.ok_or_else(|| invalid(neither))?;
    let target = match (&client.service, &client.url) {
        (Some(service), _) => WebhookTarget::Service(WebhookService {
            namespace: service.namespace.to_string(),
            name: service.name.to_string(),
            path: service.path.as_deref().unwrap_or_default().to_owned(),
            port: u16::try_from(service.port.unwrap_or(DEFAULT_PORT))
                .map_err(|_| invalid("the port of the service is invalid"))?,
        }),
        (None, Some(url)) => WebhookTarget::Url(url.to_string()),
        (None, None) => return Err(invalid(neither)),
    };
    let bundle = &client.ca_bundle;
    // As upstream, white space counts as no bundle.
    let is_blank = bundle.iter().all(u8::is_ascii_whitespace);
    Ok(WebhookConfig {
        target,
        ca_bundle: if is_blank {
            bytes::Bytes::new()
        } else {
            bytes::Bytes::copy_from_slice(bundle)
        },
    })
}

#[cfg(test)]
mod tests;
