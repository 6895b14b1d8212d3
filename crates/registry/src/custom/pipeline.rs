//! `Pipeline`: the steps between the JSON of a custom object and its use, for one version.
//!
//! The order is upstream's. A request body is parsed, pruned and defaulted in its own version. A
//! stored object is parsed, pruned and defaulted in the version it is stored in, then converted to
//! the requested version, and pruned there. A written object is converted to the storage version
//! and pruned there; defaults are not added on this way.
//!
//! Schemas are not enforced yet, so no step changes anything. An object that needs no step and no
//! conversion is served from its stored form, without decoding.

use kubist_api::Kind;
use kubist_apimachinery::CustomObject;

/// The steps for the objects of one version of a definition.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    /// The version.
    pub(crate) kind: &'static Kind,
}

#[expect(
    clippy::unused_self,
    clippy::needless_pass_by_ref_mut,
    reason = "the schema of the version will decide"
)]
impl Pipeline {
    /// Reports whether the steps of a read change nothing, whatever the object.
    pub(crate) fn reads_unchanged(&self) -> bool {
        true
    }

    /// Completes an object that was read from storage in this version, before any conversion:
    /// prunes it, then sets defaults.
    pub(crate) fn read(&self, object: &mut CustomObject) {
        let _ = object;
    }

    /// Completes an object that was converted to this version: prunes it.
    pub(crate) fn converted(&self, object: &mut CustomObject) {
        let _ = object;
    }
}
