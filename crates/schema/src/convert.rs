//! Conversion of an `openAPIV3Schema` to a [`Schema`].
//!
//! Unsupported keywords are errors, in upstream's words. A schema that converts need not be
//! structural.

mod interner;

use crate::format::KnownFormat;
use crate::pattern::Pattern;
use crate::schema::{
    AdditionalProperties, Bound, Junctors, Kind, Limit, ListType, Schema, SchemaFormat, ValueRules,
};
use interner::Interner;
use kubist_api::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrArray};
use kubist_apimachinery::{RawJson, Str};
use serde_json::Value;
use std::sync::Arc;

/// The maximum depth of a schema. The server's decoder accepts less.
pub const SCHEMA_DEPTH_MAX: usize = 300;

/// Why a schema cannot be converted. Displays as upstream's error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The schema has a keyword that no definition may have.
    #[error("OpenAPIV3Schema '{0}' is not supported")]
    Unsupported(&'static str),
    /// `items` is a list of schemas.
    #[error("OpenAPIV3Schema 'items' must be a schema, but is an array")]
    ItemsArray,
    /// `x-kubernetes-preserve-unknown-fields` is false.
    #[error("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined")]
    PreserveFalse,
    /// The schema nests more than [`SCHEMA_DEPTH_MAX`] levels.
    #[error("OpenAPIV3Schema nests more than {SCHEMA_DEPTH_MAX} levels")]
    TooDeep,
    /// A default or an enumerated value is not JSON.
    #[error("{0}")]
    Json(String),
}

impl Schema {
    /// Converts a schema of a definition.
    ///
    /// # Errors
    /// It has keywords that are not supported. The order of the checks is upstream's.
    pub fn convert(props: &JSONSchemaProps) -> Result<Arc<Self>, ConvertError> {
        Converter::default().schema(props, 0)
    }
}

/// Parses a value in a definition.
pub(crate) fn parse(raw: &RawJson) -> Result<Value, ConvertError> {
    if raw.raw.0.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&raw.raw.0).map_err(|error| ConvertError::Json(error.to_string()))
}

#[derive(Default)]
struct Converter {
    interner: Interner,
}

impl Converter {
    fn schema(
        &mut self,
        props: &JSONSchemaProps,
        depth: usize,
    ) -> Result<Arc<Schema>, ConvertError> {
        if depth > SCHEMA_DEPTH_MAX {
            return Err(ConvertError::TooDeep);
        }
        if let Some(keyword) = unsupported(props) {
            return Err(ConvertError::Unsupported(keyword));
        }
        let depth = depth + 1;
        let values = self.values(props, depth)?;
        if props.x_kubernetes_preserve_unknown_fields == Some(false) {
            return Err(ConvertError::PreserveFalse);
        }
        let items = match props.items.as_deref() {
            Some(items) => self.items(items, depth)?,
            None => None,
        };
        let mut properties = Vec::with_capacity(props.properties.len());
        for (name, property) in &props.properties {
            let property = self.schema(property, depth)?;
            properties.push((self.interner.text(name), property));
        }
        let additional_properties = match props.additional_properties.as_deref() {
            None => None,
            Some(it) => Some(match &it.schema {
                Some(schema) => AdditionalProperties::Schema(self.schema(schema, depth)?),
                None => AdditionalProperties::Bool(it.allows),
            }),
        };
        let default = match &props.default {
            // A null default is no default.
            Some(raw) => Some(parse(raw)?).filter(|it| !it.is_null()),
            None => None,
        };
        let keys = props.x_kubernetes_list_map_keys.iter();
        let list_map_keys = keys.map(|it| self.interner.text(it)).collect();
        let rules = &props.x_kubernetes_validations;
        Ok(self.interner.schema(Schema {
            kind: Kind::from(&props.type_),
            nullable: props.nullable,
            preserves_unknown_fields: props.x_kubernetes_preserve_unknown_fields == Some(true),
            is_embedded_resource: props.x_kubernetes_embedded_resource,
            is_int_or_string: props.x_kubernetes_int_or_string,
            properties: properties.into(),
            items,
            additional_properties,
            default: default.map(Arc::new),
            list_type: props.x_kubernetes_list_type.as_ref().map(list_type),
            list_map_keys,
            has_atomic_map: props
                .x_kubernetes_map_type
                .as_ref()
                .is_some_and(|it| *it == "atomic"),
            rules: (!rules.is_empty()).then(|| rules.as_slice().into()),
            values,
        }))
    }

