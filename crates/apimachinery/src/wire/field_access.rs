//! `Slot` and `View`: uniform access to fields, to write and to read.
//!
//! The engine does not know the structs; each Rust type of a field implements [`FieldAccess`].

use super::protobuf_encode::{
    prepend_double, prepend_int, prepend_list, prepend_map, prepend_nested,
};
use super::{Field, FieldFlags, Message, ReverseWriter, SerdeField, prepend_view};
use crate::{ByteString, Str};
use std::collections::BTreeMap;

/// Write access to a field.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "the engine must handle each type")]
#[expect(missing_docs, reason = "each variant is the Rust type that it holds")]
pub enum Slot<'a> {
    Bool(&'a mut bool),
    I32(&'a mut i32),
    I64(&'a mut i64),
    F64(&'a mut f64),
    Str(&'a mut Str),
    Bytes(&'a mut ByteString),
    OptBool(&'a mut Option<bool>),
    OptI32(&'a mut Option<i32>),
    OptI64(&'a mut Option<i64>),
    OptF64(&'a mut Option<f64>),
    OptStr(&'a mut Option<Str>),
    OptBytes(&'a mut Option<ByteString>),
    Message(&'a mut dyn Message),
    OptMessage(&'a mut dyn OptMessage),
    StrList(&'a mut Vec<Str>),
    BoolList(&'a mut Vec<bool>),
    I32List(&'a mut Vec<i32>),
    I64List(&'a mut Vec<i64>),
    BytesList(&'a mut Vec<ByteString>),
    MessageList(&'a mut dyn MessageList),
    StrMap(&'a mut BTreeMap<Str, Str>),
    BytesMap(&'a mut BTreeMap<Str, ByteString>),
    MessageMap(&'a mut dyn MessageMap),
    Serde(&'a mut dyn SerdeField),
}

/// Read access to a field.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the engine must handle each type")]
#[expect(missing_docs, reason = "each variant is the Rust type that it holds")]
pub enum View<'a> {
    Bool(bool),
    I32(i32),
    I64(i64),
    F64(f64),
    Str(&'a Str),
    Bytes(&'a ByteString),
    OptBool(Option<bool>),
    OptI32(Option<i32>),
    OptI64(Option<i64>),
    OptF64(Option<f64>),
    OptStr(Option<&'a Str>),
    OptBytes(Option<&'a ByteString>),
    Message(&'a dyn Message),
    OptMessage(Option<&'a dyn Message>),
    StrList(&'a [Str]),
    BoolList(&'a [bool]),
    I32List(&'a [i32]),
    I64List(&'a [i64]),
    BytesList(&'a [ByteString]),
    MessageList(&'a dyn MessageList),
    StrMap(&'a BTreeMap<Str, Str>),
    BytesMap(&'a BTreeMap<Str, ByteString>),
    MessageMap(&'a dyn MessageMap),
    Serde(&'a dyn SerdeField),
}

/// The Rust type of a field.
pub trait FieldAccess {
    /// Returns write access.
    fn slot(&mut self) -> Slot<'_>;
    /// Returns read access.
    fn view(&self) -> View<'_>;
    /// Prepends the field as protobuf: the same bytes as [`prepend_view`] of its view.
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        prepend_view(field, Some(self.view()), out);
    }
}

/// An optional message.
pub trait OptMessage: std::fmt::Debug {
    /// Returns the message, if present.
    fn get(&self) -> Option<&dyn Message>;
    /// Returns the message; creates the default if it is absent.
    fn get_or_default(&mut self) -> &mut dyn Message;
    /// Removes the message.
    fn clear(&mut self);
}

/// A list of messages.
pub trait MessageList: std::fmt::Debug {
    /// Returns the number of items.
    fn len(&self) -> usize;
    /// Reports whether it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the item at `index`.
    fn at(&self, index: usize) -> Option<&dyn Message>;
    /// Returns the item at `index` for changes.
    fn at_mut(&mut self, index: usize) -> Option<&mut dyn Message>;
    /// Appends a default item and returns it.
    fn push_default(&mut self) -> &mut dyn Message;
    /// Reserves room for exactly `count` more.
    fn reserve_exact(&mut self, count: usize);
    /// Releases unused capacity.
    fn shrink(&mut self);
    /// Removes all.
    fn clear(&mut self);
}

/// A map from strings to messages.
pub trait MessageMap: std::fmt::Debug {
    /// Returns the number of entries.
    fn len(&self) -> usize;
    /// Reports whether it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the value of `key`; creates the default if it is absent.
    fn entry(&mut self, key: Str) -> &mut dyn Message;
    /// Reports whether the key exists.
    fn contains(&self, key: &str) -> bool;
    /// Iterates over the entries in key order.
    fn entries(&self) -> Box<dyn DoubleEndedIterator<Item = (&Str, &dyn Message)> + '_>;
    /// Iterates over the values for changes.
    fn values_mut(&mut self) -> Box<dyn Iterator<Item = &mut dyn Message> + '_>;
    /// Removes all.
    fn clear(&mut self);
}

macro_rules! scalar {
    ($($type:ty => $slot:ident, $opt:ident, $prepend:ident);* $(;)?) => {$(
        impl FieldAccess for $type {
            fn slot(&mut self) -> Slot<'_> {
                Slot::$slot(self)
            }
            fn view(&self) -> View<'_> {
                View::$slot(*self)
            }
            fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
                $prepend(field.number, (*self).into(), out);
            }
        }
        impl FieldAccess for Option<$type> {
            fn slot(&mut self) -> Slot<'_> {
                Slot::$opt(self)
            }
            fn view(&self) -> View<'_> {
                View::$opt(*self)
            }
            fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
                if let Some(value) = self {
                    value.prepend(field, out);
                }
            }
        }
    )*};
}

scalar! {
    bool => Bool, OptBool, prepend_int;
    i32 => I32, OptI32, prepend_int;
    i64 => I64, OptI64, prepend_int;
    f64 => F64, OptF64, prepend_double;
}

macro_rules! by_reference {
    ($($type:ty => $slot:ident),* $(,)?) => {$(
        impl FieldAccess for $type {
            fn slot(&mut self) -> Slot<'_> {
                Slot::$slot(self)
            }
            fn view(&self) -> View<'_> {
                View::$slot(self)
            }
        }
    )*};
}

by_reference! {
    ByteString => Bytes,
    Vec<Str> => StrList,
    Vec<bool> => BoolList,
    Vec<i32> => I32List,
    Vec<i64> => I64List,
    Vec<ByteString> => BytesList,
    BTreeMap<Str, ByteString> => BytesMap,
}

impl FieldAccess for Str {
    fn slot(&mut self) -> Slot<'_> {
        Slot::Str(self)
    }
    fn view(&self) -> View<'_> {
        View::Str(self)
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        out.prepend_delimited(field.number, self.as_bytes());
    }
}

impl FieldAccess for Option<Str> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::OptStr(self)
    }
    fn view(&self) -> View<'_> {
        View::OptStr(self.as_ref())
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        if let Some(text) = self {
            out.prepend_delimited(field.number, text.as_bytes());
        }
    }
}

impl FieldAccess for BTreeMap<Str, Str> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::StrMap(self)
    }
    fn view(&self) -> View<'_> {
        View::StrMap(self)
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        prepend_map(field.number, self, out);
    }
}

impl FieldAccess for Option<ByteString> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::OptBytes(self)
    }
    fn view(&self) -> View<'_> {
        View::OptBytes(self.as_ref())
    }
}

impl<T: Message> FieldAccess for T {
    fn slot(&mut self) -> Slot<'_> {
        Slot::Message(self.as_message_mut())
    }
    fn view(&self) -> View<'_> {
        View::Message(self.as_message())
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        prepend_nested(field.number, self.as_message(), out);
    }
}

impl<T: Message + Default> OptMessage for Option<T> {
    fn get(&self) -> Option<&dyn Message> {
        self.as_ref().map(Message::as_message)
    }
    fn get_or_default(&mut self) -> &mut dyn Message {
        self.get_or_insert_default().as_message_mut()
    }
    fn clear(&mut self) {
        *self = None;
    }
}

impl<T: Message + Default> FieldAccess for Option<T> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::OptMessage(self)
    }
    fn view(&self) -> View<'_> {
        View::OptMessage(self.as_ref().map(Message::as_message))
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        if let Some(message) = self {
            prepend_nested(field.number, message.as_message(), out);
        } else if !field.flags.has(FieldFlags::POINTER) {
            // A zero Go value (`metav1.Time`) is an empty message.
            out.prepend_delimited(field.number, &[]);
        }
    }
}

impl<T: Message + Default> MessageList for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }
    fn at(&self, index: usize) -> Option<&dyn Message> {
        self.get(index).map(Message::as_message)
    }
    fn at_mut(&mut self, index: usize) -> Option<&mut dyn Message> {
        self.get_mut(index).map(Message::as_message_mut)
    }
    fn push_default(&mut self) -> &mut dyn Message {
        let index = self.len();
        self.push(T::default());
        self[index].as_message_mut()
    }
    fn reserve_exact(&mut self, count: usize) {
        self.reserve_exact(count);
    }
    fn shrink(&mut self) {
        self.shrink_to_fit();
    }
    fn clear(&mut self) {
        self.clear();
    }
}

impl<T: Message + Default> FieldAccess for Vec<T> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::MessageList(self)
    }
    fn view(&self) -> View<'_> {
        View::MessageList(self)
    }
    fn prepend(&self, field: &Field, out: &mut ReverseWriter) {
        if !self.is_empty() {
            prepend_list(field.number, self, out);
        }
    }
}

impl<T: Message + Default> MessageMap for BTreeMap<Str, T> {
    fn len(&self) -> usize {
        self.len()
    }
    fn entry(&mut self, key: Str) -> &mut dyn Message {
        self.entry(key).or_default().as_message_mut()
    }
    fn contains(&self, key: &str) -> bool {
        self.contains_key(key)
    }
    fn entries(&self) -> Box<dyn DoubleEndedIterator<Item = (&Str, &dyn Message)> + '_> {
        Box::new(
            self.iter()
                .map(|(key, message)| (key, message.as_message())),
        )
    }
    fn values_mut(&mut self) -> Box<dyn Iterator<Item = &mut dyn Message> + '_> {
        Box::new(self.values_mut().map(Message::as_message_mut))
    }
    fn clear(&mut self) {
        self.clear();
    }
}

impl<T: Message + Default> FieldAccess for BTreeMap<Str, T> {
    fn slot(&mut self) -> Slot<'_> {
        Slot::MessageMap(self)
    }
    fn view(&self) -> View<'_> {
        View::MessageMap(self)
    }
}
