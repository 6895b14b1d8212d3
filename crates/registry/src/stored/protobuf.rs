//! Protobuf encodings of [`Stored`].

use crate::stored::Stored;
use crate::stored::version::VersionPlace;
use bytes::Bytes;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::to_protobuf;

impl Stored {
    /// Returns the bare protobuf message (no envelope), with its resource version.
    pub fn protobuf(&self) -> Result<&Bytes, Status> {
        self.forms()
            .protobuf
            .get_or_init(|| {
                let mut out = Vec::new();
                self.push_protobuf(&mut out)?;
                Ok(out.into())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Appends the result of [`protobuf`](Self::protobuf) without caching it: for lists, which are
    /// written once.
    pub fn push_protobuf(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        if let Some(bytes) = self.cached_protobuf() {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if let Some(raw) = self.0.raw.get()
            && let Some(place) = self.0.place.or_else(|| VersionPlace::of(raw))
        {
            place.fill(raw, self.0.revision, out);
            return Ok(());
        }
        out.extend_from_slice(&to_protobuf(&**self.object()?));
        Ok(())
    }

    /// Returns the number of bytes that [`push_protobuf`](Self::push_protobuf) appends.
    pub fn protobuf_length(&self) -> Result<usize, Status> {
        if let Some(bytes) = self.cached_protobuf() {
            return Ok(bytes.len());
        }
        if let Some(raw) = self.0.raw.get()
            && let Some(place) = self.0.place.or_else(|| VersionPlace::of(raw))
        {
            return Ok(place.filled_length(raw.len(), self.0.revision));
        }
        Ok(self.protobuf()?.len())
    }

    fn cached_protobuf(&self) -> Option<&Bytes> {
        self.0.forms.get()?.protobuf.get()?.as_ref().ok()
    }
}
