//! The JSON of a stored object: transcoded from its protobuf if possible, else by decoding it.

use super::Stored;
use crate::stored::scheme::StoredKind;
use crate::stored::version::VersionPlace;
use crate::stored::written_json;
use bytes::Bytes;
use kubist_apimachinery::Status;
use kubist_apimachinery::wire::Json;
use kubist_codec::transcode::Transcoder;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The buffers for writing JSON: an object's bytes with their version, and the transcoder's
    /// state.
    static TRANSCODING: RefCell<(Vec<u8>, Transcoder)> = RefCell::default();
}

/// The maximum of buffer bytes that a thread keeps.
const KEPT_BYTES_MAX: usize = 64 << 10;

impl Stored {
    /// Returns the JSON of a list item: without `kind` and `apiVersion`, except for custom objects.
    pub fn json_item(&self) -> Result<&Bytes, Status> {
        self.forms()
            .json
            .get_or_init(|| {
                let mut json = Vec::new();
                if self.transcode(&mut json) {
                    json.shrink_to_fit();
                    return Ok(json.into());
                }
                let object = self.object()?;
                let json = if self.kind().is_custom() {
                    written_json::custom_shown(&**object)
                } else {
                    serde_json::to_vec(&Json::part(&**object))
                };
                let json = json.map_err(Status::internal_error)?;
                let add_kinds = self.0.kind.scheme.add_embedded_kinds;
                Ok(add_kinds(json, &**object)?.into())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Appends the result of [`json_item`](Self::json_item). It is cached only if the object is
    /// shared, so that it may be requested again: large lists are written once.
    pub fn push_json(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        let made = self.0.forms.get().is_some_and(|it| it.json.get().is_some());
        if !made && Arc::strong_count(&self.0) == 1 && self.transcode(out) {
            return Ok(());
        }
        out.extend_from_slice(self.json_item()?);
        Ok(())
    }

    /// Appends the JSON to `out`, transcoded from the protobuf or copied from the text of a custom
    /// object, without decoding. Returns false, with nothing appended, if the object must be
    /// decoded.
    fn transcode(&self, out: &mut Vec<u8>) -> bool {
        let StoredKind { kind, scheme } = self.0.kind;
        if let Some(text) = self.text() {
            text.push(self.0.revision, out);
            return true;
        }
        let Some(raw) = self.0.raw.get() else {
            return false;
        };
        if kind.is_custom() || (scheme.embeds_kinds)(kind) {
            return false;
        }
        TRANSCODING.with_borrow_mut(|(scratch, transcoder)| {
            scratch.clear();
            let place = self.0.place.or_else(|| VersionPlace::of(raw));
            let bytes = match place {
                Some(place) => {
                    place.fill(raw, self.0.revision, scratch);
                    &scratch[..]
                }
                None => return false,
            };
            let start = out.len();
            out.reserve(2 * bytes.len());
            let written = transcoder.transcode(kind.schema(), bytes, out).is_ok();
            if !written {
                out.truncate(start);
            }
            if scratch.capacity() > KEPT_BYTES_MAX {
                *scratch = Vec::new();
            }
            written
        })
    }

    /// Returns the JSON before [`json_tail`](Self::json_tail) for a single object:
    /// `{"kind":…,"apiVersion":…,`, as far as the tail does not contain it.
    pub fn json_head(&self) -> String {
        if self.kind().is_custom() {
            return "{".to_owned();
        }
        let facts = self.kind().facts();
        format!(
            "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",",
            facts.kind, facts.api_version
        )
    }

    /// Returns the JSON of the object after `kind` and `apiVersion`; a slice of
    /// [`json_item`](Self::json_item).
    pub fn json_tail(&self) -> Result<Bytes, Status> {
        // Every kind with metadata writes it, so the object is not empty.
        Ok(self.json_item()?.slice(1..))
    }

    /// Returns the JSON of a single object.
    pub fn json(&self) -> Result<Vec<u8>, Status> {
        let tail = self.json_tail()?;
        let mut json = self.json_head().into_bytes();
        json.extend_from_slice(&tail);
        Ok(json)
    }
}
