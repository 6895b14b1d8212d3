//! `scale`: the replicas of a workload, as an object of their own.
//!
//! A projection of the workload, not stored: a read shows some fields of the workload, a write is
//! an update of the workload.

use crate::custom::scale::ScalePaths;
use crate::rest::Rest;
use crate::store::admitting::ObjectView;
use crate::store::tracking::Tracking;
use crate::store::updated_object::UpdatedObject;
use crate::stored::custom_object::{custom, custom_mut};
use crate::stored::scheme::Scheme;
use crate::strategy::facts::MetadataRules;
use crate::strategy::name_rule::NameRule;
use crate::strategy::validate_metadata::validate_metadata;
use kubist_api::autoscaling::v1::Scale;
use kubist_apimachinery::{
    AnyObject, FieldError, FieldPath, GroupKind, GroupResource, ManagedFieldsEntry, ObjectMeta,
    Preconditions, Status,
};
use kubist_field_manager::{ReplicasPath, scale_entries, workload_entries};
use std::any::Any;

/// Replaces missing replicas of a custom object, for a patch to overwrite.
const MISSING: i32 = i32::MIN;

/// Returns the scale of a workload; `None` if the kind has none.
///
/// # Errors
/// The desired replicas of a custom object are missing or not a number.
pub(crate) fn of(
    object: &dyn AnyObject,
    paths: Option<&ScalePaths>,
    scheme: &Scheme,
) -> Result<Option<Scale>, Status> {
    let scale = begun(object, paths, scheme)?;
    match (&scale, paths) {
        (Some(scale), Some(paths)) if scale.spec.replicas == MISSING => Err(paths.missing()),
        _ => Ok(scale),
    }
}

/// Returns the scale that an update starts from, possibly without replicas.
fn begun(
    object: &dyn AnyObject,
    paths: Option<&ScalePaths>,
    scheme: &Scheme,
) -> Result<Option<Scale>, Status> {
    if let (Some(object), Some(paths)) = (custom(object), paths) {
        let mut scale = Scale {
            metadata: metadata(&object.metadata),
            ..Scale::default()
        };
        if !paths.read(object, &mut scale)? {
            scale.spec.replicas = MISSING;
        }
        return Ok(Some(scale));
    }
    Ok(built_in(object, scheme))
}

fn built_in(object: &dyn AnyObject, scheme: &Scheme) -> Option<Scale> {
    let replicas = (scheme.replicas)(object)?;
    let mut scale = Scale {
        metadata: metadata(object.meta()),
        ..Scale::default()
    };
    scale.spec.replicas = replicas.desired;
    scale.status.replicas = replicas.current;
    scale.status.selector = replicas.selector;
    Some(scale)
}

/// Returns the metadata of a scale.
fn metadata(meta: &ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: meta.name.clone(),
        namespace: meta.namespace.clone(),
        uid: meta.uid.clone(),
        resource_version: meta.resource_version.clone(),
        creation_timestamp: meta.creation_timestamp,
        ..ObjectMeta::default()
    }
}

/// An update of a scale, as an update of the workload.
pub(crate) struct Scaled<'a> {
    /// Computes the new scale.
    pub(crate) scale: &'a dyn UpdatedObject,
    /// Tracks the owners of the replicas.
    pub(crate) owners: Option<ScaleOwners<'a>>,
    /// The resource of the workload.
    pub(crate) resource: GroupResource,
    /// The name of the workload.
    pub(crate) name: &'a str,
    /// The error if the workload has no scale.
    pub(crate) missing: Status,
    /// The scale paths of a custom object.
    pub(crate) paths: Option<&'a ScalePaths>,
    /// The scheme, for a built-in object.
    pub(crate) scheme: &'a Scheme,
}

/// Tracks the owners of the replicas of a workload.
#[derive(Clone, Copy)]
pub(crate) struct ScaleOwners<'a> {
    /// The scale of the workload.
    pub(crate) rest: &'a Rest,
    /// Tracks updates of the scale.
    pub(crate) tracking: &'a Tracking<'a>,
}

