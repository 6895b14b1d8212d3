//! `Asked`: a request with what webhooks and policies compute of it, each once.

use crate::expressions::RequestForm;
use crate::matching::{Criteria, Labels, Matched, Operations, Target};
use kubist_api::core::v1::Namespace;
use kubist_api::{Kind, ResourceFacts, find_kind_by_api_version};
use kubist_apimachinery::wire::{DecodeContext, merge_json, to_json, to_json_value};
use kubist_apimachinery::{
    AnyObject, CustomObject, GroupVersionKind, GroupVersionResource, Status,
};
use kubist_cel::AccessRequest;
use kubist_registry::admission::{self, Attributes, Operation, Side};
use kubist_registry::{Lookup, RequestContext};
use serde_json::Value as Json;
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// A request. It does not borrow the attributes, whose object may change meanwhile.
pub(crate) struct Asked<'a> {
    target: admission::Target<'a>,
    cx: &'a RequestContext,
    objects: &'a dyn Lookup,
    /// The JSON of the options; empty if there are none.
    options: Vec<u8>,
    /// The requested version, and then those that are equivalent to it.
    versions: Vec<Matched>,
    namespace: OnceLock<Option<Arc<dyn AnyObject>>>,
}

impl<'a> Asked<'a> {
    /// Describes a request.
    pub(crate) fn of(attributes: &Attributes<'a>) -> Self {
        let target = attributes.target();
        let options = attributes.options().to_json(target.operation);
        let equivalent = attributes.equivalents().iter();
        let equivalent = equivalent.filter(|it| !is_same(it, target.resource));
        let versions = std::iter::once(target.resource).chain(equivalent.copied());
        Self {
            target,
            cx: attributes.cx(),
            objects: attributes.objects(),
            options: options.map_or_else(Vec::new, |it| ordered(&it)),
            versions: versions.map(|it| version(&target, it)).collect(),
            namespace: OnceLock::new(),
        }
    }

    pub(crate) fn target(&self) -> admission::Target<'a> {
        self.target
    }

    pub(crate) fn cx(&self) -> &'a RequestContext {
        self.cx
    }

    pub(crate) fn objects(&self) -> &'a dyn Lookup {
        self.objects
    }

    /// Returns the request as rules see it.
    pub(crate) fn rule_target(&self) -> Target<'a> {
        let target = &self.target;
        Target {
            group: target.resource.group,
            version: target.resource.version,
            resource: target.resource.plural,
            subresource: target.subresource,
            namespace: target.namespace,
            name: target.name,
            operation: operations(target.operation),
        }
    }

    /// Returns the request as webhooks and expressions see it.
    pub(crate) fn form<'f>(&'f self, matched: &'f Matched) -> RequestForm<'f> {
        let target = &self.target;
        RequestForm {
            matched,
            // There is always the requested version.
            requested: self.versions.first().unwrap_or(matched),
            subresource: target.subresource,
            namespace: target.namespace,
            name: target.name,
            operation: target.operation.as_str(),
            user: &self.cx.user,
            dry_run: target.dry_run,
            options: &self.options,
        }
    }

    /// Returns the resource of the request, as expressions ask the authorizer about it.
    pub(crate) fn resource_check(&self) -> AccessRequest {
        let target = &self.target;
        let mut request = AccessRequest::default();
        target.resource.group.clone_into(&mut request.group);
        target.resource.plural.clone_into(&mut request.resource);
        target.subresource.clone_into(&mut request.subresource);
        target.namespace.clone_into(&mut request.namespace);
        target.name.clone_into(&mut request.name);
        request
    }

    /// Returns the version in which criteria match the request with these objects; `None` if they
    /// do not match it.
    ///
    /// # Errors
    /// A selector is invalid, or the namespace cannot be read.
    pub(crate) async fn matched(
        &self,
        criteria: &Criteria,
        new: Option<&dyn AnyObject>,
        old: Option<&dyn AnyObject>,
    ) -> Result<Option<&Matched>, Status> {
        let Some(version) = criteria.version(&self.rule_target(), &self.versions) else {
            return Ok(None);
        };
        let selected = criteria.selects(new.map(labels), old.map(labels));
        if selected == Ok(false) {
            return Ok(None);
        }
        if !self.is_in_selected_namespace(criteria, new).await? {
            return Ok(None);
        }
        selected.map_err(Status::internal_error)?;
        Ok(Some(version))
    }

    async fn is_in_selected_namespace(
        &self,
        criteria: &Criteria,
        new: Option<&dyn AnyObject>,
    ) -> Result<bool, Status> {
        let target = &self.target;
        let is_namespace = target.resource.plural == "namespaces";
        if target.namespace.is_empty() && !is_namespace {
            return Ok(true);
        }
        let selector = criteria.namespaces().map_err(Status::internal_error)?;
        let Some(selector) = selector else {
            return Ok(true);
        };
        let is_written = matches!(target.operation, Operation::Create | Operation::Update);
        if is_namespace && target.subresource.is_empty() && is_written {
            let none = Labels::new();
            let labels = new.map_or(&none, |it| &it.meta().labels);
            return Ok(selector.matches_labels(labels));
        }
        match self.namespace().await? {
            Some(namespace) => Ok(selector.matches_labels(&namespace.meta().labels)),
            None => Err(self.no_namespace()),
        }
    }

    /// Returns the stored namespace of the request; none if it is in none, or in a missing one.
    ///
    /// # Errors
    /// Those of the storage.
    pub(crate) async fn namespace(&self) -> Result<Option<Arc<dyn AnyObject>>, Status> {
        if let Some(known) = self.namespace.get() {
            return Ok(known.clone());
        }
        let name = self.target.namespace;
        let found = match name {
            "" => None,
            name => self.objects.get("", "namespaces", "", name).await?,
        };
        Ok(self.namespace.get_or_init(|| found).clone())
    }

    /// Returns the namespace of the request as expressions see it; none for what is in none, and
    /// for Namespaces.
    ///
    /// # Errors
    /// There is no such namespace.
    pub(crate) async fn namespace_object(&self) -> Result<Option<Json>, Status> {
        let target = &self.target;
        let kind = target.kind.facts();
        let is_namespace = (kind.group, kind.version, kind.kind) == ("", "v1", "Namespace");
        if target.namespace.is_empty() || is_namespace {
            return Ok(None);
        }
        let found = self.namespace().await?;
        let found = found.ok_or_else(|| self.no_namespace())?;
        let found: &dyn Any = &*found;
        let Some(found) = found.downcast_ref::<Namespace>() else {
            return Err(Status::internal_error("a namespace was expected"));
        };
        let mut shown = found.clone();
        shown.metadata.managed_fields = Vec::new();
        shown.metadata.owner_references = Vec::new();
        let mut shown = to_json_value(&shown);
        if let Some(members) = shown.as_object_mut() {
            // It is created without them.
            members.remove("kind");
            members.remove("apiVersion");
        }
        Ok(Some(shown))
    }

    fn no_namespace(&self) -> Status {
        let resource = kubist_apimachinery::GroupResource::new("", "namespaces");
        Status::not_found(&resource, self.target.namespace)
    }
}

