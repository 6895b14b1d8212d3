//! `ApplyField`: the types of fields that derived configurations can set.

use super::plain;
use crate::wire::{
    DURATION, Field, FieldFlags, FieldType, INT_OR_STRING, MICRO_TIME, QUANTITY, RAW_JSON, TIME,
};
use crate::{
    CONDITION, Condition, Duration, IntOrString, LABEL_SELECTOR, LabelSelector, MicroTime,
    Quantity, Str, Time,
};
use serde_json::Value;
use std::collections::BTreeMap;
#[expect(clippy::disallowed_types, reason = "other people's types have it")]
use std::collections::HashMap;

/// A type that a field of a custom resource can have, if its configuration is derived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no field of an apply configuration",
    note = "derive `ApplyConfiguration` for it, or put `#[apply(json)]` on the field: its setter \
            then takes a `serde_json::Value`"
)]
pub trait ApplyField {
    /// What a setter takes.
    type Value;
    /// How the field merges.
    const TYPE: FieldType;

    /// Returns the value as JSON.
    fn into_json(value: Self::Value) -> Value;
}

macro_rules! scalars {
    ($($type:ty: $variant:ident,)*) => {$(
        impl ApplyField for $type {
            type Value = Self;
            const TYPE: FieldType = FieldType::$variant;

            fn into_json(value: Self) -> Value {
                value.into()
            }
        }
    )*};
}

scalars! {
    bool: Bool,
    i8: I64,
    i16: I64,
    i32: I32,
    i64: I64,
    u8: I64,
    u16: I64,
    u32: I64,
    u64: I64,
    f32: F64,
    f64: F64,
    String: Str,
    Str: Str,
}

macro_rules! messages {
    ($($type:ty: $schema:ident,)*) => {$(
        impl ApplyField for $type {
            type Value = Self;
            const TYPE: FieldType = FieldType::Message(&$schema);

            fn into_json(value: Self) -> Value {
                plain(&value)
            }
        }
    )*};
}

messages! {
    Condition: CONDITION,
    Duration: DURATION,
    IntOrString: INT_OR_STRING,
    LabelSelector: LABEL_SELECTOR,
    MicroTime: MICRO_TIME,
    Quantity: QUANTITY,
    Time: TIME,
}

impl ApplyField for Value {
    type Value = Self;
    const TYPE: FieldType = FieldType::Message(&RAW_JSON);

    fn into_json(value: Self) -> Value {
        value
    }
}

impl<T: ApplyField> ApplyField for Option<T> {
    type Value = T::Value;
    const TYPE: FieldType = T::TYPE;

    fn into_json(value: T::Value) -> Value {
        T::into_json(value)
    }
}

impl<T: ApplyField> ApplyField for Box<T> {
    type Value = T::Value;
    const TYPE: FieldType = T::TYPE;

    fn into_json(value: T::Value) -> Value {
        T::into_json(value)
    }
}

impl<T: ApplyField> ApplyField for Vec<T> {
    type Value = Vec<T::Value>;
    const TYPE: FieldType = list_of(T::TYPE);

    fn into_json(value: Self::Value) -> Value {
        value.into_iter().map(T::into_json).collect()
    }
}

impl<T: ApplyField> ApplyField for BTreeMap<String, T> {
    type Value = BTreeMap<String, T::Value>;
    const TYPE: FieldType = map_of(T::TYPE);

    fn into_json(value: Self::Value) -> Value {
        let pairs = value.into_iter();
        pairs.map(|(key, it)| (key, T::into_json(it))).collect()
    }
}

#[expect(clippy::disallowed_types, reason = "other people's types have it")]
impl<T: ApplyField, S> ApplyField for HashMap<String, T, S> {
    type Value = HashMap<String, T::Value, S>;
    const TYPE: FieldType = map_of(T::TYPE);

    fn into_json(value: Self::Value) -> Value {
        let pairs = value.into_iter();
        pairs.map(|(key, it)| (key, T::into_json(it))).collect() // sorted there
    }
}

/// Returns the type of a list of such items.
pub const fn list_of(item: FieldType) -> FieldType {
    match item {
        FieldType::Message(schema) => FieldType::MessageList(schema),
        FieldType::Bool => FieldType::BoolList,
        FieldType::I32 => FieldType::I32List,
        FieldType::I64 => FieldType::I64List,
        FieldType::Str => FieldType::StrList,
        // No wire type has lists or maps in lists; they are replaced as a whole.
        _ => FieldType::MessageList(&RAW_JSON),
    }
}

/// Returns the type of a map to such values.
pub const fn map_of(value: FieldType) -> FieldType {
    match value {
        FieldType::Message(schema) => FieldType::MessageMap(schema),
        FieldType::Str => FieldType::StrMap,
        _ => FieldType::MessageMap(&RAW_JSON),
    }
}

/// Returns a field of a derived configuration.
#[doc(hidden)]
pub const fn derived_field(json: &'static str, number: u32, ty: FieldType) -> Field {
    Field::new(json, number, ty, FieldFlags::OMIT_EMPTY)
}
