//! `CustomObject`: an object of a kind that is defined at run time, on a server.
//!
//! Its metadata is typed; everything else stays JSON. The same engine as for built-in kinds encodes
//! it, so it is stored, listed and watched alike. Its protobuf form is internal to this project:
//! the metadata, and the rest as JSON text.

use crate::wire::{
    DecodeContext, Entry, Field, FieldFlags as F, FieldType, JsonForm, JsonScalar, KindFacts,
    Message, ReverseWriter, Schema, Slot, View, Wire, WireError, WireErrorKind, names_size,
    table_of_names,
};
use crate::{AnyObject, ObjectMeta};
use serde_json::{Map, Value};
use std::borrow::Cow;

static FIELDS: [Field; 2] = [
    Field::new(
        "metadata",
        1,
        FieldType::Message(<ObjectMeta as Wire>::SCHEMA),
        F::NONE,
    ),
    Field::new("", 2, FieldType::Message(&CONTENT), F::PROTOBUF_ONLY),
];
static NAMES: [u16; names_size(2)] = table_of_names(&FIELDS);
static ORDER: [Entry; 2] = [Entry::Field(0), Entry::Field(1)];

static CONTENT: Schema = Schema {
    name: "CustomContent",
    full_name: "kubist.CustomContent",
    kind: None,
    form: JsonForm::Scalar,
    atomic: false,
    defaults: &[],
    fields: &[],
    names: &[],
    order: &[],
};

/// An object of a kind that is defined at run time.
#[derive(Clone, Debug)]
pub struct CustomObject {
    schema: &'static Schema,
    /// The metadata.
    pub metadata: ObjectMeta,
    content: Content,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Content(Map<String, Value>);

impl CustomObject {
    /// Creates an empty object of the kind with this [schema](Self::schema_of).
    pub fn new(schema: &'static Schema) -> Self {
        Self {
            schema,
            metadata: ObjectMeta::default(),
            content: Content::default(),
        }
    }

    /// Returns the schema of a kind: it has metadata and keeps all other members.
    pub const fn schema_of(kind: KindFacts) -> Schema {
        Schema {
            name: kind.kind,
            full_name: kind.kind,
            kind: Some(kind),
            form: JsonForm::Object,
            atomic: false,
            defaults: &[],
            fields: &FIELDS,
            names: &NAMES,
            order: &ORDER,
        }
    }

    /// Converts it to another version.
    pub fn set_schema(&mut self, schema: &'static Schema) {
        self.schema = schema;
    }

    /// Returns all members except `apiVersion`, `kind` and `metadata`.
    pub fn content(&self) -> &Map<String, Value> {
        &self.content.0
    }

    /// Returns all members except `apiVersion`, `kind` and `metadata`, for changes.
    pub fn content_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.content.0
    }
}

impl PartialEq for CustomObject {
    fn eq(&self, other: &Self) -> bool {
        self.schema.kind == other.schema.kind
            && self.metadata == other.metadata
            && self.content == other.content
    }
}

impl Message for CustomObject {
    fn schema(&self) -> &'static Schema {
        self.schema
    }
    fn slot(&mut self, index: usize) -> Option<Slot<'_>> {
        match index {
            0 => Some(Slot::Message(&mut self.metadata)),
            1 => Some(Slot::Message(&mut self.content)),
            _ => None,
        }
    }
    fn view(&self, index: usize) -> Option<View<'_>> {
        match index {
            0 => Some(View::Message(&self.metadata)),
            1 => Some(View::Message(&self.content)),
            _ => None,
        }
    }
    fn others(&self) -> Option<&Map<String, Value>> {
        Some(&self.content.0)
    }
    fn others_mut(&mut self) -> Option<&mut Map<String, Value>> {
        Some(&mut self.content.0)
    }
}

