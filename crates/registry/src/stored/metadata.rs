//! The metadata of a stored object alone, as protobuf: a slice of what is stored where that can be,
//! else by decoding it.

use super::Stored;
use crate::internal_metadata::fields_in_annotations;
use crate::object_version::{VersionPlace, first_field};
use kubist_api::meta::v1::PartialObjectMetadata;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::to_protobuf;

impl Stored {
    /// Appends the bare protobuf message of a `PartialObjectMetadata` of it.
    pub fn push_metadata_protobuf(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some((metadata, place)) = self.metadata_as_stored() {
            place.fill(metadata, self.0.revision, out);
            return Ok(());
        }
        let metadata = self.metadata_alone()?;
        out.extend_from_slice(&to_protobuf(&PartialObjectMetadata { metadata }));
        Ok(())
    }

    /// How many bytes [`push_metadata_protobuf`](Self::push_metadata_protobuf) appends.
    pub fn metadata_protobuf_length(&self) -> Result<usize, Status> {
        if let Some((metadata, place)) = self.metadata_as_stored() {
            return Ok(place.filled_length(metadata.len(), self.0.revision));
        }
        let mut out = Vec::new();
        self.push_metadata_protobuf(&mut out)?;
        Ok(out.len())
    }

    /// The metadata as a message that has only that, and where its version goes.
    fn metadata_as_stored(&self) -> Option<(&[u8], VersionPlace)> {
        if !fields_in_annotations(self.kind()).is_empty() {
            return None;
        }
        let raw = self.0.raw.get()?;
        let place = self.0.place.or_else(|| VersionPlace::of(raw))?;
        Some((first_field(raw)?, place))
    }
}
