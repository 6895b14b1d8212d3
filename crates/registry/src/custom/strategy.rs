//! The strategy of custom objects, derived from their definition.

use crate::custom::conversion::Conversion;
use crate::custom::json_path::JsonPath;
use crate::custom::pipeline::Pipeline;
use crate::custom::shape::Shape;
use crate::custom::validation::Validation;
use crate::stored::custom_object::{custom, custom_mut};
use crate::strategy::admission::Admission;
use crate::strategy::context::RequestContext;
use crate::strategy::facts::{Generation, MetadataRules, StatusKeeps, StrategyFacts};
use crate::strategy::validate_metadata::is_domain_qualified;
use crate::strategy::{BoxFuture, Strategy};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{AnyObject, CustomObject, FieldError, Status, StatusReason, Str};
use kubist_schema::{RuleErrors, UnknownFields};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The strategy of the resources of one definition.
#[derive(Debug)]
pub(crate) struct CustomStrategy {
    shape: Arc<Shape>,
    conversion: Arc<Conversion>,
    /// The shapes of all versions. They can be found by their facts (in a list or a watch) as long
    /// as the strategy exists.
    #[expect(dead_code, reason = "it is held, not read")]
    versions: Vec<Arc<Shape>>,
    /// Whether the definition is being deleted, so that creates are rejected.
    is_ending: bool,
    facts: StrategyFacts,
    validation: Validation,
    status: CustomStatus,
}

const STATUS: &str = "status";

/// Restores the old value of a field, or its absence.
fn restore_field(new: &mut Map<String, Value>, old: &Map<String, Value>, name: &str) {
    match old.get(name) {
        Some(value) => drop(new.insert(name.to_owned(), value.clone())),
        None => drop(new.remove(name)),
    }
}

impl CustomStrategy {
    /// Creates the strategy for objects stored as `shape`; `versions` are all served versions.
    pub(crate) fn new(
        shape: &Arc<Shape>,
        conversion: &Arc<Conversion>,
        versions: Vec<Arc<Shape>>,
        is_ending: bool,
    ) -> Self {
        let pipeline = conversion.pipeline(shape.kind);
        let validation = Validation {
            pipeline: pipeline.map_or_else(|| Pipeline::plain(shape.kind), Pipeline::clone),
            scale: shape.scale.clone(),
        };
        let bumps = if shape.has_status {
            content_differs
        } else {
            content_or_status_differs
        };
        Self {
            shape: Arc::clone(shape),
            conversion: Arc::clone(conversion),
            versions,
            is_ending,
            facts: StrategyFacts {
                metadata_rules: MetadataRules::Lenient,
                generation: Generation::Custom(bumps),
                status_keeps: StatusKeeps::Everything,
                allow_unconditional_update: false,
                selectable_fields: shape.fields,
                ..StrategyFacts::PLAIN
            },
            status: CustomStatus {
                validation: validation.clone(),
            },
            validation,
        }
    }
}

/// The strategy of updates through the `status` subresource.
#[derive(Debug)]
struct CustomStatus {
    validation: Validation,
}

/// Checks an update. Warns of the errors that pass, and returns the others.
fn checked(
    cx: &RequestContext,
    (new, old): (&dyn AnyObject, &dyn AnyObject),
    check: impl FnOnce(&CustomObject, &CustomObject) -> RuleErrors,
) -> Vec<FieldError> {
    let (Some(new), Some(old)) = (custom(new), custom(old)) else {
        return Vec::new();
    };
    let found = check(new, old);
    for passed in found.passed {
        cx.warn(passed.to_string());
    }
    found.errors
}

impl Strategy for CustomStatus {
    fn prepare_for_update(&self, _: &RequestContext, new: &mut dyn AnyObject, old: &dyn AnyObject) {
        let (Some(new), Some(old)) = (custom_mut(new), custom(old)) else {
            return;
        };
        let mut content = old.content().clone();
        restore_field(&mut content, new.content(), STATUS);
        *new.content_mut() = content;
        let version = std::mem::take(&mut new.metadata.resource_version);
        let uid = std::mem::take(&mut new.metadata.uid);
        let managed_fields = std::mem::take(&mut new.metadata.managed_fields);
        new.metadata = old.metadata.clone();
        new.metadata.resource_version = version;
        new.metadata.uid = uid;
        new.metadata.managed_fields = managed_fields;
    }

    fn validate_update(
        &self,
        cx: &RequestContext,
        objects: (&dyn AnyObject, &dyn AnyObject),
        of_metadata: &[FieldError],
    ) -> Vec<FieldError> {
        checked(cx, objects, |new, old| {
            self.validation.status_update(new, old, of_metadata)
        })
    }
}

/// Reports whether two objects differ outside of their metadata and status.
fn content_differs(new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
    differs(new, old, |name| name != STATUS)
}

/// Reports whether two objects differ outside of their metadata: the status is ordinary content.
fn content_or_status_differs(new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
    differs(new, old, |_| true)
}

fn differs(new: &dyn AnyObject, old: &dyn AnyObject, counts: fn(&str) -> bool) -> bool {
    let (Some(new), Some(old)) = (custom(new), custom(old)) else {
        return false;
    };
    let (new, old) = (new.content(), old.content());
    let mut names = new.keys().chain(old.keys()).filter(|name| counts(name));
    names.any(|name| new.get(name) != old.get(name))
}

