//! The columns of custom resources, as their definitions list them.

use crate::custom::shape::shape_of;
use crate::stored::custom_object::custom;
use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::AnyObject;
use serde_json::Value;

/// A column after the name, and the value that an object has there.
pub type CustomCell = (&'static Column, Option<Value>);

/// What a custom object has in the columns after its name; None for other objects.
pub fn cells(facts: &'static ResourceFacts, object: &dyn AnyObject) -> Option<Vec<CustomCell>> {
    let object = custom(object)?;
    let shape = shape_of(facts)?;
    let columns = facts.columns.iter().skip(1).zip(&shape.columns);
    let cells = columns.map(|(column, path)| {
        let found = path.as_ref().and_then(|path| path.find(object));
        (column, found.map(|value| value.into_owned()))
    });
    Some(cells.collect())
}

/// The descriptions of the columns after the name; None for resources that are not custom.
pub fn column_descriptions(facts: &'static ResourceFacts) -> Option<Vec<String>> {
    Some(shape_of(facts)?.descriptions.clone())
}
