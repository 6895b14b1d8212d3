//! `UpdatedObject`: how an update makes the new object from the old one.

use kubist_apimachinery::{AnyObject, Preconditions, Status};

/// How an update makes the new object from the old one. Asked again whenever another write came
/// in between: PUT, PATCH and server-side apply are such updates.
pub trait UpdatedObject: Send + Sync {
    /// What must be true of the stored object, beyond what the new one says by its resource
    /// version. PUT demands the uid that its body names.
    fn preconditions(&self) -> Preconditions {
        Preconditions::default()
    }

    /// The new object. `old` is in the served version, with its resource version; None if there
    /// is no such object. An implementation that cannot create answers 404 then, or leaves that
    /// to the store by returning what it would have created.
    fn updated(&self, old: Option<&dyn AnyObject>) -> Result<Box<dyn AnyObject>, Status>;

    /// Whether a missing object is to be created, even if the kind's PUT does not (server-side
    /// apply).
    fn creates(&self) -> bool {
        false
    }
}

/// The update of a PUT: whatever was there, this comes instead.
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