impl Message for Content {
    fn schema(&self) -> &'static Schema {
        &CONTENT
    }
    fn slot(&mut self, _: usize) -> Option<Slot<'_>> {
        None
    }
    fn view(&self, _: usize) -> Option<View<'_>> {
        None
    }
    fn scalar(&self) -> JsonScalar<'_> {
        JsonScalar::Str(Cow::Owned(json_text(&self.0)))
    }
    fn prepend_scalar(&self, out: &mut ReverseWriter) {
        if !self.0.is_empty() {
            out.prepend(json_text(&self.0).as_bytes());
        }
    }
    fn merge_scalar(&mut self, bytes: &[u8], _: &mut DecodeContext) -> Result<(), WireError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let map: Map<String, Value> = serde_json::from_slice(bytes).map_err(|error| {
            WireError::from(WireErrorKind::Invalid {
                reason: error.to_string(),
            })
        })?;
        self.0.extend(map);
        Ok(())
    }
}

fn json_text(map: &Map<String, Value>) -> String {
    // A tree with string keys can always be written.
    serde_json::to_string(map).unwrap_or_default()
}

impl AnyObject for CustomObject {
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
    fn boxed_clone(&self) -> Box<dyn AnyObject> {
        Box::new(self.clone())
    }
    fn equals(&self, other: &dyn AnyObject) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Self>().is_some_and(|it| it == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{merge_json, merge_protobuf, to_json_value, to_protobuf};
    use serde_json::json;

    static WIDGET: Schema = CustomObject::schema_of(KindFacts {
        group: "example.com",
        version: "v1",
        kind: "Widget",
        api_version: "example.com/v1",
    });

    fn tree() -> Value {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w", "labels": {"a": "b"}},
            "spec": {"size": 3, "free": {"x": [1, null, "y"]}},
            "other": 2.5,
        })
    }

    fn widget(json: &Value) -> CustomObject {
        let mut widget = CustomObject::new(&WIDGET);
        let text = json.to_string();
        let cx = &mut DecodeContext::new();
        merge_json(&mut widget, text.as_bytes(), cx).expect("it is valid");
        widget
    }

    #[test]
    fn a_custom_object_keeps_everything_in_json_and_in_protobuf() {
        let widget = widget(&tree());
        assert_eq!(widget.metadata.name, "w");
        assert_eq!(widget.content()["spec"]["size"], 3);
        assert_eq!(to_json_value(&widget), tree());
        let mut read = CustomObject::new(&WIDGET);
        let bytes = to_protobuf(&widget);
        merge_protobuf(&mut read, &bytes, &mut DecodeContext::new()).expect("it is its own");
        assert_eq!(read, widget);
        assert!(read.equals(&widget));
    }

    #[test]
    fn a_member_without_a_name_is_kept_as_any_other() {
        let text = r#"{"metadata": {"name": "w"}, "": {"": null}, "spec": {"a": 1e0}}"#;
        let mut object = CustomObject::new(&WIDGET);
        merge_json(&mut object, text.as_bytes(), &mut DecodeContext::new()).expect("it is JSON");
        assert_eq!(object.content()[""], json!({"": null}));
        assert_eq!(object.content()["spec"], json!({"a": 1}));
    }

    #[test]
    fn strictness_is_for_metadata_and_names_given_twice() {
        let mut object = CustomObject::new(&WIDGET);
        let mut cx = DecodeContext::new().strict();
        let text = br#"{"metadata": {"nam": "x"}, "spec": {}, "spec": {"a": 1}}"#;
        merge_json(&mut object, text, &mut cx).expect("it is JSON");
        let problems = cx.take_problems();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            ["unknown field \"metadata.nam\"", "duplicate field \"spec\""]
        );
        let text = br#"{"kind": "Widget", "kind": "Widget", "spec": {"a": [{"b": 1, "b": 2}]}}"#;
        let mut object = CustomObject::new(&WIDGET);
        merge_json(&mut object, text, &mut cx).expect("it is JSON");
        let problems = cx.take_problems();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "duplicate field \"kind\"",
                "duplicate field \"spec.a[0].b\""
            ]
        );
        let wrong = br#"{"metadata": {"name": 1}}"#;
        assert!(merge_json(&mut object, wrong, &mut DecodeContext::new()).is_err());
    }
}
