//! Schemas of built-in kinds, from the static descriptions that also encode them.
//!
//! The types are those that an API server derives from its OpenAPI documents, with the same names.

use super::{
    Atom, DEDUCED, FieldType, ListType, MapType, NameMap, Relationship, Scalar, Schema, TypeRef,
    UNTYPED,
};
use kubist_apimachinery::Str;
use kubist_apimachinery::wire;
use serde_json::Value;
use std::collections::BTreeMap;

/// Events are decoded by kind, and have no field for it.
const WATCH_EVENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent";

impl Schema {
    /// Returns the types of messages, and of all that they contain. Kinds can share a schema, which
    /// has each type once; [`TypeRef::of_wire`] is the type of each.
    ///
    /// ```
    /// use kubist_apimachinery::ObjectMeta;
    /// use kubist_apimachinery::wire::Wire;
    /// use kubist_field_manager::schema::{Schema, TypeRef};
    ///
    /// let schema = Schema::from_wire([ObjectMeta::SCHEMA]);
    /// let root = TypeRef::of_wire(ObjectMeta::SCHEMA);
    /// let metadata = schema.resolve(&root).unwrap().into_owned().map.unwrap();
    /// let owners = metadata.type_of("ownerReferences").inlined.list.clone();
    /// assert_eq!(owners.unwrap().keys, ["uid"]);
    /// ```
    pub fn from_wire(roots: impl IntoIterator<Item = &'static wire::Schema>) -> Self {
        let mut converter = Converter::default();
        let mut types: BTreeMap<Str, Atom> = BTreeMap::new();
        let mut pending: Vec<_> = roots.into_iter().collect();
        while let Some(message) = pending.pop() {
            let name = converter.str(message.full_name);
            if types.contains_key(&name) {
                continue;
            }
            types.insert(name, converter.message(message));
            pending.extend(message.fields.iter().filter_map(|it| it.ty.schema()));
        }
        types.insert(DEDUCED.into(), Atom::deduced());
        types.insert(UNTYPED.into(), Atom::untyped());
        Self::new(types)
    }
}

impl TypeRef {
    /// Refers to the type of a message in [`Schema::from_wire`].
    pub fn of_wire(message: &'static wire::Schema) -> Self {
        Self::named(message.full_name)
    }
}

/// Names are repeated often, so each is kept once.
#[derive(Default)]
struct Converter {
    names: BTreeMap<&'static str, Str>,
}

impl Converter {
    fn str(&mut self, name: &'static str) -> Str {
        self.names
            .entry(name)
            .or_insert_with(|| name.into())
            .clone()
    }

    fn named(&mut self, name: &'static str) -> TypeRef {
        TypeRef {
            name: self.str(name),
            ..TypeRef::default()
        }
    }

    fn message(&mut self, message: &'static wire::Schema) -> Atom {
        let suffix = message.full_name.strip_prefix("io.k8s.apimachinery.pkg.");
        match (message.form, suffix) {
            (wire::JsonForm::Object, _) => Atom::map(self.object(message)),
            (wire::JsonForm::Scalar, Some("util.intstr.IntOrString")) => Atom::deduced(),
            (wire::JsonForm::Scalar, Some("apis.meta.v1.Duration")) => Atom::scalar(Scalar::String),
            (wire::JsonForm::Scalar, _) => Atom::scalar(Scalar::Untyped),
            (wire::JsonForm::Raw, Some("runtime.RawExtension")) => Atom::untyped(),
            (wire::JsonForm::Raw, Some("apis.meta.v1.FieldsV1")) => Atom::map(self.free_form()),
            (wire::JsonForm::Raw | wire::JsonForm::Union, _) => Atom::deduced(),
            (wire::JsonForm::Transparent, _) => self.transparent(message).inlined,
        }
    }