    fn items(
        &mut self,
        items: &JSONSchemaPropsOrArray,
        depth: usize,
    ) -> Result<Option<Arc<Schema>>, ConvertError> {
        if !items.json_schemas.is_empty() {
            return Err(ConvertError::ItemsArray);
        }
        let schema = items.schema.as_deref();
        schema.map(|it| self.schema(it, depth)).transpose()
    }

    fn values(
        &mut self,
        props: &JSONSchemaProps,
        depth: usize,
    ) -> Result<Option<Arc<ValueRules>>, ConvertError> {
        let not = props.not.as_deref();
        let not = not.map(|it| self.schema(it, depth)).transpose()?;
        let enumerated: Result<Box<[Value]>, _> = props.enum_.iter().map(parse).collect();
        let junctors = Junctors {
            all_of: self.junctor(&props.all_of, depth)?,
            any_of: self.junctor(&props.any_of, depth)?,
            one_of: self.junctor(&props.one_of, depth)?,
            not,
        };
        let pattern = &props.pattern;
        let values = ValueRules {
            format: self.format(props),
            limits: limits(props).into_iter().flatten().collect(),
            pattern: (!pattern.is_empty()).then(|| self.interner.pattern(pattern)),
            has_unique_items: props.unique_items,
            enumerated: enumerated?,
            required: props
                .required
                .iter()
                .map(|it| self.interner.text(it))
                .collect(),
            junctors: (junctors != Junctors::default()).then(|| Box::new(junctors)),
        };
        Ok((values != ValueRules::default()).then(|| Arc::new(values)))
    }

    fn junctor(
        &mut self,
        schemas: &[JSONSchemaProps],
        depth: usize,
    ) -> Result<Box<[Arc<Schema>]>, ConvertError> {
        schemas.iter().map(|it| self.schema(it, depth)).collect()
    }

    fn format(&mut self, props: &JSONSchemaProps) -> Option<SchemaFormat> {
        let name = &props.format;
        if name.is_empty() {
            return None;
        }
        let known = KnownFormat::named(name);
        // Upstream looks at the type if there is exactly one.
        let kind = if props.x_kubernetes_int_or_string {
            ""
        } else {
            props.type_.as_str()
        };
        let is_supported = match kind {
            "" | "string" => known.is_some(),
            "integer" => matches!(name.as_str(), "int32" | "int64"),
            "number" => matches!(name.as_str(), "float" | "double"),
            _ => false,
        };
        Some(SchemaFormat {
            name: self.interner.text(name),
            known,
            is_supported,
        })
    }
}

fn limits(props: &JSONSchemaProps) -> [Option<Limit>; 9] {
    let bound = |value: Option<f64>, is_exclusive| {
        value.map(|value| Bound {
            value,
            is_exclusive,
        })
    };
    [
        bound(props.maximum, props.exclusive_maximum).map(Limit::Maximum),
        bound(props.minimum, props.exclusive_minimum).map(Limit::Minimum),
        props.multiple_of.map(Limit::MultipleOf),
        props.max_length.map(Limit::LengthMax),
        props.min_length.map(Limit::LengthMin),
        props.max_items.map(Limit::ItemsMax),
        props.min_items.map(Limit::ItemsMin),
        props.max_properties.map(Limit::PropertiesMax),
        props.min_properties.map(Limit::PropertiesMin),
    ]
}

fn list_type(text: &Str) -> ListType {
    match text.as_str() {
        "" | "atomic" => ListType::Atomic,
        "map" => ListType::Map,
        "set" => ListType::Set,
        _ => ListType::Unknown,
    }
}

/// Returns the first keyword that is not supported.
fn unsupported(props: &JSONSchemaProps) -> Option<&'static str> {
    let all = [
        (!props.id.is_empty(), "id"),
        (!props.schema.is_empty(), "schema"),
        (
            props.ref_path.as_ref().is_some_and(|it| !it.is_empty()),
            "$ref",
        ),
        (!props.pattern_properties.is_empty(), "patternProperties"),
        (!props.dependencies.is_empty(), "dependencies"),
        (props.additional_items.is_some(), "additionalItems"),
        (!props.definitions.is_empty(), "definitions"),
    ];
    all.iter().find(|(is_used, _)| *is_used).map(|(_, it)| *it)
}
