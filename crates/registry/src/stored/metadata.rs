//! The metadata of a stored object alone, as protobuf: a slice of the stored bytes if possible,
//! else by decoding.

use super::Stored;
use crate::stored::scheme::StoredKind;
use crate::stored::version::{VersionPlace, first_field};
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::wire::to_protobuf;
use kubist_apimachinery::{ObjectMeta, Status};
use std::borrow::Cow;

impl Stored {
    /// Returns the metadata. Annotations that stand for fields of upstream's internal form of the
    /// kind are omitted.
    pub fn metadata(&self) -> Result<Cow<'_, ObjectMeta>, Status> {
        let metadata = self.object()?.meta();
        let of_fields = self.annotations_of_fields();
        if !of_fields
            .iter()
            .any(|it| metadata.annotations.contains_key(*it))
        {
            return Ok(Cow::Borrowed(metadata));
        }
        let mut metadata = metadata.clone();
        metadata
            .annotations
            .retain(|name, _| !of_fields.contains(&&**name));
        Ok(Cow::Owned(metadata))
    }

    fn annotations_of_fields(&self) -> &'static [&'static str] {
        let StoredKind { kind, scheme } = self.0.kind;
        (scheme.field_annotations)(kind)
    }

    /// Appends its bare protobuf message of a `PartialObjectMetadata`.
    pub fn push_metadata_protobuf(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some((metadata, place)) = self.metadata_as_stored() {
            place.fill(metadata, self.0.revision, out);
            return Ok(());
        }
        let metadata = self.metadata()?.into_owned();
        out.extend_from_slice(&to_protobuf(&PartialObjectMetadata { metadata }));
        Ok(())
    }

    /// Returns the number of bytes that [`push_metadata_protobuf`](Self::push_metadata_protobuf)
    /// appends.
    pub fn metadata_protobuf_length(&self) -> Result<usize, Status> {
        if let Some((metadata, place)) = self.metadata_as_stored() {
            return Ok(place.filled_length(metadata.len(), self.0.revision));
        }
        let mut out = Vec::new();
        self.push_metadata_protobuf(&mut out)?;
        Ok(out.len())
    }

    /// Returns the metadata as a message of its own, and the position of its version.
    fn metadata_as_stored(&self) -> Option<(&[u8], VersionPlace)> {
        let raw = self.0.raw.get()?;
        let place = self.0.place.or_else(|| VersionPlace::of(raw))?;
        let metadata = first_field(raw)?;
        let has = |name: &&str| metadata.windows(name.len()).any(|it| it == name.as_bytes());
        if self.annotations_of_fields().iter().any(has) {
            return None;
        }
        Some((metadata, place))
    }
}
