//! `Messages`: upstream's messages about text that is not a JSON patch.

use super::super::{PatchError, Reading};
use kubist_apimachinery::json_type;
use serde_json::Value;

/// Upstream's messages, which name the Go type being decoded.
#[derive(Clone, Copy)]
pub(super) struct Messages(pub(super) Reading);

impl Messages {
    pub(super) fn refuse(self, reason: String) -> PatchError {
        match self.0 {
            // For a number that is too large Go names the field, which is always this one.
            Reading::Checked => super::super::decoding(reason.replace(
                "Go value of type float64",
                "Go struct field jsonPatchOp.value of type float64",
            )),
            Reading::Loose => PatchError::Malformed { reason },
        }
    }

    /// Returns the error for JSON of a wrong type.
    pub(super) fn mismatch(self, found: &Value, wanted: &str) -> PatchError {
        let found = json_type(found);
        self.refuse(format!("json: cannot unmarshal {found} into Go {wanted}"))
    }

    pub(super) fn list(self) -> &'static str {
        match self.0 {
            Reading::Checked => "value of type []handlers.jsonPatchOp",
            Reading::Loose => "value of type jsonpatch.Patch",
        }
    }

    pub(super) fn operation(self) -> &'static str {
        match self.0 {
            Reading::Checked => "value of type handlers.jsonPatchOp",
            Reading::Loose => "value of type jsonpatch.Operation",
        }
    }
}
