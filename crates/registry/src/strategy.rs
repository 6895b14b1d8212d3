//! `Strategy`: the kind-specific steps of a write.
//!
//! The store implements the write path (defaults, admission, preparation, validation, storage); a
//! strategy supplies the kind-specific steps, and [`StrategyFacts`] the constants. A strategy sees
//! one object at a time and does no I/O, except in [`admit`](Strategy::admit), which may look up
//! other objects. The store handles the metadata: strategies neither validate nor set it, except
//! for rules of their kind.
//!
//! Objects are of the kind's storage version. [`KindStrategy`](crate::KindStrategy) is the same
//! trait for one Rust type.

pub(crate) mod admission;
pub(crate) mod context;
pub(crate) mod conversion_memo;
pub(crate) mod facts;
pub(crate) mod kind_strategy;
pub(crate) mod name_rule;
pub(crate) mod object_fields;
pub(crate) mod object_write;
pub(crate) mod reset_fields;
pub(crate) mod validate_metadata;

use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::StrategyFacts;
use kubist_apimachinery::{AnyObject, FieldError, Status, Time};
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The kind-specific steps of a write. Every method has a default for kinds without special rules;
/// `spec` and `status` are found by name.
pub trait Strategy: fmt::Debug + Send + Sync + 'static {
    /// Returns the constants of the kind.
    fn facts(&self) -> &StrategyFacts {
        &StrategyFacts::PLAIN
    }

    /// Returns the strategy of updates through a subresource such as `status` or `resize`. The
    /// store has already restored what that path cannot change: for a status, everything but
    /// `metadata` and `status` (and the metadata that [`status_keeps`](StrategyFacts::status_keeps)
    /// lists); for all others, the status. Of its facts, only
    /// [`metadata_on_update`](StrategyFacts::metadata_on_update) and
    /// [`reset_fields`](StrategyFacts::reset_fields) count. Default: no preparation, and validation
    /// of the metadata only.
    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        let _ = name;
        None
    }

    /// Removes the fields of a request body that the kind's schema does not specify. Returns a
    /// message for each, if they are reported to the client. Runs once for a body, and once for
    /// each patched object; must be idempotent. `api_version` is what the body claims to be.
    ///
    /// # Errors
    /// The body cannot be completed.
    fn prune(
        &self,
        object: &mut dyn AnyObject,
        api_version: &str,
        reports: bool,
    ) -> Result<Vec<String>, Status> {
        let _ = (object, api_version, reports);
        Ok(Vec::new())
    }

    /// Sets the defaults of omitted fields. Runs on create, on update and on patched objects; must
    /// be idempotent.
    fn apply_defaults(&self, object: &mut dyn AnyObject) {
        let _ = object;
    }

    /// Checks the request against other objects, and completes the new object: after defaults and
    /// the admission plugins and before preparation, on every attempt of a write.
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut dyn AnyObject,
        old: Option<&'a dyn AnyObject>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Prepares a new object: clears fields that users may not set. The store has already cleared
    /// `status`, where it is a subresource, and set uid, timestamps and generation.
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut dyn AnyObject) {
        let _ = (cx, new);
    }

    /// Prepares an update: restores from `old` the fields that this path cannot change. The store
    /// has already restored `status`, where it is a subresource.
    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let _ = (cx, new, old);
    }

    /// Validates a new object besides its metadata, whose errors are known.
    fn validate(&self, new: &dyn AnyObject, of_metadata: &[FieldError]) -> Vec<FieldError> {
        let _ = (new, of_metadata);
        Vec::new()
    }

    /// Validates an update besides its metadata, whose errors are known. Upstream validates the new
    /// object as on create and then the transition, and so must implementations; they warn of
    /// errors that pass because their values do not change. Default: the new object as on create.
    fn validate_update(
        &self,
        cx: &RequestContext,
        (new, old): (&dyn AnyObject, &dyn AnyObject),
        of_metadata: &[FieldError],
    ) -> Vec<FieldError> {
        let _ = (cx, old);
        self.validate(new, of_metadata)
    }

    /// Returns warnings for the client. `old` is present on update.
    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }

    /// Returns the errors of a new object's name, or of the prefix of a generated name. Default: by
    /// the [`name_rule`](StrategyFacts::name_rule).
    fn name_problems(&self, object: &dyn AnyObject, name: &str, prefix: bool) -> Vec<String> {
        let _ = object;
        self.facts().name_rule.check(name, prefix)
    }

    /// Returns the grace period of a delete in seconds, given the requested one. `None`: the kind
    /// has no graceful deletion. Default: `None`.
    fn grace_seconds(&self, object: &dyn AnyObject, requested: Option<i64>) -> Option<i64> {
        let _ = (object, requested);
        None
    }

    /// Checks whether `object` may be deleted. Upstream's validating admission of deletes.
    fn admit_delete(&self, object: &dyn AnyObject) -> Result<(), Status> {
        let _ = object;
        Ok(())
    }

    /// Starts the deletion of an object that is not being deleted yet, for kinds with their own
    /// procedure: the object is marked, and waits. Returns false for all other kinds, whose objects
    /// the store marks.
    fn begin_deletion(&self, object: &mut dyn AnyObject, now: Time) -> bool {
        let _ = (object, now);
        false
    }

    /// Returns the value of one of the [`selectable_fields`](StrategyFacts::selectable_fields).
    /// Default: the text at that path.
    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        object_fields::text_at(object, field)
    }
}

/// The metadata fields that are selectable for every kind.
pub(crate) const ALWAYS_SELECTABLE: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// The strategy of a kind that differs from others only in its facts.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing else to it")]
pub struct PlainStrategy(pub StrategyFacts);

impl Default for PlainStrategy {
    fn default() -> Self {
        Self(StrategyFacts::PLAIN)
    }
}

impl Strategy for PlainStrategy {
    fn facts(&self) -> &StrategyFacts {
        &self.0
    }
}

/// Adds the warnings of a strategy to a request.
pub(crate) fn warn(
    cx: &RequestContext,
    strategy: &dyn Strategy,
    new: &dyn AnyObject,
    old: Option<&dyn AnyObject>,
) {
    for warning in strategy.warnings(new, old) {
        cx.warn(warning);
    }
}
