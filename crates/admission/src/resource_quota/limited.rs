//! `LimitedResources`: what may only be used where a quota covers it.

use super::check::{Request, Usage, counted};
use super::scopes::Scope;
use crate::amounts::Amounts;
use crate::document::{Document, DocumentError};
use kubist_api::core::v1::{ResourceQuota, ScopedResourceSelectorRequirement};
use kubist_apimachinery::{FieldError, FieldPath, Str};
use serde::Deserialize;
use std::collections::BTreeSet;

/// What may only be used where a quota covers it. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LimitedResources(Vec<Limited>);

/// The objects of one resource, or what they use, that a quota must cover.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Limited {
    #[serde(default)]
    api_group: String,
    #[serde(default)]
    resource: String,
    /// Parts of the names of what is limited.
    #[serde(default)]
    match_contains: Vec<String>,
    #[serde(default)]
    match_scopes: Vec<ScopedResourceSelectorRequirement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    #[serde(default)]
    limited_resources: Vec<Limited>,
}

/// The versions and kinds of the configuration.
const KINDS: [(&str, &str); 3] = [
    ("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"),
    ("resourcequota.admission.k8s.io/v1beta1", "Configuration"),
    ("resourcequota.admission.k8s.io/v1alpha1", "Configuration"),
];

/// Why a request may not use what it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Uncovered {
    /// No quota counts what it uses.
    Resources(String),
    /// No quota has the scope that the object is in.
    Scopes(String),
}

impl LimitedResources {
    /// Reads a configuration.
    pub(crate) fn parse(document: Document) -> Result<Self, DocumentError> {
        let file: File = document.of_kinds(&KINDS)?;
        let (path, mut errors) = (FieldPath::new("limitedResources"), Vec::new());
        for (place, it) in file.limited_resources.iter().enumerate() {
            if it.resource.is_empty() {
                let at = path.index(place).child("resource");
                errors.push(FieldError::required(&at, ""));
            }
        }
        DocumentError::unless_empty(&errors)?;
        Ok(Self(file.limited_resources))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that the quotas of a namespace cover what a request uses.
    ///
    /// # Errors
    /// Upstream's words for what they do not cover.
    pub(super) fn check(
        &self,
        quotas: &[&ResourceQuota],
        request: &Request<'_>,
        usage: &Usage,
    ) -> Result<(), Uncovered> {
        if self.is_empty() || !uses_more(quotas, request, usage) {
            return Ok(());
        }
        let mut lacking = self.resources(request, &usage.whole);
        for quota in quotas {
            if counted(quota, request, usage).is_some() {
                for name in request.evaluator.names(quota.status.hard.keys()) {
                    lacking.remove(&name);
                }
            }
        }
        if !lacking.is_empty() {
            let lacking: Vec<&str> = lacking.iter().map(Str::as_str).collect();
            let why = format!("insufficient quota to consume: {}", lacking.join(","));
            return Err(Uncovered::Resources(why));
        }
        let has_scope = |wanted: &str| {
            let mut quotas = quotas.iter();
            quotas.any(|quota| {
                Scope::of(&quota.spec).any(|scope| {
                    scope.name == wanted && request.evaluator.is_in(&scope, request.new)
                })
            })
        };
        let limited = self.0.iter().flat_map(|it| &it.match_scopes);
        let uncovered = limited.filter(|it| {
            request.evaluator.is_in(&Scope::from(*it), request.new) && !has_scope(&it.scope_name)
        });
        let uncovered: Vec<String> = uncovered.map(shown).collect();
        if uncovered.is_empty() {
            return Ok(());
        }
        Err(Uncovered::Scopes(format!(
            "insufficient quota to match these scopes: [{}]",
            uncovered.join(" ")
        )))
    }

    /// Returns the names of what a request uses and what is limited.
    fn resources(&self, request: &Request<'_>, used: &Amounts) -> BTreeSet<Str> {
        let facts = request.target.resource;
        let limited = self.0.iter();
        let limited: Vec<&Limited> = limited
            .filter(|it| it.api_group == facts.group && it.resource == facts.plural)
            .collect();
        let is_limited = |name: &str| {
            let mut parts = limited.iter().flat_map(|it| &it.match_contains);
            parts.any(|it| name.contains(it.as_str()))
        };
        let used = used.iter().filter(|(_, amount)| amount.signum() > 0);
        let used = used.filter(|(name, _)| is_limited(name));
        used.map(|(name, _)| name.clone()).collect()
    }
}

/// Reports whether a request changes what is used, in any quota or, without one, at all.
fn uses_more(quotas: &[&ResourceQuota], request: &Request<'_>, usage: &Usage) -> bool {
    let is_some = |amounts: &Amounts| amounts.values().any(|it| !it.is_zero());
    let mut deltas = quotas
        .iter()
        .filter_map(|quota| counted(quota, request, usage))
        .peekable();
    if deltas.peek().is_none() {
        return is_some(usage.more.as_ref().unwrap_or(&usage.whole));
    }
    deltas.any(is_some)
}

/// Returns a scope as Go prints it.
fn shown(it: &ScopedResourceSelectorRequirement) -> String {
    let values: Vec<&str> = it.values.iter().map(Str::as_str).collect();
    format!(
        "{{{} {} [{}]}}",
        it.scope_name,
        it.operator,
        values.join(" ")
    )
}
