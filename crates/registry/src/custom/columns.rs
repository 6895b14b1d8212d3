//! The printer columns of custom resources, as in their definitions.

use crate::custom::shape::shape_of;
use crate::custom::static_texts::StaticTexts;
use crate::stored::custom_object::custom;
use kubist_api::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion,
};
use kubist_api::{Column, ResourceFacts};
use kubist_apimachinery::AnyObject;
use serde_json::Value;
use std::borrow::Cow;

/// A column after the name, and its value in an object.
pub type CustomCell<'a> = (&'static Column, Option<Cow<'a, Value>>);

/// Returns the cells of a custom object after its name; `None` for other objects.
pub fn cells<'a>(
    facts: &'static ResourceFacts,
    object: &'a dyn AnyObject,
) -> Option<Vec<CustomCell<'a>>> {
    let object = custom(object)?;
    let shape = shape_of(facts)?;
    let columns = facts.columns.iter().skip(1).zip(&shape.columns);
    let cells = columns.map(|(column, path)| {
        let found = path.as_ref().and_then(|path| path.find(object));
        (column, found)
    });
    Some(cells.collect())
}

/// Returns the descriptions of the columns after the name; `None` for built-in resources.
pub fn column_descriptions(facts: &'static ResourceFacts) -> Option<Vec<String>> {
    Some(shape_of(facts)?.descriptions.clone())
}

pub(super) const NAME: Column = Column {
    name: "Name",
    type_: "string",
    format: "name",
    priority: 0,
};

/// Upstream's description of the age column, the only one of a definition without columns.
const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was \
    created. It is not guaranteed to be set in happens-before order across separate \
    operations. Clients may not set this value. It is represented in RFC3339 form and is in \
    UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// Returns the columns of the definition, or the age column if it has none, as upstream.
pub(super) fn shown_columns(
    version: &CustomResourceDefinitionVersion,
) -> Vec<CustomResourceColumnDefinition> {
    if !version.additional_printer_columns.is_empty() {
        return version.additional_printer_columns.clone();
    }
    vec![CustomResourceColumnDefinition {
        name: "Age".into(),
        type_: "date".into(),
        description: AGE.into(),
        json_path: ".metadata.creationTimestamp".into(),
        ..CustomResourceColumnDefinition::default()
    }]
}

/// Returns the description of a column. If the definition has none, it names the path, as upstream.
pub(super) fn description(column: &CustomResourceColumnDefinition) -> Cow<'_, str> {
    if column.description.is_empty() {
        let path = &column.json_path;
        return format!("Custom resource definition column (in JSONPath format): {path}").into();
    }
    Cow::Borrowed(&column.description)
}

pub(super) fn column(statics: &mut StaticTexts, column: &CustomResourceColumnDefinition) -> Column {
    Column {
        name: statics.text(&column.name),
        type_: statics.text(&column.type_),
        format: statics.text(&column.format),
        priority: column.priority,
    }
}