impl Strategy for CustomStrategy {
    fn facts(&self) -> &StrategyFacts {
        &self.facts
    }

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == STATUS).then_some(&self.status)
    }

    fn prune(
        &self,
        object: &mut dyn AnyObject,
        api_version: &str,
        reports: bool,
    ) -> Result<Vec<String>, Status> {
        let Some(object) = custom_mut(object) else {
            return Ok(Vec::new());
        };
        let mut unknown = reports.then(UnknownFields::new);
        let completed = if let Some(version) = self.conversion.version(api_version) {
            let pipeline = self.conversion.pipeline(version);
            pipeline.map_or(Ok(()), |it| it.request(object, unknown.as_mut()))
        } else {
            // As by a version that has no fields.
            kubist_schema::prune(object.content_mut(), None, unknown.as_mut());
            Ok(())
        };
        completed.map_err(|error| Status::bad_request(error.to_string()))?;
        Ok(unknown.map_or_else(Vec::new, UnknownFields::into_messages))
    }

    fn apply_defaults(&self, object: &mut dyn AnyObject) {
        if let Some(object) = custom_mut(object) {
            self.validation.pipeline.apply_defaults(object);
        }
    }

    fn admit<'a>(
        &'a self,
        _: &'a Admission<'a>,
        _: &'a mut dyn AnyObject,
        old: Option<&'a dyn AnyObject>,
    ) -> BoxFuture<'a, Result<(), Status>> {
        let refused = self.is_ending && old.is_none();
        Box::pin(std::future::ready(if refused {
            let message = "create not allowed while custom resource definition is terminating";
            Err(Status::failure(
                405,
                StatusReason::MethodNotAllowed,
                message,
            ))
        } else {
            Ok(())
        }))
    }

    fn prepare_for_create(&self, _: &RequestContext, new: &mut dyn AnyObject) {
        if self.shape.has_status
            && let Some(new) = custom_mut(new)
        {
            new.content_mut().remove(STATUS);
        }
    }

    fn prepare_for_update(&self, _: &RequestContext, new: &mut dyn AnyObject, old: &dyn AnyObject) {
        if self.shape.has_status
            && let (Some(new), Some(old)) = (custom_mut(new), custom(old))
        {
            restore_field(new.content_mut(), old.content(), STATUS);
        }
    }

    fn validate(&self, new: &dyn AnyObject, of_metadata: &[FieldError]) -> Vec<FieldError> {
        custom(new).map_or_else(Vec::new, |new| self.validation.create(new, of_metadata))
    }

    fn validate_update(
        &self,
        cx: &RequestContext,
        objects: (&dyn AnyObject, &dyn AnyObject),
        of_metadata: &[FieldError],
    ) -> Vec<FieldError> {
        checked(cx, objects, |new, old| {
            self.validation.update(new, old, of_metadata)
        })
    }

    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        let found = custom(object).and_then(|object| JsonPath::parse(field)?.find(object));
        match found.as_deref() {
            Some(Value::String(text)) => Cow::Owned(text.clone()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(value.to_string()),
            _ => Cow::Borrowed(""),
        }
    }

    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        let before = old.map_or(&[][..], |old| old.meta().finalizers.as_slice());
        let before: BTreeSet<&Str> = before.iter().collect();
        // Without duplicates, in sorted order.
        let now: BTreeSet<&Str> = new.meta().finalizers.iter().collect();
        let unqualified = now
            .difference(&before)
            .filter(|it| !is_domain_qualified(it));
        unqualified.map(|finalizer| {
            let with_path = if finalizer.contains('.') {
                " including a path (/)"
            } else {
                ""
            };
            format!(
                "metadata.finalizers: {}: prefer a domain-qualified finalizer name{with_path} to \
                 avoid accidental conflicts with other finalizer writers",
                quote(finalizer)
            )
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom::content::ServedContent;
    use crate::store::reset_filter::reset_filter;
    use kubist_api::apiextensions::v1::CustomResourceDefinition;
    use kubist_field_manager::FieldFilter;

    /// The output of `tests/interop/reset-fields`.
    const UPSTREAM: &str = include_str!("../../../kinds/tests/reset-fields.txt");

    fn definition(plural: &str, subresources: Value) -> CustomResourceDefinition {
        let definition = serde_json::json!({
            "metadata": {"name": format!("{plural}.example.com")},
            "spec": {
                "group": "example.com",
                "names": {"plural": plural, "kind": "Custom", "listKind": "CustomList"},
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                    "subresources": subresources,
                }],
            },
        });
        serde_json::from_value(definition).expect("it is a definition")
    }

    #[test]
    fn writes_reset_the_fields_that_upstream_resets() {
        let scale = serde_json::json!({
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
        });
        let full = serde_json::json!({"status": {}, "scale": scale});
        for (plural, subresources, names) in [
            ("fulls", full, &["", "/status", "/scale"][..]),
            ("plains", Value::Object(Map::new()), &[""][..]),
        ] {
            let definition = definition(plural, subresources);
            let content = ServedContent::of(&definition, None).expect("there is room");
            let content = content.expect("a version is served");
            let shape = content.stored;
            let versions = vec![Arc::clone(&shape)];
            let strategy = CustomStrategy::new(&shape, &content.conversion, versions, false);
            for name in names {
                let subresource = name.trim_start_matches('/');
                let found = match reset_filter(&strategy, shape.has_status, subresource) {
                    Some(FieldFilter::Exclude(fields)) => fields.to_json(),
                    found => format!("{found:?}").to_lowercase(),
                };
                let line = format!("example.com/v1 {plural}{name} {found}");
                assert!(UPSTREAM.lines().any(|it| it == line), "{line}");
            }
        }
    }
}
