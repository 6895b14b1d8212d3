//! The macros and helpers that generated types are declared with.
//!
//! [`api_type!`] holds the field table of a type. A row is a field: its Rust name, JSON name,
//! protobuf number, type and presence rules. The sorted tables that the wire engine also needs are
//! computed at compile time, so a schema is plain static data at run time.

use kubist_apimachinery::Resource;
use kubist_apimachinery::wire::{Entry, Field, FieldFlags, FieldType, KindFacts};

/// Returns a field that JSON and protobuf always write; [`Field`] has a method for each other rule.
pub(crate) const fn field(json: &'static str, number: u32, ty: FieldType) -> Field {
    Field::new(json, number, ty, FieldFlags::NONE)
}

/// Returns the group, version and kind of a resource.
pub(crate) const fn kind_of<K: Resource>() -> KindFacts {
    KindFacts {
        group: K::GROUP,
        version: K::VERSION,
        kind: K::KIND,
        api_version: K::API_VERSION,
    }
}

/// Returns the protobuf entry of the field at this index.
pub(crate) const fn at(index: u16) -> Entry {
    Entry::Field(index)
}

/// Returns the protobuf entry of a message whose fields are inline in JSON and in the struct.
pub(crate) const fn group(number: u32, entries: &'static [Entry]) -> Entry {
    Entry::Group { number, entries }
}

/// Declares the schema of a struct and implements `Message`, `Wire`, `Debug` and serde for it.
///
/// `kind` is given for kinds, `form` for types whose JSON is not an object, `atomic` for types that
/// server-side apply treats as one value, `defaults` for types with published ones, and
/// `protobuf_order` for types with groups; without groups it is the order of the protobuf numbers.
///
/// The static that holds the schema has a name only in types that contain themselves.
macro_rules! api_type {
    ($type:ident, $($rest:tt)*) => {
        const _: () = {
            $crate::api_type::api_type! { $type: SCHEMA, $($rest)* }
        };
    };
    (
        $type:ident: $schema:ident,
        full_name: $full_name:literal,
        $(kind: $kind:expr,)?
        $(form: $form:ident,)?
        $(atomic: $atomic:literal,)?
        $(defaults: $defaults:expr,)?
        fields: [$($index:literal $rust:ident = $field:expr,)*],
        $(protobuf_order: $order:expr,)?
    ) => {
        static $schema: kubist_apimachinery::wire::Schema = {
            const N: usize = [$($index,)* 0].len() - 1;
            static FIELDS: [kubist_apimachinery::wire::Field; N] = [$($field),*];
            static NAMES: [u16; kubist_apimachinery::wire::names_size(N)] =
                kubist_apimachinery::wire::table_of_names(&FIELDS);
            kubist_apimachinery::wire::Schema {
                name: stringify!($type),
                full_name: $full_name,
                kind: $crate::api_type::optional!($($kind)?),
                form: $crate::api_type::form!($($form)?),
                atomic: $crate::api_type::or_default!(false $(, $atomic)?),
                defaults: $crate::api_type::or_default!(&[] $(, $defaults)?),
                fields: &FIELDS,
                names: &NAMES,
                order: $crate::api_type::protobuf_order!(N, FIELDS $(, $order)?),
            }
        };
        kubist_apimachinery::message!($type, $schema, [$($index $rust),*]);
        kubist_apimachinery::message_debug!($type);
    };
}

/// Declares what a kind is called, and implements the traits of objects for it.
macro_rules! api_resource {
    (
        $type:ident: $scope:ident,
        group: $group:literal,
        version: $version:literal,
        api_version: $api_version:literal,
        kind: $kind:literal,
        plural: $plural:literal,
        singular: $singular:literal,
    ) => {
        kubist_apimachinery::resource!(
            $type,
            $group,
            $version,
            $api_version,
            $kind,
            $plural,
            $singular,
            $scope
        );
    };
}

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! or_default {
    ($default:expr) => {
        $default
    };
    ($default:expr, $value:expr) => {
        $value
    };
}

macro_rules! form {
    () => {
        kubist_apimachinery::wire::JsonForm::Object
    };
    ($form:ident) => {
        kubist_apimachinery::wire::JsonForm::$form
    };
}

macro_rules! protobuf_order {
    ($count:ident, $fields:ident) => {{
        static ORDER: [kubist_apimachinery::wire::Entry; $count] =
            kubist_apimachinery::wire::order_by_number(&$fields);
        &ORDER
    }};
    ($count:ident, $fields:ident, $order:expr) => {
        $order
    };
}

pub(crate) use {api_resource, api_type, form, optional, or_default, protobuf_order};
