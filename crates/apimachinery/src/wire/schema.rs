//! The facts of a message: its fields, their numbers, types, and how patches merge them.
//!
//! Schemas are statics, made by codegen (or by hand for the few types of this crate).

/// Everything that is known of one message type.
#[derive(Debug)]
pub struct Schema {
    /// The type's name in Go, without package (`PodSpec`); error texts use it.
    pub name: &'static str,
    /// The full name in the style of the published OpenAPI (`io.k8s.api.core.v1.PodSpec`).
    pub full_name: &'static str,
    /// Set for kinds: what `apiVersion` and `kind` say.
    pub kind: Option<KindFacts>,
    /// What the message looks like in JSON.
    pub form: JsonForm,
    /// The fields in the order of the Go struct, which is the order of JSON output.
    pub fields: &'static [Field],
    /// Indexes of `fields` sorted by JSON name.
    pub by_name: &'static [u16],
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

/// How a message stands in JSON.
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
    /// The protobuf number (inside its group, if it is in one).
    pub number: u32,
    /// The type.
    pub ty: FieldType,
    /// Presence rules.
    pub flags: FieldFlags,
    /// How a strategic merge patch treats a list (or map) here.
    pub merge: Merge,
    /// How server-side apply treats a list here.
    pub list: ListType,
}

impl Field {
    /// A field without merge facts.
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

    /// With merge facts.
    #[must_use]
    pub const fn with_merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    /// With a list type.
    #[must_use]
    pub const fn with_list(mut self, list: ListType) -> Self {
        self.list = list;
        self
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
    /// The schema of the message, the items or the values; none for scalars.
    pub fn schema(&self) -> Option<&'static Schema> {
        match self {
            Self::Message(schema) | Self::MessageList(schema) | Self::MessageMap(schema) => {
                Some(schema)
            }
            _ => None,
        }
    }
}

/// Presence rules of a field, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldFlags(u8);

impl FieldFlags {
    /// None of them: a Go value that JSON always writes.
    pub const NONE: Self = Self(0);
    /// JSON leaves it out when it is Go's zero value (`omitempty`; never applies to struct values).
    pub const OMIT_EMPTY: Self = Self(1);
    /// JSON leaves it out when the whole struct is zero (`omitzero`).
    pub const OMIT_ZERO: Self = Self(2);
    /// A Go pointer: written to protobuf only when set.
    pub const POINTER: Self = Self(4);
    /// Required by the published schema.
    pub const REQUIRED: Self = Self(8);
    /// Not in protobuf at all (a nested kind's own `kind` and `apiVersion`, say).
    pub const JSON_ONLY: Self = Self(16);
    /// Not in JSON as a field: what other fields a kind has that is made known at run time.
    pub const PROTOBUF_ONLY: Self = Self(32);

    /// Both.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are set.
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
    /// A message of its own in protobuf whose fields are inline in JSON and in the struct
    /// (`VolumeSource` in `Volume`).
    Group {
        /// Its protobuf number.
        number: u32,
        /// Its own entries, by their number.
        entries: &'static [Self],
    },
}

/// Strategic merge facts (`patchStrategy` and `patchMergeKey`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// Lists merge (by `key`, or as sets of scalars) instead of being replaced.
    pub merge: bool,
    /// `retainKeys`: only the keys named by the patch's `$retainKeys` stay.
    pub retain_keys: bool,
    /// `replace` is stated explicitly.
    pub replace: bool,
    /// The key that identifies an item; empty for scalars.
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
    /// Replaced as one.
    Atomic,
    /// A set of scalars.
    Set,
    /// A map keyed by these JSON names.
    Map(&'static [&'static str]),
}

impl Schema {
    /// Returns the numbers of the protobuf groups around a field, outermost first; none if the
    /// message has no such field.
    pub(super) fn groups_of(&self, index: usize) -> Option<Vec<u32>> {
        groups_of(self.order, index)
    }