impl ScaleOwners<'_> {
    fn path_of(&self, api_version: &str) -> ReplicasPath {
        let kind = self.rest.kind.facts().kind;
        self.rest
            .store()
            .field_managers
            .replicas_path(api_version, kind)
    }

    /// Returns the managed fields of the scale of a workload.
    fn of_scale(&self, workload: &dyn AnyObject) -> Vec<ManagedFieldsEntry> {
        let entries = scale_entries(&workload.meta().managed_fields, |it| self.path_of(it));
        entries.unwrap_or_default()
    }

    /// Returns the managed fields of a workload after an update of its scale. `has_managers`:
    /// whether the new scale comes with its own.
    fn of_workload(
        &self,
        workload: &dyn AnyObject,
        old: &Scale,
        new: &dyn AnyObject,
        has_managers: bool,
    ) -> Result<Vec<ManagedFieldsEntry>, Status> {
        let of_scale = if has_managers {
            new.meta().managed_fields.clone()
        } else {
            self.tracking.entries(Some(old), new)?
        };
        let version = self.rest.kind.facts().api_version;
        let before = &workload.meta().managed_fields;
        workload_entries(before, &of_scale, version, |it| self.path_of(it))
            .map_err(Status::internal_error)
    }
}

impl UpdatedObject for Scaled<'_> {
    fn preconditions(&self) -> Preconditions {
        self.scale.preconditions()
    }

    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        let old = old.ok_or_else(|| self.missing.clone())?;
        let scale = begun(old, self.paths, self.scheme)?.ok_or_else(|| self.missing.clone())?;
        let mut scale = scale;
        if let Some(owners) = &self.owners {
            scale.metadata.managed_fields = owners.of_scale(old);
        }
        let new = self.scale.updated(Some(&scale))?;
        let managed_fields = match &self.owners {
            Some(owners) => owners.of_workload(old, &scale, &*new, self.scale.has_managers())?,
            None => Vec::new(),
        };
        let new: &dyn Any = &*new;
        let new = new
            .downcast_ref::<Scale>()
            .ok_or_else(|| Status::bad_request("expected a Scale"))?;
        if let Some(paths) = self.paths
            && new.spec.replicas == MISSING
        {
            return Err(paths.required_on_update());
        }
        // A custom object has its own message for this.
        if self.paths.is_none() {
            self.check(new, old)?;
        }
        let mut object = old.boxed_clone();
        object.meta_mut().managed_fields = managed_fields;
        set_replicas(&mut *object, new.spec.replicas, self.paths, self.scheme)?;
        let version = &new.metadata.resource_version;
        // An update of a custom object must name the version that it replaces; an update of its
        // scale need not.
        if !version.is_empty() || self.paths.is_none() {
            object.meta_mut().resource_version = version.clone();
        }
        Ok(object)
    }
}

/// The scale of a workload, as admission sees it.
pub(crate) struct ScaleView<'a> {
    /// The scale paths of a custom object.
    pub(crate) paths: Option<&'a ScalePaths>,
    /// The scheme, for a built-in object.
    pub(crate) scheme: &'a Scheme,
    /// The error if the workload has no scale.
    pub(crate) missing: Status,
}

impl ObjectView for ScaleView<'_> {
    fn of(&self, object: &dyn AnyObject) -> Result<Box<dyn AnyObject>, Status> {
        let scale = of(object, self.paths, self.scheme)?;
        Ok(Box::new(scale.ok_or_else(|| self.missing.clone())?))
    }

    fn put(&self, part: &dyn AnyObject, object: &mut dyn AnyObject) {
        let part: &dyn Any = part;
        let Some(scale) = part.downcast_ref::<Scale>() else {
            return;
        };
        // The scale was made of this object, so its number has a place.
        set_replicas(object, scale.spec.replicas, self.paths, self.scheme).ok();
    }
}

fn set_replicas(
    object: &mut dyn AnyObject,
    replicas: i32,
    paths: Option<&ScalePaths>,
    scheme: &Scheme,
) -> Result<(), Status> {
    if let (Some(paths), Some(object)) = (paths, custom_mut(object)) {
        return paths.set(object, replicas);
    }
    (scheme.set_replicas)(object, replicas);
    Ok(())
}

