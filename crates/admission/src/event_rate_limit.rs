//! `EventRateLimit`: Events are refused where there are too many, of the server, of a namespace, of
//! a user, or about the same thing from the same source.
//!
//! As upstream, it is about Events of the core group only, and not about dry runs.

use crate::aggregate::aggregate;
use crate::document::{Document, DocumentError};
use kubist_api::core::v1::Event;
use kubist_apimachinery::{FieldError, FieldPath, Status, StatusReason, Str};
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use lru::LruCache;
use parking_lot::Mutex;
use serde::Deserialize;
use std::fmt;
use std::future::ready;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The keys of a limit that are remembered, as upstream: of others, no Event was seen lately.
const KEYS_MAX: NonZeroUsize = NonZeroUsize::MIN.saturating_add(4_095);
/// The versions and kinds of the configuration.
const KINDS: [(&str, &str); 1] = [("eventratelimit.admission.k8s.io/v1alpha1", "Configuration")];
/// What limits are of, in the order of upstream's message.
const TYPES: [&str; 4] = ["Namespace", "User", "SourceAndObject", "Server"];
const OF_SERVER: &str = "Server";

/// The limits of Events. Without any, the plugin cannot be enabled.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EventLimits(Vec<Limit>);

/// How many Events each of something may have.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
struct Limit {
    #[serde(rename = "type")]
    of: String,
    /// In a second.
    qps: i32,
    /// At once, after a pause.
    burst: i32,
    cache_size: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    limits: Vec<Limit>,
}

impl EventLimits {
    /// Reads a configuration. As upstream, unknown fields do not matter.
    pub(crate) fn parse(document: Document) -> Result<Self, DocumentError> {
        let file: File = document.of_kinds(&KINDS)?;
        let limits = Self(file.limits);
        limits.check("[]")?;
        Ok(limits)
    }

    /// Checks that there are limits, and that they make sense. `none` is what there is instead.
    pub(crate) fn check(&self, none: &str) -> Result<(), DocumentError> {
        let (path, mut errors) = (FieldPath::new("limits"), Vec::new());
        if self.0.is_empty() {
            let why = format!("{path}: Invalid value: {none}: must not be empty");
            return Err(DocumentError::new(why));
        }
        for (place, limit) in self.0.iter().enumerate() {
            let path = path.index(place);
            if !TYPES.contains(&limit.of.as_str()) {
                let path = path.child("type");
                errors.push(FieldError::not_supported_text(&path, &limit.of, &TYPES));
            }
            for (name, value) in [("burst", limit.burst), ("qps", limit.qps)] {
                if value <= 0 {
                    let path = path.child(name);
                    errors.push(FieldError::invalid(&path, value, "must be positive"));
                }
            }
            if limit.of != OF_SERVER && limit.cache_size < 0 {
                let (path, why) = (path.child("cacheSize"), "must not be negative");
                errors.push(FieldError::invalid(&path, limit.cache_size, why));
            }
        }
        DocumentError::unless_empty(&errors)
    }
}

/// The plugin `EventRateLimit`.
pub(crate) struct EventRateLimit(Vec<Enforcer>);

/// Enforces one limit.
struct Enforcer {
    limit: Limit,
    buckets: Mutex<LruCache<String, Bucket>>,
}

/// The Events that something may have now, as of a time since the Unix epoch.
struct Bucket {
    tokens: f64,
    as_of: Duration,
}

impl EventRateLimit {
    pub(crate) fn new(limits: &EventLimits) -> Self {
        let enforcer = |limit: &Limit| {
            let size = usize::try_from(limit.cache_size).ok();
            let size = size.and_then(NonZeroUsize::new).unwrap_or(KEYS_MAX);
            Enforcer {
                limit: limit.clone(),
                buckets: Mutex::new(LruCache::new(size)),
            }
        };
        Self(limits.0.iter().map(enforcer).collect())
    }

    fn check(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        let now = attributes.cx().received;
        // Each limit counts the Event, whatever the others say.
        let exceeded: Vec<String> = self
            .0
            .iter()
            .filter_map(|it| {
                let key = it.key(attributes);
                let kind = &it.limit.of;
                (!it.accepts(&key, now))
                    .then(|| format!("limit reached on type {kind} for key {key}"))
            })
            .collect();
        match aggregate(&exceeded) {
            None => Ok(()),
            Some(why) => Err(Status::failure(429, StatusReason::TooManyRequests, why)),
        }
    }
}

impl Enforcer {
    fn key(&self, attributes: &Attributes<'_>) -> String {
        match self.limit.of.as_str() {
            "Namespace" => attributes.target().namespace.to_owned(),
            "User" => attributes.user().name.to_string(),
            "SourceAndObject" => attributes.typed::<Event>().map(about).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Takes a token of a bucket, if there is one.
    fn accepts(&self, key: &str, now: Duration) -> bool {
        let (rate, most) = (f64::from(self.limit.qps), f64::from(self.limit.burst));
        let mut buckets = self.buckets.lock();
        let bucket = buckets.get_or_insert_mut_ref(key, || Bucket {
            tokens: most,
            as_of: now,
        });
        let passed = now.saturating_sub(bucket.as_of).as_secs_f64();
        bucket.tokens = most.min(bucket.tokens + passed * rate);
        bucket.as_of = bucket.as_of.max(now);
        let accepts = bucket.tokens >= 1.0;
        if accepts {
            bucket.tokens -= 1.0;
        }
        accepts
    }
}

/// What an Event is about and where it is from.
fn about(event: &Event) -> String {
    let (source, object) = (&event.source, &event.involved_object);
    let parts = [
        &source.component,
        &source.host,
        &object.kind,
        &object.namespace,
        &object.name,
        &object.uid,
        &object.api_version,
    ];
    parts.map(Str::as_str).concat()
}

impl fmt::Debug for EventRateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EventRateLimit")
            .field(&self.0.len())
            .finish()
    }
}

impl AdmissionPlugin for EventRateLimit {
    fn name(&self) -> &'static str {
        "EventRateLimit"
    }

    fn admits(&self) -> bool {
        false
    }

    fn resources(&self) -> Option<&'static [(&'static str, &'static str)]> {
        Some(&[("", "events")])
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let writes = matches!(target.operation, Operation::Create | Operation::Update);
        writes && !target.dry_run && target.is_object("", "events")
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(ready(self.check(attributes)))
    }
}
