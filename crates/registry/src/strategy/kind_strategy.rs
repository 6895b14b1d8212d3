//! `KindStrategy`: a strategy written over one Rust type, and its adapter to [`Strategy`].

use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::StrategyFacts;
use crate::strategy::{BoxFuture, Strategy};
use kubist_apimachinery::{AnyObject, FieldError, KubeObject, Status, Time};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;

/// [`Strategy`] for one type: see there for the steps and their defaults.
#[expect(
    missing_docs,
    reason = "each method is that of `Strategy` with the type known"
)]
pub trait KindStrategy: fmt::Debug + Send + Sync + 'static {
    /// The storage version of the kind.
    type Kind: KubeObject;
    /// The constants of the kind.
    const FACTS: &'static StrategyFacts = &StrategyFacts::PLAIN;

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        let _ = name;
        None
    }
    fn apply_defaults(&self, object: &mut Self::Kind) {
        let _ = object;
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut Self::Kind,
        old: Option<&'a Self::Kind>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let _ = (cx, new, old);
        Box::pin(std::future::ready(Ok(())))
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut Self::Kind) {
        let _ = (cx, new);
    }
    fn prepare_for_update(&self, cx: &RequestContext, new: &mut Self::Kind, old: &Self::Kind) {
        let _ = (cx, new, old);
    }
    fn validate(&self, new: &Self::Kind) -> Vec<FieldError> {
        let _ = new;
        Vec::new()
    }
    fn validate_update(&self, new: &Self::Kind, old: &Self::Kind) -> Vec<FieldError> {
        let _ = old;
        self.validate(new)
    }
    fn warnings(&self, new: &Self::Kind, old: Option<&Self::Kind>) -> Vec<String> {
        let _ = (new, old);
        Vec::new()
    }
    fn name_problems(&self, object: &Self::Kind, name: &str, prefix: bool) -> Vec<String> {
        let _ = object;
        Self::FACTS.name_rule.check(name, prefix)
    }
    fn grace_seconds(&self, object: &Self::Kind, requested: Option<i64>) -> Option<i64> {
        let _ = (object, requested);
        None
    }
    fn admit_delete(&self, object: &Self::Kind) -> Result<(), Status> {
        let _ = object;
        Ok(())
    }
    fn begin_deletion(&self, object: &mut Self::Kind, now: Time) -> bool {
        let _ = (object, now);
        false
    }
    fn field<'a>(&self, object: &'a Self::Kind, field: &str) -> Cow<'a, str> {
        crate::strategy::object_fields::text_at(object, field)
    }
}

/// Adapts a [`KindStrategy`] to [`Strategy`]. Objects of another type pass unchanged and unchecked;
/// the store never passes one.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing else to it")]
pub struct ForKind<S>(pub S);

fn typed<K: KubeObject>(object: &dyn AnyObject) -> Option<&K> {
    (object as &dyn Any).downcast_ref()
}

fn typed_mut<K: KubeObject>(object: &mut dyn AnyObject) -> Option<&mut K> {
    (object as &mut dyn Any).downcast_mut()
}

impl<S: KindStrategy> Strategy for ForKind<S> {
    fn facts(&self) -> &StrategyFacts {
        S::FACTS
    }
    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        self.0.subresource(name)
    }
    fn apply_defaults(&self, object: &mut dyn AnyObject) {
        if let Some(object) = typed_mut(object) {
            self.0.apply_defaults(object);
        }
    }
    fn admit<'a>(
        &'a self,
        cx: &'a Admission<'a>,
        new: &'a mut dyn AnyObject,
        old: Option<&'a dyn AnyObject>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        match typed_mut(new) {
            Some(new) => self.0.admit(cx, new, old.and_then(typed)),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
    fn prepare_for_create(&self, cx: &RequestContext, new: &mut dyn AnyObject) {
        if let Some(new) = typed_mut(new) {
            self.0.prepare_for_create(cx, new);
        }
    }
    fn prepare_for_update(
        &self,
        cx: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        if let (Some(new), Some(old)) = (typed_mut(new), typed(old)) {
            self.0.prepare_for_update(cx, new, old);
        }
    }
    fn validate(&self, new: &dyn AnyObject, _: &[FieldError]) -> Vec<FieldError> {
        typed(new).map_or_else(Vec::new, |new| self.0.validate(new))
    }
    fn validate_update(
        &self,
        _: &RequestContext,
        (new, old): (&dyn AnyObject, &dyn AnyObject),
        _: &[FieldError],
    ) -> Vec<FieldError> {
        match (typed(new), typed(old)) {
            (Some(new), Some(old)) => self.0.validate_update(new, old),
            _ => Vec::new(),
        }
    }
    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        typed(new).map_or_else(Vec::new, |new| self.0.warnings(new, old.and_then(typed)))
    }
    fn name_problems(&self, object: &dyn AnyObject, name: &str, prefix: bool) -> Vec<String> {
        match typed(object) {
            Some(object) => self.0.name_problems(object, name, prefix),
            None => S::FACTS.name_rule.check(name, prefix),
        }
    }
    fn grace_seconds(&self, object: &dyn AnyObject, requested: Option<i64>) -> Option<i64> {
        self.0.grace_seconds(typed(object)?, requested)
    }
    fn admit_delete(&self, object: &dyn AnyObject) -> Result<(), Status> {
        typed(object).map_or(Ok(()), |object| self.0.admit_delete(object))
    }
    fn begin_deletion(&self, object: &mut dyn AnyObject, now: Time) -> bool {
        typed_mut(object).is_some_and(|object| self.0.begin_deletion(object, now))
    }
    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        typed(object).map_or(Cow::Borrowed(""), |object| self.0.field(object, field))
    }
}