    /// The index of the field with this JSON name. `hint` is tried first: output of any
    /// encoder mostly names fields in order.
    pub fn index_by_name(&self, name: &str, hint: usize) -> Option<usize> {
        if let Some(field) = self.fields.get(hint)
            && field.json == name
            && !field.flags.has(FieldFlags::PROTOBUF_ONLY)
        {
            return Some(hint);
        }
        self.by_name
            .binary_search_by(|&index| self.fields[usize::from(index)].json.cmp(name))
            .ok()
            .map(|position| usize::from(self.by_name[position]))
    }

    /// Whether messages keep fields that the schema does not know.
    pub(super) fn keeps_others(&self) -> bool {
        let last = self.fields.last();
        last.is_some_and(|it| it.flags.has(FieldFlags::PROTOBUF_ONLY))
    }

    /// The field with this JSON name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.index_by_name(name, 0).map(|index| &self.fields[index])
    }

    /// The number of an entry of `order`.
    pub(super) fn number(&self, entry: Entry) -> u32 {
        match entry {
            Entry::Field(index) => self.fields[usize::from(index)].number,
            Entry::Group { number, .. } => number,
        }
    }

    /// The entry of `order` with a protobuf number; `hint` is its likely position.
    pub(super) fn entry(
        &self,
        order: &'static [Entry],
        number: u32,
        hint: usize,
    ) -> Option<(usize, Entry)> {
        for position in [hint, hint + 1] {
            if let Some(&entry) = order.get(position)
                && self.number(entry) == number
            {
                return Some((position, entry));
            }
        }
        let position = order
            .binary_search_by_key(&number, |&entry| self.number(entry))
            .ok()?;
        Some((position, order[position]))
    }
}

/// Indexes of `fields` sorted by JSON name, for schemas written by hand.
pub const fn order_by_name<const N: usize>(fields: &[Field; N]) -> [u16; N] {
    let mut order = identity();
    let mut i = 1;
    while i < N {
        let mut j = i;
        while j > 0
            && less(
                fields[order[j] as usize].json,
                fields[order[j - 1] as usize].json,
            )
        {
            let swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
            j -= 1;
        }
        i += 1;
    }
    order
}

/// The protobuf order of `fields`, for schemas written by hand.
pub const fn order_by_number<const N: usize>(fields: &[Field; N]) -> [Entry; N] {
    let mut order: [u16; N] = identity();
    let mut i = 1;
    while i < N {
        let mut j = i;
        while j > 0 && fields[order[j] as usize].number < fields[order[j - 1] as usize].number {
            let swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
            j -= 1;
        }
        i += 1;
    }
    let mut entries = [Entry::Field(0); N];
    let mut i = 0;
    while i < N {
        entries[i] = Entry::Field(order[i]);
        i += 1;
    }
    entries
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no message has 65,536 fields"
)]
const fn identity<const N: usize>() -> [u16; N] {
    let mut order = [0u16; N];
    let mut i = 0;
    while i < N {
        order[i] = i as u16;
        i += 1;
    }
    order
}

const fn less(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut i = 0;
    while i < left.len() && i < right.len() {
        if left[i] != right[i] {
            return left[i] < right[i];
        }
        i += 1;
    }
    left.len() < right.len()
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

/// A schema static from its fields, for types written by hand: orders are computed at compile
/// time.
#[macro_export]
macro_rules! schema {
    ($vis:vis $name:ident = $go:literal, $full:literal, $form:expr, $kind:expr, [$($field:expr),* $(,)?]) => {
        #[doc = concat!("The schema of `", $go, "`.")]
        $vis static $name: $crate::wire::Schema = {
            const N: usize = [$(stringify!($field)),*].len();
            static FIELDS: [$crate::wire::Field; N] = [$($field),*];
            static BY_NAME: [u16; N] = $crate::wire::order_by_name(&FIELDS);
            static ORDER: [$crate::wire::Entry; N] = $crate::wire::order_by_number(&FIELDS);
            $crate::wire::Schema {
                name: $go,
                full_name: $full,
                kind: $kind,
                form: $form,
                fields: &FIELDS,
                by_name: &BY_NAME,
                order: &ORDER,
            }
        };
    };
}
