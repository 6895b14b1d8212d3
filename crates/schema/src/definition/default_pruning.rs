//! Pruning of defaults, for serving.
//!
//! A definition from before defaults had to be pruned may have defaults with unknown fields.

use super::surrounding::Surrounding;
use crate::embedded::{Malformed, coerce_value};
use crate::prune::prune_object;
use crate::schema::{AdditionalProperties, Schema};
use kubist_apimachinery::FieldPath;
use serde_json::Value;
use std::sync::Arc;

/// Why defaults cannot be pruned. Displays as upstream's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to prune default value: {0}")]
pub struct PruneDefaultsError(String);

impl Schema {
    /// Returns the schema with defaults that have no unknown fields, and coerced metadata. Objects
    /// are defaulted with this one.
    ///
    /// # Errors
    /// The default of the whole object is not an object.
    pub fn with_pruned_defaults(self: &Arc<Self>) -> Result<Arc<Self>, PruneDefaultsError> {
        prune_defaults(self)
    }
}

/// Returns the schema with pruned defaults.
pub(super) fn prune_defaults(root: &Arc<Schema>) -> Result<Arc<Schema>, PruneDefaultsError> {
    let pruned = visit(root, root, &Surrounding::default())?;
    Ok(pruned.unwrap_or_else(|| Arc::clone(root)))
}

/// Returns the changed schema; none if nothing changes.
fn visit(
    schema: &Arc<Schema>,
    root: &Schema,
    around: &Surrounding,
) -> Result<Option<Arc<Schema>>, PruneDefaultsError> {
    let mut changed: Option<Schema> = None;
    if let Some(default) = &schema.default {
        let pruned = pruned(default, root, around)?;
        if pruned.as_ref() != Some(&**default) {
            changed.get_or_insert_with(|| (**schema).clone()).default = pruned.map(Arc::new);
        }
    }
    if let Some(additional) = schema.additional()
        && let Some(additional) = visit(additional, root, &around.member("*"))?
    {
        let changed = changed.get_or_insert_with(|| (**schema).clone());
        changed.additional_properties = Some(AdditionalProperties::Schema(additional));
    }
    if let Some(items) = &schema.items
        && let Some(items) = visit(items, root, &around.item())?
    {
        changed.get_or_insert_with(|| (**schema).clone()).items = Some(items);
    }
    for (index, (name, property)) in schema.properties.iter().enumerate() {
        if let Some(property) = visit(property, root, &around.member(name))? {
            let changed = changed.get_or_insert_with(|| (**schema).clone());
            changed.properties[index].1 = property;
        }
    }
    Ok(changed.map(Arc::new))
}

fn pruned(
    default: &Value,
    root: &Schema,
    around: &Surrounding,
) -> Result<Option<Value>, PruneDefaultsError> {
    let object = around.around(default.clone());
    let Some(mut object) = object else {
        let why = "object root default value must be of object type";
        return Err(PruneDefaultsError(why.to_owned()));
    };
    let mut value = Value::Object(std::mem::take(&mut object));
    let coerced = coerce_value(&mut value, root, true, Malformed::Drop, &FieldPath::ROOT);
    coerced.map_err(|error| PruneDefaultsError(error.to_string()))?;
    if let Value::Object(coerced) = value {
        object = coerced;
    }
    prune_object(&mut object, Some(root), true, None);
    around.take(object).map_err(PruneDefaultsError)
}
