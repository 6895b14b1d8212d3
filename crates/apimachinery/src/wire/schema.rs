//! `Schema`: the static description of a message: fields, numbers, types, merge strategies.
//!
//! Codegen generates schemas as statics; the few types of this crate have theirs written by hand.

mod define;
mod names;
mod order;
mod place;

pub use names::{names_size, table_of_names};
pub use order::order_by_number;
pub(super) use place::Place;

/// The description of one message type.
#[derive(Debug)]
pub struct Schema {
    /// The Go type name, without package (`PodSpec`); error texts use it.
    pub name: &'static str,
    /// The full name in the style of the published OpenAPI (`io.k8s.api.core.v1.PodSpec`).
    pub full_name: &'static str,
    /// The `apiVersion` and `kind`, for kinds.
    pub kind: Option<KindFacts>,
    /// The form of the message in JSON.
    pub form: JsonForm,
    /// Whether server-side apply treats the message as one value.
    pub atomic: bool,
    /// The published defaults of fields, as JSON names and JSON texts; empty objects are left out.
    pub defaults: &'static [(&'static str, &'static str)],
    /// The fields in the order of the Go struct, which is the order of JSON output.
    pub fields: &'static [Field],
    /// The hash table of the JSON names: [`table_of_names`].
    pub names: &'static [u16],
    /// Fields and groups in the order of their protobuf numbers.
    pub order: &'static [Entry],
}

/// Group, version and kind as constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindFacts {
    /// The group; empty for core.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// `group/version`, or the version alone for core.
    pub api_version: &'static str,
}

/// The JSON form of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the engine must handle each form")]
pub enum JsonForm {
    /// An object with the fields of the schema.
    Object,
    /// One string, number or null: [`Message::scalar`](super::Message::scalar).
    Scalar,
    /// The JSON of the first field alone (`ExtraValue` is a list of strings).
    Transparent,
    /// Any JSON: [`Message::raw_json`](super::Message::raw_json).
    Raw,
    /// A bool, an object or a list, whichever of the fields has that type
    /// (`JSONSchemaPropsOrBool`).
    Union,
}

/// One field.
#[derive(Debug)]
pub struct Field {
    /// The JSON name.
    pub json: &'static str,
    /// The protobuf number, within its group if it has one.
    pub number: u32,
    /// The type.
    pub ty: FieldType,
    /// The presence rules.
    pub flags: FieldFlags,
    /// How a strategic merge patch merges the list or map.
    pub merge: Merge,
    /// How server-side apply merges the list or map.
    pub list: ListType,
}

impl Field {
    /// Creates a field without merge strategies.
    pub const fn new(json: &'static str, number: u32, ty: FieldType, flags: FieldFlags) -> Self {
        Self {
            json,
            number,
            ty,
            flags,
            merge: Merge::NONE,
            list: ListType::Unset,
        }
    }

    /// Sets the strategic merge strategy.
    #[must_use]
    pub const fn with_merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    /// Sets the list type.
    #[must_use]
    pub const fn with_list(mut self, list: ListType) -> Self {
        self.list = list;
        self
    }

    /// Returns what server-side apply identifies the items of the list by: keys, or nothing for a
    /// set; none if the list is one value. A list is what its list type says, or else what its
    /// patch strategy says.
    pub const fn list_keys(&self) -> Option<&[&'static str]> {
        match (self.list, self.merge.merge) {
            (ListType::Map(keys), _) => Some(keys),
            (ListType::Set, _) => Some(&[]),
            (ListType::Unset, true) if self.merge.key.is_empty() => Some(&[]),
            (ListType::Unset, true) => Some(std::slice::from_ref(&self.merge.key)),
            _ => None,
        }
    }

    /// With [`FieldFlags::OMIT_EMPTY`].
    #[must_use]
    pub const fn omit_empty(self) -> Self {
        self.with_flag(FieldFlags::OMIT_EMPTY)
    }

    /// With [`FieldFlags::OMIT_ZERO`].
    #[must_use]
    pub const fn omit_zero(self) -> Self {
        self.with_flag(FieldFlags::OMIT_ZERO)
    }

    /// With [`FieldFlags::POINTER`].
    #[must_use]
    pub const fn pointer(self) -> Self {
        self.with_flag(FieldFlags::POINTER)
    }

    /// With [`FieldFlags::REQUIRED`].
    #[must_use]
    pub const fn required(self) -> Self {
        self.with_flag(FieldFlags::REQUIRED)
    }

