//! `ConvertStored`: converts stored objects to the version that a request is served in.
//!
//! The implementation may call other servers, so a conversion is asynchronous and can fail. Lists
//! and watches convert whole batches; no lock is held meanwhile.

use crate::stored::Stored;
use crate::strategy::BoxFuture;
use kubist_apimachinery::Status;
use std::fmt;

/// Converts stored objects to one version of their kind.
pub(crate) trait ConvertStored: fmt::Debug + Send + Sync {
    /// Returns the objects in that version, in the same order and with their resource versions.
    /// Objects that are in that version already are returned unchanged. A conversion that is
    /// already known for an object may be reused.
    ///
    /// # Errors
    /// The error for the client; none of the objects is converted.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the conversion, without other effects.
    fn convert<'a>(&'a self, objects: &'a [Stored]) -> BoxFuture<'a, Result<Vec<Stored>, Status>>;
}