/// Returns an object of a request as finished JSON in the version that was matched, with the order
/// of members that upstream has; empty if there is no such object.
///
/// # Errors
/// The object cannot be converted.
pub(crate) async fn text(
    attributes: &Attributes<'_>,
    side: Side,
    matched: &Matched,
) -> Result<Vec<u8>, Status> {
    let version = api_version(matched);
    if let (Side::New, Some(options)) = (side, attributes.connection()) {
        return Ok(to_json(options));
    }
    let object = match side {
        Side::New => attributes.object(),
        Side::Old => attributes.old_object(),
    };
    let Some(object) = object else {
        return Ok(Vec::new());
    };
    let facts = object.schema().kind;
    if !is_custom(object) && facts.is_some_and(|it| it.api_version == version) {
        return Ok(to_json(object));
    }
    let tree = attributes.json(side, &version).await?;
    let tree = tree.as_deref().unwrap_or(&Json::Null);
    let json = serde_json::to_vec(tree).map_err(Status::internal_error)?;
    let kind = find_kind_by_api_version(&version, &matched.kind.kind);
    let Some(mut object) = kind.and_then(Kind::new_object) else {
        // Custom objects have their members in the order of their names.
        return Ok(json);
    };
    let merged = merge_json(&mut *object, &json, &mut DecodeContext::new());
    merged.map_err(Status::internal_error)?;
    Ok(to_json(&*object))
}

/// Returns the version that was matched, such as `apps/v1`.
pub(crate) fn api_version(matched: &Matched) -> String {
    matched.kind.group_version().to_string()
}

/// Returns the operation, as rules name it.
pub(crate) fn operations(operation: Operation) -> Operations {
    match operation {
        Operation::Create => Operations::CREATE,
        Operation::Update => Operations::UPDATE,
        Operation::Delete => Operations::DELETE,
        Operation::Connect => Operations::CONNECT,
    }
}

/// The members of options in upstream's order.
const OPTIONS: [&str; 10] = [
    "kind",
    "apiVersion",
    "gracePeriodSeconds",
    "preconditions",
    "orphanDependents",
    "propagationPolicy",
    "dryRun",
    "fieldManager",
    "fieldValidation",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
];

/// Returns the JSON of options.
fn ordered(options: &Json) -> Vec<u8> {
    let members = OPTIONS.iter().filter_map(|name| {
        let value = options.get(name)?;
        Some(format!("\"{name}\":{value}"))
    });
    let members: Vec<String> = members.collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// Reports whether a request is about webhooks or policies, which none of them sees: else one that
/// fails could never be removed.
pub(crate) fn is_exempt(target: &admission::Target<'_>) -> bool {
    const KINDS: [&str; 6] = [
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ];
    let kind = target.kind.facts();
    kind.group == "admissionregistration.k8s.io" && KINDS.contains(&kind.kind)
}

fn labels(object: &dyn AnyObject) -> &Labels {
    &object.meta().labels
}

fn is_custom(object: &dyn AnyObject) -> bool {
    let object: &dyn Any = object;
    object.is::<CustomObject>()
}

fn is_same(a: &ResourceFacts, b: &ResourceFacts) -> bool {
    (a.group, a.version, a.plural) == (b.group, b.version, b.plural)
}

/// Returns a resource with its kind. A subresource with a kind of its own has it in all versions.
fn version(target: &admission::Target<'_>, resource: &ResourceFacts) -> Matched {
    let own = target.kind.facts();
    let is_whole = (own.group, own.version, own.kind)
        == (
            target.resource.group,
            target.resource.version,
            target.resource.kind,
        );
    let kind = if is_whole {
        GroupVersionKind::new(resource.group, resource.version, resource.kind)
    } else {
        GroupVersionKind::new(own.group, own.version, own.kind)
    };
    Matched {
        resource: GroupVersionResource::new(resource.group, resource.version, resource.plural),
        kind,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_in_upstreams_order() {
        let options = json!({
            "apiVersion": "meta.k8s.io/v1", "dryRun": ["All"], "gracePeriodSeconds": 0,
            "kind": "DeleteOptions", "propagationPolicy": "Orphan",
        });
        assert_eq!(
            String::from_utf8_lossy(&ordered(&options)),
            concat!(
                r#"{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":0,"#,
                r#""propagationPolicy":"Orphan","dryRun":["All"]}"#
            )
        );
    }
}
