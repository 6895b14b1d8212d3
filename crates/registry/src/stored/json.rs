//! The JSON of a stored object: written from its protobuf where that can be, else by decoding it.

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
    /// What writing JSON needs beside the JSON: an object's bytes with their version, and the
    /// transcoder's own memory.
    static TRANSCODING: RefCell<(Vec<u8>, Transcoder)> = RefCell::default();
}

/// Memory for the bytes of an object that a thread keeps.
const KEPT_BYTES_MAX: usize = 64 << 10;

impl Stored {
    /// JSON as items of lists are written: without `kind` and `apiVersion`, which only custom
    /// objects say there.
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

    /// Appends what [`json_item`](Self::json_item) returns. It is kept only if somebody else holds
    /// this object too, and so may ask for it: large lists are written once.
    pub fn push_json(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        let made = self.0.forms.get().is_some_and(|it| it.json.get().is_some());
        if !made && Arc::strong_count(&self.0) == 1 && self.transcode(out) {
            return Ok(());
        }
        out.extend_from_slice(self.json_item()?);
        Ok(())
    }

    /// Appends the JSON to `out`, made of the protobuf without decoding it. False, with nothing
    /// appended, where decoding has to do it.
    fn transcode(&self, out: &mut Vec<u8>) -> bool {
        let StoredKind { kind, scheme } = self.0.kind;
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

    /// What comes before [`json_tail`](Self::json_tail) in the JSON of the object alone:
    /// `{"kind":…,"apiVersion":…,`, as far as the tail does not have it.
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

    /// The JSON of the object after its `kind` and `apiVersion`; a slice of
    /// [`json_item`](Self::json_item).
    pub fn json_tail(&self) -> Result<Bytes, Status> {
        // Every kind with metadata writes it, so there is something after the brace.
        Ok(self.json_item()?.slice(1..))
    }

    /// The JSON of the object alone.
    pub fn json(&self) -> Result<Vec<u8>, Status> {
        let tail = self.json_tail()?;
        let mut json = self.json_head().into_bytes();
        json.extend_from_slice(&tail);
        Ok(json)
    }
}
