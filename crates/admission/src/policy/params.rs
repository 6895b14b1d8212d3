//! The parameters of bindings: objects of any kind, in the version that the policy names.

use super::binding::{Binding, Choice, Params};
use crate::asked::Asked;
use kubist_api::admissionregistration::v1::ParamKind;
use kubist_apimachinery::{Selector, Status};
use kubist_registry::BoxFuture;
use kubist_registry::admission::Attributes;
use serde_json::Value as Json;
use std::fmt;
use std::sync::Arc;

/// Finds the resources of parameters: built-in ones, and those that are defined at run time.
pub trait ParamSource: fmt::Debug + Send + Sync {
    /// Returns the resource of a kind, given its group, version and kind; `None` if it is not
    /// served.
    fn resource(&self, group: &str, version: &str, kind: &str) -> Option<Arc<dyn ParamResource>>;
}

/// The objects of one kind.
pub trait ParamResource: fmt::Debug + Send + Sync {
    /// Reports whether objects are within namespaces.
    fn is_namespaced(&self) -> bool;

    /// Returns an object as JSON, with its kind; `None` if there is none of that name.
    ///
    /// # Errors
    /// Those of the storage.
    fn get<'a>(
        &'a self,
        namespace: &'a str,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<Json>, Status>>;

    /// Returns the selected objects of a namespace, or of all if it is empty.
    ///
    /// # Errors
    /// Those of the storage.
    fn list<'a>(
        &'a self,
        namespace: &'a str,
        selector: &'a Selector,
    ) -> BoxFuture<'a, Result<Vec<Json>, Status>>;
}

/// Returns the resource of the parameters of a policy; none if it has none.
///
/// # Errors
/// Upstream's words: the kind is not served.
pub(super) fn resource(
    source: Option<&Arc<dyn ParamSource>>,
    kind: Option<&ParamKind>,
) -> Result<Option<Arc<dyn ParamResource>>, String> {
    let Some(kind) = kind else {
        return Ok(None);
    };
    let version = kind.api_version.as_str();
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    let found = source.and_then(|it| it.resource(group, version, &kind.kind));
    found.map(Some).ok_or_else(|| {
        let kind = &kind.kind;
        format!("failed to find resource referenced by paramKind: '{group}/{version}, Kind={kind}'")
    })
}

/// Returns the sets of parameters with which a binding is in force for a request; none if it does
/// not match it.
///
/// # Errors
/// Upstream's words for why it cannot be used.
pub(super) async fn of_binding(
    attributes: &Attributes<'_>,
    asked: &Asked<'_>,
    binding: &Binding,
    resource: Option<&Arc<dyn ParamResource>>,
) -> Result<Vec<Option<Json>>, String> {
    if let Some(criteria) = &binding.criteria {
        let (new, old) = (attributes.object(), attributes.old_object());
        let matched = asked.matched(criteria, new, old).await;
        let matched = matched.map_err(|status| status.message.to_string())?;
        if matched.is_none() {
            return Ok(Vec::new());
        }
    }
    collect(resource, binding.params.as_ref(), asked.target().namespace).await
}

/// Returns the parameters of a binding: each is evaluated on its own. A single none stands for a
/// policy or a binding without parameters.
///
/// # Errors
/// Upstream's words for why there are none.
async fn collect(
    resource: Option<&Arc<dyn ParamResource>>,
    params: Option<&Params>,
    namespace: &str,
) -> Result<Vec<Option<Json>>, String> {
    let (Some(resource), Some(params)) = (resource, params) else {
        return Ok(vec![None]);
    };
    let namespace = match (resource.is_namespaced(), &*params.namespace) {
        (true, "") if namespace.is_empty() => {
            return Err(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped \
                 resources"
                    .to_owned(),
            );
        }
        (true, "") => namespace,
        (true, named) => named,
        (false, "") => "",
        (false, _) => {
            return Err(
                "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                    .to_owned(),
            );
        }
    };
    let found = match &params.choice {
        Choice::Name(name) => {
            let found = resource.get(namespace, name).await;
            found.map(|it| it.into_iter().collect())
        }
        Choice::Selector(selector) => resource.list(namespace, selector).await,
        Choice::Invalid(why) => return Err(why.clone()),
    };
    let found: Vec<Json> = found.map_err(|status| status.message.to_string())?;
    if found.is_empty() && params.denies_missing {
        return Err(
            "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
        );
    }
    Ok(found.into_iter().map(Some).collect())
}
