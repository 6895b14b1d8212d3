//! `heap_size`: estimates the heap memory of a message.
//!
//! It walks the views of the fields without decoding or copying. It is an estimate for budgets:
//! each string counts in full even if several messages share it; allocator rounding, spare capacity
//! of lists and the text in scalars (quantities) do not count.

use super::{Message, ProjectionFields, View};
use crate::{ByteString, Str};
use std::mem::{size_of, size_of_val};

/// The approximate overhead of a map entry.
const ENTRY: usize = 16;

/// Returns the approximate number of heap bytes of a message, without its own struct.
pub fn heap_size(message: &dyn Message) -> usize {
    let fields = 0..message.schema().fields.len();
    let views = fields.filter_map(|index| message.view(index));
    views.map(|view| of_view(&view)).sum()
}

/// Same as [`heap_size`], for a projection.
pub fn projected_heap_size(projection: &dyn ProjectionFields) -> usize {
    let views = (0..).map_while(|index| projection.view(index));
    views.map(|view| of_view(&view)).sum()
}

fn of_view(view: &View<'_>) -> usize {
    match view {
        View::Bool(_)
        | View::I32(_)
        | View::I64(_)
        | View::F64(_)
        | View::OptBool(_)
        | View::OptI32(_)
        | View::OptI64(_)
        | View::OptF64(_) => 0,
        View::Str(text) => text.heap_size(),
        View::OptStr(text) => text.map_or(0, Str::heap_size),
        View::Bytes(bytes) => bytes.len(),
        View::OptBytes(bytes) => bytes.map_or(0, |it| it.len()),
        // It is stored inline in the struct.
        View::Message(message) => heap_size(*message),
        // Its JSON is about as large.
        View::Serde(field) => field.to_raw().map_or(0, |raw| raw.get().len()),
        View::OptMessage(message) => message.map_or(0, boxed),
        View::StrList(list) => size_of_val(*list) + list.iter().map(Str::heap_size).sum::<usize>(),
        View::BoolList(list) => size_of_val(*list),
        View::I32List(list) => size_of_val(*list),
        View::I64List(list) => size_of_val(*list),
        View::BytesList(list) => size_of_val(*list) + list.iter().map(|it| it.len()).sum::<usize>(),
        View::MessageList(list) => {
            let items = (0..list.len()).filter_map(|index| list.at(index));
            items.map(boxed).sum()
        }
        View::StrMap(map) => {
            let texts = map
                .iter()
                .map(|(key, value)| key.heap_size() + value.heap_size());
            texts.sum::<usize>() + map.len() * (2 * size_of::<Str>() + ENTRY)
        }
        View::BytesMap(map) => {
            let texts = map.iter().map(|(key, value)| key.heap_size() + value.len());
            texts.sum::<usize>() + map.len() * (size_of::<Str>() + size_of::<ByteString>() + ENTRY)
        }
        View::MessageMap(map) => {
            let entries = map.entries();
            let entry =
                |(key, value): (&Str, _)| key.heap_size() + size_of::<Str>() + ENTRY + boxed(value);
            entries.map(entry).sum()
        }
    }
}

/// The struct itself is on the heap.
fn boxed(message: &dyn Message) -> usize {
    size_of_val(message) + heap_size(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectMeta, OwnerReference};

    #[test]
    fn it_counts_strings_maps_and_message_lists_and_nothing_for_empty_fields() {
        assert_eq!(heap_size(&ObjectMeta::default()), 0);
        let named = |name: &str| ObjectMeta {
            name: name.into(),
            ..ObjectMeta::default()
        };
        assert_eq!(heap_size(&named("web")), 0, "short strings are in place");
        let name = "a-name-that-needs-an-allocation";
        let long = 8 + name.len();
        assert_eq!(heap_size(&named(name)), long);
        let mut meta = named(name);
        meta.labels = [(name.into(), "shop".into())].into();
        let label = long + 2 * size_of::<Str>() + ENTRY;
        assert_eq!(heap_size(&meta), long + label);
        meta.finalizers = vec!["a".into(), name.into()];
        let finalizers = 2 * size_of::<Str>() + long;
        let owner = OwnerReference {
            uid: name.into(),
            ..OwnerReference::default()
        };
        meta.owner_references = vec![owner];
        let owners = size_of::<OwnerReference>() + long;
        let all = long + label + finalizers + owners;
        assert_eq!(heap_size(&meta), all);
    }
}
