//! Turns schemas into types.
//!
//! Only what structural schemas say outside of `allOf`, `anyOf`, `oneOf` and `not` has types; these
//! add conditions to them. What cannot be a type is any JSON value, so that nothing is lost.

use crate::Options;
use crate::node::{Field, Node, NodeId, Nodes, Scalar, Struct};
use kubist_api::apiextensions::v1::{JSONSchemaProps, JSONSchemaPropsOrBool};
use kubist_apimachinery::RawJson;
use std::collections::BTreeSet;

/// The depth of nested values below which all values are JSON: parsers of definitions accept about
/// as much.
const DEPTH_MAX: usize = 96;
/// The most values of an enum; a string with more is a string.
const VALUES_MAX: usize = 512;
/// How the pattern of upstream's `Quantity` begins; controller-gen writes it.
const QUANTITY_PATTERN: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))";

/// Adds the types of schemas to a set of nodes.
pub(crate) struct Lowering<'l> {
    pub(crate) nodes: &'l mut Nodes,
    pub(crate) options: &'l Options,
}

impl Lowering<'_> {
    /// Returns the type of a schema.
    pub(crate) fn node(&mut self, schema: &JSONSchemaProps, depth: usize) -> NodeId {
        let id = self.not_null(schema, depth);
        if schema.nullable && *self.nodes.get(id) != Node::Scalar(Scalar::Value) {
            return self.nodes.intern(Node::Nullable(id));
        }
        id
    }

    /// Returns the fields of an object.
    pub(crate) fn fields(&mut self, schema: &JSONSchemaProps, depth: usize) -> Vec<Field> {
        let required: BTreeSet<&str> = schema.required.iter().map(|it| &**it).collect();
        let properties = schema.properties.iter();
        let fields = properties.map(|(name, schema_of_field)| Field {
            json: name.to_string(),
            node: self.node(schema_of_field, depth + 1),
            is_required: required.contains(&**name),
            docs: schema_of_field.description.to_string(),
            default: schema_of_field.default.as_ref().and_then(json_text),
        });
        fields.collect()
    }

    fn not_null(&mut self, schema: &JSONSchemaProps, depth: usize) -> NodeId {
        if depth > DEPTH_MAX {
            return self.nodes.intern(Node::Scalar(Scalar::Value));
        }
        if schema.x_kubernetes_int_or_string {
            let is_quantity = schema.pattern.starts_with(QUANTITY_PATTERN);
            let scalar = if is_quantity {
                Scalar::AnyQuantity
            } else {
                Scalar::IntOrString
            };
            return self.nodes.intern(Node::Scalar(scalar));
        }
        let node = match &*schema.type_ {
            "boolean" => Node::Scalar(Scalar::Bool),
            "integer" if schema.format == "int32" => Node::Scalar(Scalar::I32),
            "integer" => Node::Scalar(Scalar::I64),
            "number" => Node::Scalar(Scalar::F64),
            "string" => self.string(schema),
            "array" => Node::List(self.items(schema, depth)),
            "object" => self.object(schema, depth),
            _ => Node::Scalar(Scalar::Value),
        };
        self.nodes.intern(node)
    }

    fn string(&self, schema: &JSONSchemaProps) -> Node {
        let values = values(schema);
        if !values.is_empty() && values.len() <= VALUES_MAX {
            return Node::Enum(values);
        }
        Node::Scalar(match &*schema.format {
            "date-time" if !self.options.times_as_strings => Scalar::Time,
            "byte" => Scalar::Bytes,
            _ => Scalar::String,
        })
    }

    fn items(&mut self, schema: &JSONSchemaProps, depth: usize) -> NodeId {
        let items = schema.items.as_ref().and_then(|it| it.schema.as_ref());
        match items {
            Some(items) => self.node(items, depth + 1),
            None => self.nodes.intern(Node::Scalar(Scalar::Value)),
        }
    }

    fn object(&mut self, schema: &JSONSchemaProps, depth: usize) -> Node {
        // Servers keep `apiVersion`, `kind` and metadata of embedded objects, whatever is listed.
        let has_fields = !schema.properties.is_empty() && !schema.x_kubernetes_embedded_resource;
        match schema.additional_properties.as_deref() {
            None if has_fields => Node::Struct(Struct {
                fields: self.fields(schema, depth),
                is_open: schema.x_kubernetes_preserve_unknown_fields == Some(true),
            }),
            Some(JSONSchemaPropsOrBool {
                schema: Some(values),
                ..
            }) if !has_fields => Node::Map(self.node(values, depth + 1)),
            _ => Node::Scalar(Scalar::Object),
        }
    }
}

/// Returns the values that a string may have, in their order, each once.
///
/// controller-gen writes the enum of a type and that of a field into `allOf`; the first is taken,
/// since a value that only another has is kept, too.
fn values(schema: &JSONSchemaProps) -> Vec<String> {
    let all = std::iter::once(schema).chain(&schema.all_of);
    let mut lists = all.map(|it| {
        let (mut values, mut seen) = (Vec::new(), BTreeSet::new());
        for raw in &it.enum_ {
            // A null belongs to `nullable`.
            if let Ok(serde_json::Value::String(text)) = serde_json::from_slice(&raw.raw.0)
                && seen.insert(text.clone())
            {
                values.push(text);
            }
        }
        values
    });
    lists.find(|it| !it.is_empty()).unwrap_or_default()
}

fn json_text(json: &RawJson) -> Option<String> {
    String::from_utf8(json.raw.0.clone()).ok()
}
