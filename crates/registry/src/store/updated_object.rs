//! `UpdatedObject`: computes the new object of an update from the old one.

use kubist_apimachinery::{AnyObject, Preconditions, Status};

/// Computes the new object of an update from the old one. Called again after each concurrent write.
/// PUT, PATCH and server-side apply are such updates.
pub trait UpdatedObject: Send + Sync {
    /// Returns the preconditions on the stored object, beyond the resource version of the new one.
    /// PUT requires the uid in its body.
    fn preconditions(&self) -> Preconditions {
        Preconditions::default()
    }

    /// Returns the new object. `old` is in the served version, with its resource version; `None` if
    /// the object does not exist. In that case, an implementation that cannot create returns 404,
    /// or leaves the decision to the store by returning the object that it would create.
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status>;

    /// Reports whether the new object comes with its managed fields (server-side apply). Those of
    /// other updates are computed from what they change.
    fn has_managers(&self) -> bool {
        false
    }

    /// Reports whether a missing object is created, even if the kind's PUT does not create
    /// (server-side apply).
    fn creates(&self) -> bool {
        false
    }
}

/// The update of a PUT: replaces the object, whatever its state.
#[derive(Debug)]
pub struct Replacement(pub Box<dyn AnyObject>);

impl UpdatedObject for Replacement {
    fn preconditions(&self) -> Preconditions {
        let uid = &self.0.meta().uid;
        Preconditions {
            uid: (!uid.is_empty()).then(|| uid.clone()),
            resource_version: None,
        }
    }

    fn updated(&self, _old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status> {
        Ok(self.0.boxed_clone())
    }
}
