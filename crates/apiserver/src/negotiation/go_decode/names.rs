//! The Go types of fields, and the structs that embed them.
//!
//! Schemas have the wire types. `names.txt` has what differs in Go: for each struct its fields as
//! `json@Embedded.Struct=go.Type`, with at least one of the two parts.

use kubist_apimachinery::wire::{FieldFlags, FieldType, Schema};

static NAMES: &str = include_str!("names.txt");

/// The type that a value is decoded into.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) ty: FieldType,
    pub(super) name: Name,
}

/// The Go name of a type.
#[derive(Clone, Copy)]
pub(super) enum Name {
    /// That of the wire type.
    Plain,
    /// A different name.
    Own(&'static str),
    /// That of the message that it represents.
    Of(&'static Schema),
}

/// A field with its Go name.
pub(super) struct GoField {
    pub(super) json: &'static str,
    /// The embedded structs on the path to it.
    pub(super) embedded: std::str::Split<'static, char>,
    pub(super) target: Target,
}

/// Returns the field of a struct by its JSON name.
pub(super) fn field(schema: &'static Schema, name: &str) -> Option<GoField> {
    let Some(field) = schema.field(name) else {
        return type_meta(schema, name);
    };
    let (mut embedded, mut own) = ("", Name::Plain);
    for entry in entries(schema) {
        let (rest, go_type) = match entry.split_once('=') {
            Some((rest, go_type)) => (rest, Some(go_type)),
            None => (entry, None),
        };
        let (json, structs) = rest.split_once('@').unwrap_or((rest, ""));
        if json == field.json {
            embedded = structs;
            own = go_type.map_or(Name::Plain, Name::Own);
        }
    }
    Some(GoField {
        json: field.json,
        embedded: split(embedded),
        target: Target {
            ty: field.ty,
            name: own,
        },
    })
}

/// Reports whether it is the schema of a custom resource.
pub(super) fn is_custom(schema: &Schema) -> bool {
    let last = schema.fields.last();
    last.is_some_and(|it| it.flags.has(FieldFlags::PROTOBUF_ONLY))
}

/// `kind` and `apiVersion`, which schemas omit.
fn type_meta(schema: &'static Schema, name: &str) -> Option<GoField> {
    let json = ["kind", "apiVersion"].into_iter().find(|it| *it == name)?;
    schema.kind.map(|_| GoField {
        json,
        embedded: split("TypeMeta"),
        target: Target::plain(FieldType::Str),
    })
}

/// Splits a path; an empty path has no parts.
fn split(path: &'static str) -> std::str::Split<'static, char> {
    let mut parts = path.split('.');
    if path.is_empty() {
        parts.next();
    }
    parts
}

/// Returns the entries of a struct in the table.
fn entries(schema: &Schema) -> impl Iterator<Item = &'static str> {
    let line = NAMES.lines().find_map(|line| {
        let (name, entries) = line.split_once(' ')?;
        (name == schema.full_name).then_some(entries)
    });
    line.unwrap_or_default().split_ascii_whitespace()
}

impl Target {
    pub(super) fn plain(ty: FieldType) -> Self {
        let name = Name::Plain;
        Self { ty, name }
    }

    /// Returns the type of the items or values.
    pub(super) fn item(&self) -> Option<Self> {
        let ty = match self.ty {
            FieldType::StrList | FieldType::StrMap => FieldType::Str,
            FieldType::BoolList => FieldType::Bool,
            FieldType::I32List => FieldType::I32,
            FieldType::I64List => FieldType::I64,
            FieldType::BytesList | FieldType::BytesMap => FieldType::Bytes,
            FieldType::MessageList(schema) | FieldType::MessageMap(schema) => {
                FieldType::Message(schema)
            }
            _ => return None,
        };
        let name = match self.name {
            Name::Own(list) if list.starts_with('[') || list.starts_with("map[") => list
                .split_once(']')
                .map_or(Name::Plain, |(_, item)| Name::Own(item)),
            _ => Name::Plain,
        };
        Some(Self { ty, name })
    }

    /// Returns the type as Go prints it.
    pub(super) fn go_name(&self) -> String {
        match self.name {
            Name::Own(name) => return name.to_owned(),
            Name::Of(schema) => return go_type(schema),
            Name::Plain => {}
        }
        let name = match self.ty {
            FieldType::Bool => "bool",
            FieldType::I32 => "int32",
            FieldType::I64 => "int64",
            FieldType::F64 => "float64",
            FieldType::Str => "string",
            FieldType::Bytes => "[]uint8",
            FieldType::Message(schema) => return go_type(schema),
            FieldType::StrList => "[]string",
            FieldType::BoolList => "[]bool",
            FieldType::I32List => "[]int32",
            FieldType::I64List => "[]int64",
            FieldType::BytesList => "[][]uint8",
            FieldType::MessageList(schema) => return format!("[]{}", go_type(schema)),
            FieldType::StrMap => "map[string]string",
            FieldType::BytesMap => "map[string][]uint8",
            FieldType::MessageMap(schema) => return format!("map[string]{}", go_type(schema)),
        };
        name.to_owned()
    }
}

/// Returns a type with its package, which is named after the version.
pub(crate) fn go_type(schema: &Schema) -> String {
    let package = schema.full_name.rsplit('.').nth(1).unwrap_or_default();
    format!("{package}.{}", schema.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::find_kind;

    #[test]
    fn fields_have_the_names_that_go_gives_them() {
        let secret = find_kind("", "v1", "Secret").expect("it is built in");
        let field = field(secret.schema(), "type").expect("it is a field");
        assert_eq!(field.target.go_name(), "v1.SecretType");
        assert_eq!(field.embedded.count(), 0);
    }

    #[test]
    fn every_struct_of_the_table_is_named_once_and_in_order() {
        let names: Vec<&str> = NAMES
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(names.is_sorted());
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(names.contains(&"io.k8s.api.core.v1.Probe"));
    }
}