impl Scaled<'_> {
    /// Validates the metadata of a scale, although none of it is stored.
    fn check(&self, new: &Scale, old: &dyn AnyObject) -> Result<(), Status> {
        let (names, rules) = (NameRule::DnsSubdomain, MetadataRules::Strict);
        let mut errors = validate_metadata(&new.metadata, true, names, rules);
        if new.spec.replicas < 0 {
            let path = FieldPath::new("spec").child("replicas");
            let detail = "must be greater than or equal to 0";
            errors.push(FieldError::invalid(&path, new.spec.replicas, detail));
        }
        if !errors.is_empty() {
            let kind = GroupKind::new("autoscaling", "Scale");
            return Err(Status::invalid(&kind, self.name, &errors));
        }
        let (wanted, found) = (&new.metadata.uid, &old.meta().uid);
        if !wanted.is_empty() && wanted != found {
            let why = format!(
                "Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
            );
            let resource = format!("{}/scale", self.resource.resource);
            let resource = GroupResource::new(self.resource.group.clone(), resource);
            return Err(Status::conflict(&resource, self.name, why));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::updated_object::Replacement;
    use crate::stored::scheme::Replicas;
    use kubist_api::apps::v1::Deployment;

    static SCHEME: Scheme = Scheme {
        replicas: |object| {
            let object: &dyn Any = object;
            let it = object.downcast_ref::<Deployment>()?;
            Some(Replicas {
                desired: it.spec.replicas.unwrap_or(1),
                current: it.status.replicas,
                selector: "app=web".into(),
            })
        },
        set_replicas: |object, replicas| {
            let object: &mut dyn Any = object;
            if let Some(it) = object.downcast_mut::<Deployment>() {
                it.spec.replicas = Some(replicas);
            }
        },
        ..Scheme::PLAIN
    };

    fn deployment() -> Deployment {
        let mut object = Deployment::default();
        object.metadata.name = "web".into();
        object.metadata.resource_version = "7".into();
        object.metadata.namespace = "default".into();
        object.metadata.uid = "u".into();
        object.metadata.labels.insert("x".into(), "y".into());
        object.spec.replicas = Some(2);
        object.status.replicas = 1;
        object
    }

    fn scaled(replicas: i32) -> Result<Box<dyn AnyObject>, Status> {
        changed(|scale| scale.spec.replicas = replicas)
    }

    fn changed(change: impl FnOnce(&mut Scale)) -> Result<Box<dyn AnyObject>, Status> {
        let scale = of(&deployment(), None, &SCHEME).expect("nothing is custom");
        let mut scale = scale.expect("deployments scale");
        change(&mut scale);
        let scaled = Scaled {
            scale: &Replacement(Box::new(scale)),
            owners: None,
            resource: GroupResource::new("apps", "deployments"),
            name: "web",
            missing: Status::internal_error("no scale"),
            paths: None,
            scheme: &SCHEME,
        };
        scaled.updated(Some(&deployment()))
    }

    #[test]
    fn a_scale_shows_replicas_and_selector() {
        let scale = of(&deployment(), None, &SCHEME).expect("nothing is custom");
        let scale = scale.expect("deployments scale");
        assert_eq!((scale.spec.replicas, scale.status.replicas), (2, 1));
        assert_eq!(scale.status.selector, "app=web");
        assert_eq!(scale.metadata.resource_version, "7");
        assert!(scale.metadata.labels.is_empty());
        let pod = kubist_api::core::v1::Pod::default();
        assert!(
            of(&pod, None, &SCHEME)
                .expect("nothing is custom")
                .is_none()
        );
    }

    #[test]
    fn a_new_scale_changes_the_replicas_alone() {
        let mut expected = deployment();
        expected.spec.replicas = Some(5);
        assert!(scaled(5).expect("it is valid").equals(&expected));
        let status = scaled(-1).expect_err("there is no such number of pods");
        assert!(status.is_invalid());
    }

    #[test]
    fn the_metadata_of_a_scale_is_checked_before_it_is_forgotten() {
        let status = changed(|scale| scale.metadata.finalizers.push("a/b/c".into()));
        let status = status.expect_err("it is no name");
        let start = "Scale.autoscaling \"web\" is invalid: metadata.finalizers: Invalid value";
        assert!(status.message.starts_with(start), "{}", status.message);
        let status = changed(|scale| scale.metadata.uid = "x".into());
        assert_eq!(
            status.expect_err("it is another").message,
            "Operation cannot be fulfilled on deployments/scale.apps \"web\": Precondition \
             failed: UID in precondition: x, UID in object meta: u"
        );
    }
}
