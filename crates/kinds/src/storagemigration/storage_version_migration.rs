//! StorageVersionMigrations: requests to store all objects of a resource anew.

use crate::shared::rules::{self, Errors};
use crate::shared::{conditions, metadata_checks};
use kubist_api::storagemigration::v1beta1::StorageVersionMigration;
use kubist_apimachinery::{BadValue, FieldError, FieldPath, ResourceVersion, validate_name};
use kubist_registry::{
    ForKind, KindStrategy, MetadataUpdate, StatusKeeps, Strategy, StrategyFacts,
};

#[derive(Debug)]
pub(crate) struct StorageVersionMigrations;

impl KindStrategy for StorageVersionMigrations {
    type Kind = StorageVersionMigration;
    const FACTS: &'static StrategyFacts = &StrategyFacts {
        status_keeps: StatusKeeps::Most,
        metadata_on_update: MetadataUpdate::Whole,
        allow_unconditional_update: false,
        ..StrategyFacts::PLAIN
    };

    fn subresource(&self, name: &str) -> Option<&dyn Strategy> {
        (name == "status").then_some(&ForKind(StorageVersionMigrationsStatus))
    }
    fn validate(&self, new: &StorageVersionMigration) -> Vec<FieldError> {
        let mut errors = Errors::new();
        let of = &new.spec.resource;
        let path = FieldPath::new("spec").child("resource");
        let at = path.child("resource");
        if of.resource.is_empty() {
            errors.push(FieldError::required(&at, "resource is required to be set"));
        } else {
            rules::joined(&mut errors, &of.resource, &at, validate_name::dns1035_label);
        }
        if !of.group.is_empty() {
            let rule = validate_name::dns1123_subdomain;
            rules::joined(&mut errors, &of.group, &path.child("group"), rule);
        }
        errors
    }
    fn validate_update(
        &self,
        new: &StorageVersionMigration,
        old: &StorageVersionMigration,
    ) -> Vec<FieldError> {
        let mut errors = self.validate(new);
        errors.extend(metadata_checks::change(self, new, old));
        let path = FieldPath::new("spec");
        rules::immutable_value(&mut errors, &new.spec, &old.spec, &path, |it| {
            rules::shown(it)
        });
        errors
    }
}

/// The `status` subresource of [`StorageVersionMigrations`].
#[derive(Debug)]
struct StorageVersionMigrationsStatus;

impl KindStrategy for StorageVersionMigrationsStatus {
    type Kind = StorageVersionMigration;

    fn validate_update(
        &self,
        new: &StorageVersionMigration,
        old: &StorageVersionMigration,
    ) -> Vec<FieldError> {
        let (mut errors, path) = (Errors::new(), FieldPath::new("status"));
        check_version(&mut errors, new, old, &path.child("resourceVersion"));
        let path = path.child("conditions");
        conditions::check(&mut errors, &new.status.conditions, &path);
        let mut wrong = |detail: &str| {
            errors.push(FieldError::invalid(&path, shown(new), detail));
        };
        let is = |of: &StorageVersionMigration, condition: &str| {
            let mut all = of.status.conditions.iter();
            all.find(|it| it.type_ == *condition)
                .is_some_and(|it| it.status == "True")
        };
        if is(new, SUCCEEDED) && is(new, FAILED) {
            wrong("Both success and failed conditions cannot be true at the same time");
        }
        for (condition, detail) in [
            (
                SUCCEEDED,
                "Success condition cannot be set to false once it is true",
            ),
            (
                FAILED,
                "Failed condition cannot be set to false once it is true",
            ),
        ] {
            if is(old, condition) && !is(new, condition) {
                wrong(detail);
            }
        }
        errors
    }
}

/// The conditions, as errors show them.
fn shown(migration: &StorageVersionMigration) -> BadValue {
    let all = migration.status.conditions.iter();
    let all: Vec<_> = all.map(|it| rules::as_json(it)).collect();
    BadValue::json(&all)
}

const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";

/// A version is a number, and stays once it is there.
fn check_version(
    errors: &mut Errors,
    new: &StorageVersionMigration,
    old: &StorageVersionMigration,
    path: &FieldPath,
) {
    let (version, before) = (&new.status.resource_version, &old.status.resource_version);
    if !version.is_empty()
        && ResourceVersion::from(version)
            .compare(&version.into())
            .is_none()
    {
        let why = "resource version is not well formed";
        errors.push(FieldError::invalid(
            path,
            version,
            format!("{why}: {version}"),
        ));
    }
    if !before.is_empty() {
        rules::immutable_value(errors, version.as_str(), before, path, BadValue::from);
    }
}
