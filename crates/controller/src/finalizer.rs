//! `Finalizer`: a name in an object's metadata that delays its deletion until cleanup.
//!
//! It changes metadata in memory, ours or k8s-openapi's; the caller writes the object. Add the
//! finalizer before creating anything that needs cleanup, and remove it after the last of it is
//! gone.

use kubist_apimachinery::{Finalizers, Str};

/// The name of a finalizer, such as `example.com/bucket`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalizer {
    name: Str,
}

impl Finalizer {
    /// Creates a finalizer of this name.
    pub fn new(name: impl Into<Str>) -> Self {
        Self { name: name.into() }
    }

    /// Returns the name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Reports whether the object has the finalizer.
    pub fn is_present(&self, metadata: &impl Finalizers) -> bool {
        metadata.has_finalizer(&self.name)
    }

    /// Adds the finalizer and reports whether it was absent. It does nothing for an object that is
    /// being deleted, because servers reject new finalizers then.
    pub fn add(&self, metadata: &mut impl Finalizers) -> bool {
        let add = !metadata.is_being_deleted() && !self.is_present(metadata);
        if add {
            metadata.add_finalizer(&self.name);
        }
        add
    }

    /// Removes the finalizer and reports whether it was present.
    pub fn remove(&self, metadata: &mut impl Finalizers) -> bool {
        let was_on = self.is_present(metadata);
        metadata.remove_finalizer(&self.name);
        was_on
    }

    /// Reports whether the object is being deleted and waits for this finalizer.
    pub fn needs_cleanup(&self, metadata: &impl Finalizers) -> bool {
        metadata.is_being_deleted() && self.is_present(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubist_apimachinery::ObjectMeta;

    #[test]
    fn it_goes_on_once_and_is_due_when_the_object_is_deleted() {
        let finalizer = Finalizer::new("example.com/bucket");
        let mut metadata = ObjectMeta::default();
        assert!(finalizer.add(&mut metadata) && !finalizer.add(&mut metadata));
        assert!(!finalizer.needs_cleanup(&metadata));
        metadata.deletion_timestamp = Some(kubist_apimachinery::Time::from_unix(1));
        assert!(finalizer.needs_cleanup(&metadata));
        assert!(finalizer.remove(&mut metadata) && !finalizer.remove(&mut metadata));
        assert!(!finalizer.add(&mut metadata) && metadata.finalizers.is_empty());
    }
}
