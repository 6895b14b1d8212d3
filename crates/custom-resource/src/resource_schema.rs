//! The schemas of kinds that derive `Resource`, and how they are decoded: absent fields keep their
//! default.

use kubist_apimachinery::ObjectMeta;
use kubist_apimachinery::wire::{
    self, DecodeContext, Entry, Field, FieldFlags as F, FieldType, JsonForm, KindFacts, Message,
    SERDE_FIELD, Schema, Wire, WireError,
};

/// Returns the fields of these names; optional ones are left out while they are empty. The one
/// without a name has the members that no other has, which JSON does not see as a field.
pub const fn fields<const N: usize>(names: [(&'static str, bool); N]) -> [Field; N] {
    let mut fields = [const { Field::new("", 0, FieldType::Message(&SERDE_FIELD), F::NONE) }; N];
    let mut index = 0;
    let mut number = 0;
    while index < N {
        number += 1;
        let (name, optional) = names[index];
        let (ty, flags) = if is_metadata(name) {
            (FieldType::Message(<ObjectMeta as Wire>::SCHEMA), F::NONE)
        } else if name.is_empty() {
            (FieldType::Message(&SERDE_FIELD), F::PROTOBUF_ONLY)
        } else if optional {
            let flags = F::OMIT_EMPTY.or(F::POINTER);
            (FieldType::Message(&SERDE_FIELD), flags)
        } else {
            (FieldType::Message(&SERDE_FIELD), F::REQUIRED)
        };
        fields[index] = Field::new(name, number, ty, flags);
        index += 1;
    }
    fields
}

/// Returns the order in which fields are written: that of the struct.
pub const fn order<const N: usize>() -> [Entry; N] {
    let mut order = [const { Entry::Field(0) }; N];
    let mut index = 0;
    let mut number = 0;
    while index < N {
        order[index] = Entry::Field(number);
        index += 1;
        number += 1;
    }
    order
}

/// Returns the schema of a kind with these fields.
pub const fn schema_with(
    kind: KindFacts,
    fields: &'static [Field],
    names: &'static [u16],
    order: &'static [Entry],
) -> Schema {
    Schema {
        name: kind.kind,
        full_name: kind.kind,
        kind: Some(kind),
        form: JsonForm::Object,
        atomic: false,
        defaults: &[],
        fields,
        names,
        order,
    }
}

/// Names are compared by bytes because constant evaluation cannot compare texts.
const fn is_metadata(name: &str) -> bool {
    let (name, wanted) = (name.as_bytes(), b"metadata");
    if name.len() != wanted.len() {
        return false;
    }
    let mut at = 0;
    while at < name.len() {
        if name[at] != wanted[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Decodes JSON.
///
/// # Errors
/// A value does not fit.
pub fn default_from_json<M: Message + Default>(
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<M, WireError> {
    let mut object = M::default();
    wire::merge_json(&mut object, bytes, cx)?;
    Ok(object)
}

/// Decodes protobuf, a form internal to this project.
///
/// # Errors
/// A value does not fit.
pub fn default_from_protobuf<M: Message + Default>(
    bytes: &[u8],
    cx: &mut DecodeContext,
) -> Result<M, WireError> {
    let mut object = M::default();
    wire::merge_protobuf(&mut object, bytes, cx)?;
    Ok(object)
}
