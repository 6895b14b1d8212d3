//! `ResourceQuota`: charges objects to the quotas of their namespace, before they are stored.
//!
//! The usage of a quota is in its status. A write first raises it, by compare-and-set, and fails if
//! that exceeds a limit. If nothing is written then, the usage is lowered again (upstream leaves
//! that to its controller). Usage that became free by deletions is found by
//! the controller, [`run_quotas`](crate::run_quotas).

pub(crate) mod charge;
pub(crate) mod check;
pub(crate) mod claims;
pub(crate) mod evaluator;
mod limited;
pub(crate) mod pods;
pub(crate) mod recount;
pub(crate) mod scopes;
pub(crate) mod services;

use self::charge::{Charge, Charged};
use self::check::{Request, check};
use self::evaluator::Evaluator;
pub(crate) use self::limited::LimitedResources;
use self::limited::Uncovered;
use crate::amounts::Amounts;
use crate::objects::typed;
use kubist_api::core::v1::ResourceQuota as Quota;
use kubist_apimachinery::Status;
use kubist_registry::BoxFuture;
use kubist_registry::admission::{AdmissionPlugin, Attributes, Operation, Target};
use std::sync::Arc;

/// Enforces resource quotas.
#[derive(Debug)]
pub(crate) struct ResourceQuota(pub(crate) Arc<LimitedResources>);

/// Resources that are never counted, by group and plural: those that are stored nowhere, and
/// events.
const IGNORED: [(&str, &str); 10] = [
    ("", "bindings"),
    ("", "componentstatuses"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("", "events"),
    ("events.k8s.io", "events"),
];

impl AdmissionPlugin for ResourceQuota {
    fn name(&self) -> &'static str {
        "ResourceQuota"
    }

    fn admits(&self) -> bool {
        false
    }

    fn handles(&self, target: &Target<'_>) -> bool {
        let facts = target.resource;
        if target.namespace.is_empty() || target.is("", "namespaces") {
            return false;
        }
        match target.operation {
            Operation::Create if target.subresource.is_empty() => {
                !IGNORED.contains(&(facts.group, facts.plural))
            }
            Operation::Update => Evaluator::counts_updates(target),
            _ => false,
        }
    }

    fn reserves(&self, target: &Target<'_>) -> bool {
        // Creates find out whether there is a quota before they begin.
        target.operation == Operation::Update && self.handles(target)
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'_>) -> BoxFuture<'a, Result<(), Status>> {
        Box::pin(async move {
            let Some(object) = attributes.object() else {
                return Ok(());
            };
            let facts = attributes.target().resource;
            let request = Request {
                evaluator: Evaluator::of(facts.group, facts.plural),
                target: attributes.target(),
                new: object,
                old: attributes.old_object(),
                now: attributes.cx().now(),
            };
            if request.is_counted() {
                enforce(attributes, &request, &self.0).await
            } else {
                Ok(())
            }
        })
    }
}

/// Charges a request to all quotas that it concerns.
async fn enforce(
    attributes: &Attributes<'_>,
    request: &Request<'_>,
    limited: &LimitedResources,
) -> Result<(), Status> {
    let namespace = request.target.namespace;
    let quotas = attributes
        .objects()
        .list("", "resourcequotas", namespace)
        .await?;
    if quotas.is_empty() && limited.is_empty() {
        return Ok(());
    }
    let usage = request.usage().map_err(|why| attributes.forbidden(why))?;
    let quotas: Vec<&Quota> = quotas.iter().filter_map(|it| typed(&**it)).collect();
    limited
        .check(&quotas, request, &usage)
        .map_err(|uncovered| match uncovered {
            Uncovered::Resources(why) => attributes.forbidden(why),
            Uncovered::Scopes(why) => Status::unmapped_error(why),
        })?;
    let mut concerned = Vec::new();
    for quota in quotas {
        let added = check(quota, request, &usage).map_err(|why| attributes.forbidden(why))?;
        if !added.is_empty() {
            concerned.push(quota);
        }
    }
    if request.target.dry_run || concerned.is_empty() {
        return Ok(());
    }
    let Some(charge) = Charge::new(attributes) else {
        return Ok(());
    };
    let mut charged = Charged::new(charge);
    for quota in concerned {
        let name = &quota.metadata.name;
        let added = |quota: &Quota| -> Result<Amounts, Status> {
            check(quota, request, &usage).map_err(|why| attributes.forbidden(why))
        };
        if let Err(status) = charged.add(namespace, name, &added).await {
            charged.release().await;
            return Err(status);
        }
    }
    attributes.reserve(Box::new(charged));
    Ok(())
}
