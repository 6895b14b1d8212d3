//! `Strategy`: what one kind does differently from all others, on its way into storage.
//!
//! The store knows the road of a write (defaults, admission, preparation, validation, storage); a
//! strategy fills in the steps, and [`StrategyFacts`] say what is constant. A strategy sees one
//! object at a time and does no input or output, except for [`admit`](Strategy::admit) and
//! [`admit_update`](Strategy::admit_update), which may look up other objects. The store takes care
//! of the metadata: strategies neither check nor set it, except where a kind has rules of its own.
//!
//! Objects are of the kind's storage version. [`KindStrategy`](crate::KindStrategy) is the same
//! trait for one Rust type.

pub(crate) mod admission;
pub(crate) mod context;
pub(crate) mod facts;
pub(crate) mod kind_strategy;
pub(crate) mod name_rule;
pub(crate) mod object_fields;
pub(crate) mod validate_metadata;

use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::StrategyFacts;
use kubist_apimachinery::{AnyObject, FieldError, Status, Time};
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What one kind does differently. Every method has a default that fits a kind without
/// peculiarities; `spec` and `status` are found by name.
pub trait Strategy: fmt::Debug + Send + Sync + 'static {
    /// What is constant about the kind.
    fn facts(&self) -> &StrategyFacts {
        &StrategyFacts::PLAIN
    }

    /// The strategy of updates through a subresource such as `status` or `resize`. The store has
    /// restored what that path cannot change already: everything but `metadata` and `status` for a
    /// status (and of the metadata what [`status_keeps`](StrategyFacts::status_keeps) says), the
    /// status for all others. Of its facts, only
    /// [`metadata_on_update`](StrategyFacts::metadata_on_update) counts. Default: nothing is
    /// prepared, and only metadata is checked.
    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        let _ = name;
        None
    }

    /// Fills in what the user left out. Runs on create, on update, and on patched objects; must
    /// change nothing when run again.
    fn apply_defaults(&self, object: &mut dyn AnyObject) {
        let _ = object;
    }

    /// Upstream's mutating and validating admission for this kind, after defaults and before
    /// preparation. Runs on every attempt of a write.
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut dyn AnyObject,
        old: Option<&'a dyn AnyObject>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Whether a change that is valid may be made, judged by other objects. Upstream's validating
    /// admission of updates, where it relies on the validation before it.
    fn admit_update<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a dyn AnyObject,
        old: &'a dyn AnyObject,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }

    /// Prepares a new object: clears what users may not set. The store has cleared `status`
    /// already, where the kind has it as a subresource, and set uid, times and generation.
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut dyn AnyObject) {
        let _ = (cx, new);
    }

    /// Prepares an update: restores from `old` what this path cannot change. The store has restored
    /// `status` already, where the kind has it as a subresource.
    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let _ = (cx, new, old);
    }

    /// Validates a new object, without its metadata.
    fn validate(&self, new: &dyn AnyObject) -> Vec<FieldError> {
        let _ = new;
        Vec::new()
    }

    /// Validates an update, without metadata. Upstream validates the new object as on create and
    /// then the transition; so must implementations. Default: the new object as on create.
    fn validate_update(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> Vec<FieldError> {
        let _ = old;
        self.validate(new)
    }

    /// Warnings for the client: `old` is there on update.
    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }

    /// What is wrong with the name of a new object, or with the prefix from which one is generated.
    /// Default: what the [`name_rule`](StrategyFacts::name_rule) says.
    fn name_problems(&self, object: &dyn AnyObject, name: &str, prefix: bool) -> Vec<String> {
        let _ = object;
        self.facts().name_rule.check(name, prefix)
    }

    /// How many seconds pass between the request to delete `object` and its end, given what the
    /// user asked for. None: the kind knows no graceful deletion. Default: none.
    fn grace_seconds(&self, object: &dyn AnyObject, requested: Option<i64>) -> Option<i64> {
        let _ = (object, requested);
        None
    }

    /// Whether `object` may be deleted at all. Upstream's validating admission of deletes.
    fn admit_delete(&self, object: &dyn AnyObject) -> Result<(), Status> {
        let _ = object;
        Ok(())
    }

    /// Begins the deletion of an object that is not being deleted yet, for kinds that end in a way
    /// of their own: it is marked, and waits. False for all others, which the store marks.
    fn begin_deletion(&self, object: &mut dyn AnyObject, now: Time) -> bool {
        let _ = (object, now);
        false
    }

    /// The value of one of the [`selectable_fields`](StrategyFacts::selectable_fields). Default:
    /// the text at that path.
    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        object_fields::text_at(object, field)
    }
}

/// The name of a field of `metadata` that every kind can be selected by.
pub(crate) const ALWAYS_SELECTABLE: [&str; 2] = ["metadata.name", "metadata.namespace"];

/// The strategy of a kind that differs from others in its facts only.
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