    const fn with_flag(mut self, flag: FieldFlags) -> Self {
        self.flags = self.flags.or(flag);
        self
    }
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the engine must handle each type")]
pub enum FieldType {
    /// `bool`.
    Bool,
    /// `int32`.
    I32,
    /// `int64`.
    I64,
    /// `double`.
    F64,
    /// `string`.
    Str,
    /// `bytes`.
    Bytes,
    /// A message.
    Message(&'static Schema),
    /// `repeated string`.
    StrList,
    /// `repeated bool`.
    BoolList,
    /// `repeated int32`.
    I32List,
    /// `repeated int64`.
    I64List,
    /// `repeated bytes`.
    BytesList,
    /// `repeated` message.
    MessageList(&'static Schema),
    /// `map<string, string>`.
    StrMap,
    /// `map<string, bytes>`.
    BytesMap,
    /// `map<string, message>`.
    MessageMap(&'static Schema),
}

impl FieldType {
    /// Returns the schema of the message, the items or the values; none for scalars.
    pub fn schema(&self) -> Option<&'static Schema> {
        match self {
            Self::Message(schema) | Self::MessageList(schema) | Self::MessageMap(schema) => {
                Some(schema)
            }
            _ => None,
        }
    }
}

/// The presence rules of a field, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFlags(u8);

impl FieldFlags {
    /// No flags: a Go value that JSON always includes.
    pub const NONE: Self = Self(0);
    /// JSON omits it when it is Go's zero value (`omitempty`; never applies to struct values).
    pub const OMIT_EMPTY: Self = Self(1);
    /// JSON omits it when the whole struct is zero (`omitzero`).
    pub const OMIT_ZERO: Self = Self(2);
    /// It is a Go pointer: protobuf includes it only when set.
    pub const POINTER: Self = Self(4);
    /// The published schema requires it.
    pub const REQUIRED: Self = Self(8);
    /// It is not a JSON field of its own: it holds the other members of a kind defined at run time.
    pub const PROTOBUF_ONLY: Self = Self(16);

    /// Returns the union of both sets.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Reports whether all flags of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// An entry of the protobuf order.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the engine must handle each entry")]
pub enum Entry {
    /// The field at this index.
    Field(u16),
    /// A nested message in protobuf whose fields are inline in JSON and in the struct
    /// (`VolumeSource` in `Volume`).
    Group {
        /// Its protobuf number.
        number: u32,
        /// Its entries, by number.
        entries: &'static [Self],
    },
}

/// The strategic merge strategy (`patchStrategy` and `patchMergeKey`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Whether lists merge (by `key`, or as sets of scalars) instead of being replaced.
    pub merge: bool,
    /// Whether only the keys in the patch's `$retainKeys` are kept.
    pub retain_keys: bool,
    /// Whether `replace` is stated explicitly.
    pub replace: bool,
    /// The merge key of items; empty for scalars.
    pub key: &'static str,
}

impl Merge {
    /// No strategy: objects merge, lists are replaced.
    pub const NONE: Self = Self {
        merge: false,
        retain_keys: false,
        replace: false,
        key: "",
    };
    /// `merge` for a list of scalars.
    pub const SET: Self = Self {
        merge: true,
        ..Self::NONE
    };
    /// `retainKeys`.
    pub const RETAIN_KEYS: Self = Self {
        retain_keys: true,
        ..Self::NONE
    };
    /// `replace`.
    pub const REPLACE: Self = Self {
        replace: true,
        ..Self::NONE
    };

    /// `merge` for a list whose items are identified by `key`.
    pub const fn by(key: &'static str) -> Self {
        Self {
            merge: true,
            key,
            ..Self::NONE
        }
    }

    /// `retainKeys` besides.
    #[must_use]
    pub const fn and_retain_keys(mut self) -> Self {
        self.retain_keys = true;
        self
    }
}

/// `listType` and `mapType` markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListType {
    /// Not marked.
    Unset,
    /// A list or map that is replaced as a whole.
    Atomic,
    /// A set of scalars.
    Set,
    /// A map keyed by these JSON names.
    Map(&'static [&'static str]),
    /// A map or message whose members are merged, even if its type is atomic.
    Granular,
}

impl Schema {
    /// Makes the message one value to server-side apply.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.atomic = true;
        self
    }

    /// Returns the numbers of the protobuf groups around a field, outermost first; none if the
    /// message has no such field.
    pub(super) fn groups_of(&self, index: usize) -> Option<Vec<u32>> {
        groups_of(self.order, index)
    }

    /// Returns the index of the field with this JSON name. `hint` is tried first, because encoders
    /// mostly write fields in order.
    pub fn index_by_name(&self, name: &str, hint: usize) -> Option<usize> {
        if let Some(field) = self.fields.get(hint)
            && field.json == name
            && !field.flags.has(FieldFlags::PROTOBUF_ONLY)
        {
            return Some(hint);
        }
        self.index_of(name.as_bytes())
    }

    /// Reports whether messages keep unknown members.
    pub(super) fn keeps_others(&self) -> bool {
        let last = self.fields.last();
        last.is_some_and(|it| it.flags.has(FieldFlags::PROTOBUF_ONLY))
    }

    /// Returns the field with this JSON name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.index_by_name(name, 0).map(|index| &self.fields[index])
    }

    /// Returns the number of an entry of `order`.
    #[inline]
    pub(super) fn number(&self, entry: Entry) -> u32 {
        match entry {
            Entry::Field(index) => self.fields[usize::from(index)].number,
            Entry::Group { number, .. } => number,
        }
    }
}

fn groups_of(order: &[Entry], index: usize) -> Option<Vec<u32>> {
    order.iter().find_map(|entry| match *entry {
        Entry::Field(field) => (usize::from(field) == index).then(Vec::new),
        Entry::Group { number, entries } => {
            let mut inner = groups_of(entries, index)?;
            inner.insert(0, number);
            Some(inner)
        }
    })
}