    fn object(&mut self, message: &'static wire::Schema) -> MapType {
        let mut fields = Vec::with_capacity(message.fields.len() + 2);
        if message.kind.is_some() && message.full_name != WATCH_EVENT {
            for name in ["apiVersion", "kind"] {
                let field = FieldType {
                    type_ref: scalar(Scalar::String),
                    default: None,
                };
                fields.push((self.str(name), field));
            }
        }
        for field in message.fields {
            if field.flags.has(wire::FieldFlags::PROTOBUF_ONLY) {
                continue;
            }
            let field_type = FieldType {
                type_ref: self.field(field),
                default: default(message, field),
            };
            fields.push((self.str(field.json), field_type));
        }
        let mut map = self.free_form();
        if !fields.is_empty() {
            map.element_type = TypeRef::default();
            map.fields = fields.into_iter().collect();
        }
        if message.atomic {
            map.relationship = Relationship::Atomic;
        }
        map
    }

    /// A map of anything.
    fn free_form(&mut self) -> MapType {
        MapType {
            fields: NameMap::default(),
            element_type: self.named(DEDUCED),
            relationship: Relationship::Granular,
        }
    }

    fn field(&mut self, field: &wire::Field) -> TypeRef {
        use wire::FieldType as T;
        match field.ty {
            T::Bool => scalar(Scalar::Boolean),
            T::I32 | T::I64 | T::F64 => scalar(Scalar::Numeric),
            T::Str | T::Bytes => scalar(Scalar::String),
            T::Message(message) => {
                let mut type_ref = self.reference(message);
                type_ref.relationship = match field.list {
                    wire::ListType::Atomic => Some(Relationship::Atomic),
                    wire::ListType::Granular => Some(Relationship::Granular),
                    _ => None,
                };
                type_ref
            }
            T::StrList | T::BytesList => self.list(field, scalar(Scalar::String)),
            T::BoolList => self.list(field, scalar(Scalar::Boolean)),
            T::I32List | T::I64List => self.list(field, scalar(Scalar::Numeric)),
            T::MessageList(message) => {
                let items = self.reference(message);
                self.list(field, items)
            }
            T::StrMap | T::BytesMap => map(field, scalar(Scalar::String)),
            T::MessageMap(message) => map(field, self.reference(message)),
        }
    }

    fn reference(&mut self, message: &'static wire::Schema) -> TypeRef {
        if message.form == wire::JsonForm::Transparent {
            self.transparent(message)
        } else {
            self.named(message.full_name)
        }
    }

    /// A message whose JSON is that of its first field has no type of its own.
    fn transparent(&mut self, message: &'static wire::Schema) -> TypeRef {
        match message.fields.first() {
            Some(field) => self.field(field),
            None => self.named(UNTYPED),
        }
    }

    fn list(&mut self, field: &wire::Field, element_type: TypeRef) -> TypeRef {
        let (relationship, keys) = match field.list_keys() {
            Some(keys) => (Relationship::Granular, keys),
            None => (Relationship::Atomic, &[][..]),
        };
        TypeRef::inlined(Atom::list(ListType {
            element_type,
            relationship,
            keys: keys.iter().map(|it| self.str(it)).collect(),
        }))
    }
}

/// Returns the published default of a field. Scalars that are always written have one: zero.
fn default(message: &wire::Schema, field: &wire::Field) -> Option<Value> {
    let mut defaults = message.defaults.iter();
    if let Some((_, text)) = defaults.find(|(name, _)| *name == field.json) {
        return serde_json::from_str(text).ok();
    }
    let optional = [wire::FieldFlags::OMIT_EMPTY, wire::FieldFlags::POINTER];
    if optional.into_iter().any(|it| field.flags.has(it)) {
        return None;
    }
    match field.ty {
        wire::FieldType::Bool => Some(Value::from(false)),
        wire::FieldType::I32 | wire::FieldType::I64 | wire::FieldType::F64 => Some(Value::from(0)),
        wire::FieldType::Str => Some(Value::from("")),
        _ => None,
    }
}

fn scalar(scalar: Scalar) -> TypeRef {
    TypeRef::inlined(Atom::scalar(scalar))
}

fn map(field: &wire::Field, element_type: TypeRef) -> TypeRef {
    let relationship = match field.list {
        wire::ListType::Atomic => Relationship::Atomic,
        _ => Relationship::Granular,
    };
    TypeRef::inlined(Atom::map(MapType {
        fields: NameMap::default(),
        element_type,
        relationship,
    }))
}
