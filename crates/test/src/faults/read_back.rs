//! Names and versions in answers, without decoding the objects.

use bytes::Bytes;
use kubist::apimachinery::wire::{Encoding, scan};
use kubist::apimachinery::{ObjectName, Str};
use kubist::codec::envelope::Envelope;
use kubist::codec::list_stream::ListStream;

/// Returns the name and the resource version of an encoded object.
pub(super) fn in_object(bytes: &[u8], encoding: Encoding) -> Option<(ObjectName, u64)> {
    let version = scan::version_in(bytes, encoding)?.to_u64()?;
    // Bookmarks have no name.
    Some((scan::name_in(bytes, encoding).unwrap_or_default(), version))
}

/// The same for an answer, which has an envelope if it is protobuf. None for a status.
pub(super) fn object(bytes: &[u8], encoding: Encoding) -> Option<(ObjectName, u64)> {
    if encoding != Encoding::Protobuf {
        return in_object(bytes, encoding);
    }
    let envelope = Envelope::open(bytes).ok()?;
    if envelope.kind == "Status" {
        return None;
    }
    in_object(envelope.raw, encoding)
}

/// Names and resource versions.
pub(super) type Items = Vec<(ObjectName, u64)>;

/// Returns the items of a list, and its own version. None if it is malformed.
pub(super) fn list(bytes: Bytes, encoding: Encoding) -> Option<(Items, Str)> {
    let mut list = ListStream::new(encoding);
    list.push(bytes);
    let mut items = Vec::new();
    while let Some(item) = list.next_item().ok()? {
        items.extend(in_object(&item, encoding));
    }
    let facts = list.finish().ok()?;
    Some((items, facts.metadata.resource_version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_versions_are_read_from_lists() {
        let text = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},
            "items":[{"metadata":{"name":"a","namespace":"n","resourceVersion":"7"}}]}"#;
        let (items, version) = list(Bytes::from_static(text.as_bytes()), Encoding::Json).unwrap();
        assert_eq!(items, [(ObjectName::new("n", "a"), 7)]);
        assert_eq!(version, "9");
    }
}
