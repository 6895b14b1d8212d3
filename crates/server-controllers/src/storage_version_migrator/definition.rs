//! The definition of a resource that is migrated, if it is a custom one: its condition
//! `StorageMigrating`, and in the end its stored versions.

use super::conditions::{SUCCEEDED, holds};
use kubist_api::apiextensions::v1::{CustomResourceDefinition, CustomResourceDefinitionCondition};
use kubist_api::meta::v1::GroupResource;
use kubist_api::storagemigration::v1beta1::StorageVersionMigration;
use kubist_apimachinery::PatchOptions;
use kubist_client::{Api, ApiError, Client, Patch};
use serde_json::{Value, json};

/// The field manager of upstream's controller.
const MANAGER: &str = "migration-runner-controller";
const MIGRATING: &str = "StorageMigrating";

/// Says in the definition that a migration runs.
pub(super) async fn migrating(
    client: &Client,
    migration: &StorageVersionMigration,
) -> Result<(), ApiError> {
    let message = format!("Migration {} is running", migration.metadata.name);
    let running = |definition: &CustomResourceDefinition| {
        Some(Change {
            status: "True",
            reason: "MigrationRunning",
            message: message.clone(),
            stored: stored(definition),
        })
    };
    write(client, &migration.spec.resource, running).await
}

/// Says in the definition that no migration runs, if one was deleted while it did.
pub(super) async fn abandoned(client: &Client, of: &GroupResource) -> Result<(), ApiError> {
    let over = |definition: &CustomResourceDefinition| {
        let migrating = condition(definition).is_some_and(|it| it.status == *"True");
        migrating.then(|| Change {
            status: "False",
            reason: "MigrationFailed",
            message: "The migration was deleted".to_owned(),
            stored: stored(definition),
        })
    };
    write(client, of, over).await
}

/// Says in the definition that it is over. If the definition is still that of its beginning,
/// nothing is stored in another version.
pub(super) async fn migrated(
    client: &Client,
    migration: &StorageVersionMigration,
) -> Result<(), ApiError> {
    let succeeded = holds(migration, SUCCEEDED);
    let over = |definition: &CustomResourceDefinition| {
        let all = stored(definition);
        let only = stored_version(definition).filter(|_| succeeded && is_same(definition));
        let (reason, message) = if !succeeded {
            ("MigrationFailed", "The migration has failed")
        } else if only.is_some() {
            (
                "MigrationSucceeded",
                "The migration has succeeded and the stored versions have been updated",
            )
        } else {
            (
                "MigrationSucceeded",
                "The migration has succeeded but the stored versions have not been updated due to \
                 a generation mismatch",
            )
        };
        Some(Change {
            status: "False",
            reason,
            message: message.to_owned(),
            // What failed has left objects in other versions.
            stored: only.map_or(all, |only| vec![only]),
        })
    };
    write(client, &migration.spec.resource, over).await
}

/// What is written into the status of a definition.
struct Change {
    status: &'static str,
    reason: &'static str,
    message: String,
    /// All stored versions: an apply without them would remove those that an earlier one wrote, and
    /// a version that is stored could then be removed from the definition.
    stored: Vec<String>,
}

fn condition(definition: &CustomResourceDefinition) -> Option<&CustomResourceDefinitionCondition> {
    let mut all = definition.status.conditions.iter();
    all.find(|it| it.type_ == *MIGRATING)
}

/// The versions in which objects are stored now.
fn stored(definition: &CustomResourceDefinition) -> Vec<String> {
    let all = definition.status.stored_versions.iter();
    all.map(ToString::to_string).collect()
}

/// Reports whether a definition is what it was when the migration began.
fn is_same(definition: &CustomResourceDefinition) -> bool {
    let migrating = condition(definition);
    migrating.is_some_and(|it| it.observed_generation == definition.metadata.generation)
}

fn stored_version(definition: &CustomResourceDefinition) -> Option<String> {
    let mut versions = definition.spec.versions.iter();
    versions.find(|it| it.storage).map(|it| it.name.to_string())
}

/// Applies a change, if there is one, to the definition as it was read. One that has changed since
/// is a conflict, and the caller comes again.
async fn write(
    client: &Client,
    of: &GroupResource,
    change: impl Fn(&CustomResourceDefinition) -> Option<Change>,
) -> Result<(), ApiError> {
    let name = format!("{}.{}", of.resource, of.group);
    let api = Api::<CustomResourceDefinition>::all(client.clone());
    let Some(found) = api.get_opt(&name).await? else {
        return Ok(());
    };
    let Some(change) = change(&found) else {
        return Ok(());
    };
    let options = PatchOptions {
        force: Some(true),
        ..PatchOptions::managed_by(MANAGER)
    };
    let patch = Patch::Apply(status_of(&found, &name, change, client.ambient().time()));
    let status = api.status();
    status.patch_with(&name, &patch, &options).await.map(drop)
}

fn status_of(
    found: &CustomResourceDefinition,
    name: &str,
    change: Change,
    now: kubist_apimachinery::Time,
) -> Value {
    let conditions = json!([{
        "type": MIGRATING,
        "status": change.status,
        "lastTransitionTime": now.to_string(),
        "reason": change.reason,
        "message": change.message,
        "observedGeneration": found.metadata.generation,
    }]);
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "resourceVersion": found.metadata.resource_version},
        "status": {"conditions": conditions, "storedVersions": change.stored},
    })
}
