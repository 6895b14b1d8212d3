//! `Debug` for generated types: the non-empty fields by their JSON names.

use super::{Message, MessageList, MessageMap, View};
use std::fmt;

/// Writes the non-empty fields of a message.
pub fn debug_message(message: &dyn Message, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let schema = message.schema();
    let mut out = f.debug_struct(schema.name);
    for (index, field) in schema.fields.iter().enumerate() {
        if let Some(view) = message.view(index)
            && !super::json_encode::is_zero(view)
        {
            out.field(field.json, &Shown(view));
        }
    }
    out.finish()
}

struct Shown<'a>(View<'a>);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            View::Message(message) | View::OptMessage(Some(message)) => fmt::Debug::fmt(message, f),
            View::Serde(field) => fmt::Debug::fmt(field, f),
            View::MessageList(list) => {
                let items = (0..MessageList::len(list)).filter_map(|index| list.at(index));
                f.debug_list().entries(items).finish()
            }
            View::MessageMap(map) => f.debug_map().entries(MessageMap::entries(map)).finish(),
            View::Str(text) | View::OptStr(Some(text)) => fmt::Debug::fmt(text, f),
            View::Bool(value) | View::OptBool(Some(value)) => fmt::Debug::fmt(&value, f),
            View::I32(value) | View::OptI32(Some(value)) => fmt::Debug::fmt(&value, f),
            View::I64(value) | View::OptI64(Some(value)) => fmt::Debug::fmt(&value, f),
            View::F64(value) | View::OptF64(Some(value)) => fmt::Debug::fmt(&value, f),
            View::StrList(list) => fmt::Debug::fmt(list, f),
            View::StrMap(map) => fmt::Debug::fmt(map, f),
            // Bytes may be secret and are rarely readable, so only their length is shown.
            View::Bytes(bytes) | View::OptBytes(Some(bytes)) => {
                write!(f, "{} bytes", bytes.len())
            }
            view => fmt::Debug::fmt(&view, f),
        }
    }
}
