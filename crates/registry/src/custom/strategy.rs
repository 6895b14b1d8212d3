//! How custom objects are created and changed: as any others, by what their definition says.

use super::{FieldPath, ScalePaths, Shape, custom, custom_mut};
use crate::store::validate_metadata::is_domain_qualified;
use crate::{
    Admission, BoxFuture, Generation, MetadataRules, RequestContext, StatusKeeps, Strategy,
};
use kubist_apimachinery::go_text::quote;
use kubist_apimachinery::{AnyObject, CustomObject, FieldError, Status, StatusReason, Str};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The strategy of the resources of one definition.
#[derive(Debug)]
pub(crate) struct CustomStrategy {
    pub(crate) shape: Arc<Shape>,
    /// Those of all versions. Whoever has the facts of one (a list, a watch) finds its shape as
    /// long as the strategy is there.
    #[expect(dead_code, reason = "it is held, not read")]
    pub(crate) versions: Vec<Arc<Shape>>,
    /// Whether the definition is being deleted, so that nothing new may come.
    pub(crate) is_ending: bool,
}

const STATUS: &str = "status";

/// Puts the old value of a field, or its absence, in place of the new one.
fn take_over(new: &mut Map<String, Value>, old: &Map<String, Value>, name: &str) {
    match old.get(name) {
        Some(value) => drop(new.insert(name.to_owned(), value.clone())),
        None => drop(new.remove(name)),
    }
}

impl CustomStrategy {
    /// What is wrong with a part of the scale, if objects have one.
    fn check_scale(
        &self,
        object: &dyn AnyObject,
        check: fn(&ScalePaths, &CustomObject) -> Vec<FieldError>,
    ) -> Vec<FieldError> {
        match (custom(object), &self.shape.scale) {
            (Some(object), Some(paths)) => check(paths, object),
            _ => Vec::new(),
        }
    }
}

impl Strategy for CustomStrategy {
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
            take_over(new.content_mut(), old.content(), STATUS);
        }
    }

    fn prepare_for_status_update(
        &self,
        _: &RequestContext,
        new: &mut dyn AnyObject,
        old: &dyn AnyObject,
    ) {
        let (Some(new), Some(old)) = (custom_mut(new), custom(old)) else {
            return;
        };
        let mut content = old.content().clone();
        take_over(&mut content, new.content(), STATUS);
        *new.content_mut() = content;
        let version = std::mem::take(&mut new.metadata.resource_version);
        let uid = std::mem::take(&mut new.metadata.uid);
        new.metadata = old.metadata.clone();
        new.metadata.resource_version = version;
        new.metadata.uid = uid;
    }

    fn validate(&self, new: &dyn AnyObject) -> Vec<FieldError> {
        self.check_scale(new, ScalePaths::check_spec)
    }

    fn validate_update(&self, new: &dyn AnyObject, _: &dyn AnyObject) -> Vec<FieldError> {
        self.check_scale(new, ScalePaths::check_spec)
    }

    fn validate_status_update(&self, new: &dyn AnyObject, _: &dyn AnyObject) -> Vec<FieldError> {
        self.check_scale(new, ScalePaths::check_status)
    }

    fn status_keeps(&self) -> StatusKeeps {
        StatusKeeps::Everything
    }

    fn generation(&self) -> Generation {
        Generation::Custom
    }

    fn bumps_generation(&self, new: &dyn AnyObject, old: &dyn AnyObject) -> bool {
        let (Some(new), Some(old)) = (custom(new), custom(old)) else {
            return false;
        };
        let (new, old) = (new.content(), old.content());
        let skip = |name: &String| self.shape.has_status && name == STATUS;
        let mut names = new.keys().chain(old.keys()).filter(|name| !skip(name));
        names.any(|name| new.get(name) != old.get(name))
    }

    fn allow_unconditional_update(&self) -> bool {
        false
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        self.shape.fields
    }

    fn field<'a>(&self, object: &'a dyn AnyObject, field: &str) -> Cow<'a, str> {
        let found = custom(object).and_then(|object| FieldPath::parse(field)?.find(object));
        match found.as_deref() {
            Some(Value::String(text)) => Cow::Owned(text.clone()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(value.to_string()),
            _ => Cow::Borrowed(""),
        }
    }

    fn metadata_rules(&self) -> MetadataRules {
        MetadataRules::Lenient
    }

    fn warnings(&self, new: &dyn AnyObject, old: Option<&dyn AnyObject>) -> Vec<String> {
        let before = old.map_or(&[][..], |old| old.meta().finalizers.as_slice());
        let before: BTreeSet<&Str> = before.iter().collect();
        // Each once, and in their order.
        let now: BTreeSet<&Str> = new.meta().finalizers.iter().collect();
        let told = now
            .difference(&before)
            .filter(|it| !is_domain_qualified(it));
        told.map(|finalizer| {
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
