//! Whether a request fits into a quota, with upstream's messages.

use super::evaluator::Evaluator;
use super::scopes::Scope;
use crate::amounts::{self, Amounts};
use kubist_api::core::v1::ResourceQuota;
use kubist_apimachinery::{AnyObject, Str, Time};
use kubist_registry::admission::{Operation, Target};
use std::collections::BTreeSet;

/// A request that may use resources.
pub(crate) struct Request<'a> {
    pub(crate) evaluator: Evaluator,
    pub(crate) target: Target<'a>,
    pub(crate) new: &'a dyn AnyObject,
    pub(crate) old: Option<&'a dyn AnyObject>,
    pub(crate) now: Time,
}

/// What a request uses.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// That of the new object.
    pub(super) whole: Amounts,
    /// What the new object uses beyond the old one.
    pub(super) more: Option<Amounts>,
}

impl Request<'_> {
    /// Reports whether it may change usage.
    pub(crate) fn is_counted(&self) -> bool {
        self.evaluator.handles(&self.target, self.new, self.old)
    }

    /// Returns what it uses.
    ///
    /// # Errors
    /// The object uses a negative amount.
    pub(crate) fn usage(&self) -> Result<Usage, String> {
        let whole = self.evaluator.usage(self.new, self.now);
        let negative = whole.iter().filter(|(_, amount)| amount.signum() < 0);
        let negative: Vec<&str> = negative.map(|(name, _)| name.as_str()).collect();
        if !negative.is_empty() {
            let names = negative.join(",");
            return Err(format!("quota usage is negative for resource(s): {names}"));
        }
        let old = self
            .old
            .filter(|_| self.target.operation == Operation::Update);
        let before = old.map(|old| self.evaluator.usage(old, self.now));
        Ok(Usage {
            more: before.map(|before| amounts::less(&whole, &before)),
            whole,
        })
    }

    fn matches(&self, quota: &ResourceQuota, object: &dyn AnyObject) -> bool {
        let mut scopes = Scope::of(&quota.spec);
        scopes.all(|scope| self.evaluator.is_in(&scope, object))
    }
}

/// Returns what a request uses that a quota counts, with all names; none if it does not count it.
pub(super) fn counted<'a>(
    quota: &ResourceQuota,
    request: &Request<'_>,
    usage: &'a Usage,
) -> Option<&'a Amounts> {
    let names = request.evaluator.names(quota.status.hard.keys());
    if names.is_empty() || !request.matches(quota, request.new) {
        return None;
    }
    // An update that brings the object into the quota counts as a whole.
    let more = usage.more.as_ref().filter(|_| {
        let old = request.old;
        old.is_some_and(|old| request.matches(quota, old))
    });
    Some(more.unwrap_or(&usage.whole))
}

/// Returns what a request adds to the usage of a quota; nothing if the quota does not count it.
///
/// # Errors
/// Why it does not fit.
pub(crate) fn check(
    quota: &ResourceQuota,
    request: &Request<'_>,
    usage: &Usage,
) -> Result<Amounts, String> {
    let (hard, used) = (&quota.status.hard, &quota.status.used);
    let Some(delta) = counted(quota, request, usage) else {
        return Ok(Amounts::new());
    };
    let names = request.evaluator.names(hard.keys());
    let name = &quota.metadata.name;
    if let Some(lacks) = request.evaluator.lacks(&names, request.new) {
        return Err(format!("failed quota: {name}: {lacks}"));
    }
    if names.iter().any(|it| !used.contains_key(it)) {
        let names = joined(&names);
        return Err(format!(
            "status unknown for quota: {name}, resources: {names}"
        ));
    }
    let mut requested = amounts::only(delta, |it| hard.contains_key(it));
    requested.retain(|_, amount| !amount.is_zero());
    let mut sum = used.clone();
    amounts::add(&mut sum, &requested);
    let exceeds = |it: &str| {
        let limit = hard.get(it).zip(sum.get(it));
        requested.contains_key(it) && limit.is_some_and(|(limit, sum)| sum > limit)
    };
    // The status of a claim reports what has happened already.
    let exceeded = request.target.subresource != "status" && hard.keys().any(|it| exceeds(it));
    if exceeded {
        return Err(format!(
            "exceeded quota: {name}, requested: {}, used: {}, limited: {}",
            amounts::text(&amounts::only(&requested, exceeds)),
            amounts::text(&amounts::only(used, exceeds)),
            amounts::text(&amounts::only(hard, exceeds)),
        ));
    }
    Ok(requested)
}

fn joined(names: &BTreeSet<Str>) -> String {
    let names: Vec<&str> = names.iter().map(Str::as_str).collect();
    names.join(",")
}
