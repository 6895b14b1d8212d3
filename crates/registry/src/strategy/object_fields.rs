//! Access to object fields by name, without static types.
//!
//! Reads a text field by path, for field selectors; and combines the fields of two objects, for
//! kinds whose strategy has no typed code for that. The latter works on the protobuf form, in which
//! top-level fields can be exchanged without decoding them.

use kubist_api::Kind;
use kubist_apimachinery::AnyObject;
use kubist_apimachinery::wire::{
    DecodeContext, JsonScalar, Message, Schema, View, WireError, merge_protobuf, skip_field,
    to_protobuf, varint,
};
use std::borrow::Cow;

/// Returns the text of the field at a dotted path of JSON names; empty if the field is missing or
/// not a scalar.
pub fn text_at<'a>(object: &'a dyn AnyObject, path: &str) -> Cow<'a, str> {
    let mut message: &dyn Message = object;
    let mut names = path.split('.').peekable();
    while let Some(name) = names.next() {
        let Some(index) = message.schema().index_by_name(name, 0) else {
            return Cow::Borrowed("");
        };
        let Some(view) = message.view(index) else {
            return Cow::Borrowed("");
        };
        if names.peek().is_none() {
            return text_of(view);
        }
        message = match view {
            View::Message(inner) | View::OptMessage(Some(inner)) => inner,
            _ => return Cow::Borrowed(""),
        };
    }
    Cow::Borrowed("")
}

fn text_of(view: View<'_>) -> Cow<'_, str> {
    match view {
        View::Str(text) | View::OptStr(Some(text)) => Cow::Borrowed(text),
        View::Bool(value) | View::OptBool(Some(value)) => Cow::Owned(value.to_string()),
        View::I32(value) | View::OptI32(Some(value)) => Cow::Owned(value.to_string()),
        View::I64(value) | View::OptI64(Some(value)) => Cow::Owned(value.to_string()),
        View::Message(message) | View::OptMessage(Some(message)) => match message.scalar() {
            JsonScalar::Str(text) => text,
            JsonScalar::Int(value) => Cow::Owned(value.to_string()),
            _ => Cow::Borrowed(""),
        },
        _ => Cow::Borrowed(""),
    }
}

/// Returns the number of a top-level field, if the kind has it.
pub(crate) fn number_of(schema: &Schema, name: &str) -> Option<u32> {
    schema.field(name).map(|field| field.number)
}

/// Returns an object with the fields for which `from_other` holds from `other`, and the rest from
/// `object`. Both are of `kind`.
pub(crate) fn splice(
    kind: &Kind,
    object: &dyn AnyObject,
    other: &dyn AnyObject,
    from_other: impl Fn(u32) -> bool,
) -> Result<Box<dyn AnyObject>, WireError> {
    let mut mixed = Vec::new();
    pick(&to_protobuf(object), &mut mixed, |number| {
        !from_other(number)
    });
    pick(&to_protobuf(other), &mut mixed, from_other);
    decode(kind, &mixed)
}

/// Returns an object without the fields for which `drop` holds.
pub(crate) fn without(
    kind: &Kind,
    object: &dyn AnyObject,
    drop: impl Fn(u32) -> bool,
) -> Result<Box<dyn AnyObject>, WireError> {
    let mut kept = Vec::new();
    pick(&to_protobuf(object), &mut kept, |number| !drop(number));
    decode(kind, &kept)
}

/// Reports whether two objects of one kind are equal in all top-level fields for which `compared`
/// holds.
pub(crate) fn equal_in(
    object: &dyn AnyObject,
    other: &dyn AnyObject,
    compared: impl Fn(u32) -> bool,
) -> bool {
    let (mut one, mut two) = (Vec::new(), Vec::new());
    pick(&to_protobuf(object), &mut one, &compared);
    pick(&to_protobuf(other), &mut two, &compared);
    one == two
}

fn decode(kind: &Kind, bytes: &[u8]) -> Result<Box<dyn AnyObject>, WireError> {
    let mut object = kind
        .new_object()
        .expect("only kinds with metadata are in a registry");
    merge_protobuf(&mut *object, bytes, &mut DecodeContext::new())?;
    Ok(object)
}

/// Appends the top-level fields whose number is wanted. Stops at malformed input, which the
/// project's own encoder never produces.
fn pick(mut bytes: &[u8], out: &mut Vec<u8>, wanted: impl Fn(u32) -> bool) {
    while !bytes.is_empty() {
        let Ok((tag, rest)) = varint(bytes) else {
            return;
        };
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        let Ok(rest) = skip_field(number, (tag & 7) as u8, rest) else {
            return;
        };
        if wanted(number) {
            out.extend_from_slice(&bytes[..bytes.len() - rest.len()]);
        }
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_api::core::v1::Pod;
    use kubist_apimachinery::ObjectMeta;

    fn pod(name: &str, node: &str, phase: &str) -> Pod {
        let mut pod = Pod {
            metadata: ObjectMeta {
                name: name.into(),
                ..ObjectMeta::default()
            },
            ..Pod::default()
        };
        pod.spec.node_name = node.into();
        pod.status.phase = phase.into();
        pod
    }

    #[test]
    fn texts_are_found_by_path() {
        let pod = pod("p", "n", "Running");
        assert_eq!(text_at(&pod, "metadata.name"), "p");
        assert_eq!(text_at(&pod, "spec.nodeName"), "n");
        assert_eq!(text_at(&pod, "status.phase"), "Running");
        assert_eq!(text_at(&pod, "spec.hostNetwork"), "false");
        for nothing in [
            "",
            "spec",
            "spec.none",
            "spec.containers",
            "spec.nodeName.x",
        ] {
            assert_eq!(text_at(&pod, nothing), "", "{nothing}");
        }
    }

    #[test]
    fn an_object_is_put_together_from_two() {
        let kind = kubist_api::find_kind("", "v1", "Pod").expect("pods are built in");
        let (one, two) = (pod("p", "n", "Running"), pod("q", "m", "Failed"));
        let status = number_of(kind.schema(), "status").expect("pods have a status");
        let mixed = splice(kind, &one, &two, |number| number == status).expect("both are valid");
        assert!(mixed.equals(&pod("p", "n", "Failed")));
        let bare = without(kind, &one, |number| number == status).expect("it is valid");
        assert!(bare.equals(&pod("p", "n", "")));
        assert!(equal_in(&one, &*bare, |number| number != status));
        assert!(!equal_in(&one, &two, |number| number != status));
    }
}
