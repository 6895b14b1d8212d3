//! What nodes may change of claims: their capacity and conditions.

use kubist_api::core::v1::PersistentVolumeClaim;
use kubist_apimachinery::{Status, Str};
use kubist_registry::admission::{Attributes, Operation};

pub(super) fn judge(attributes: &Attributes<'_>, node: &str) -> Result<(), Status> {
    let operation = attributes.target().operation;
    if operation != Operation::Update {
        let why = format_args!("unexpected operation \"{operation}\"");
        return Err(attributes.forbidden(why));
    }
    let new = attributes.typed::<PersistentVolumeClaim>();
    let old = attributes.old_typed::<PersistentVolumeClaim>();
    let (new, old) = (new.map(rest), old.map(rest));
    if new == old {
        return Ok(());
    }
    // Upstream adds the difference, as Go prints it.
    Err(attributes.forbidden(format_args!(
        "node \"{node}\" is not allowed to update fields other than status.quantity and \
         status.conditions"
    )))
}

/// Returns a claim without what nodes change.
fn rest(claim: &PersistentVolumeClaim) -> PersistentVolumeClaim {
    let mut rest = claim.clone();
    rest.metadata.resource_version = Str::default();
    rest.metadata.managed_fields = Vec::new();
    let status = &mut rest.status;
    status.capacity.clear();
    status.conditions.clear();
    status.allocated_resources.clear();
    status.allocated_resource_statuses.clear();
    rest
}
