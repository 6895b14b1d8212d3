//! `Finalizer`: a name on an object that keeps it until somebody has cleaned up.
//!
//! It changes metadata in memory, ours or k8s-openapi's; writing the object is the caller's. Put it
//! on before the first thing is made that must be cleaned up, take it off after the last is gone.

use kubist_apimachinery::{Finalizers, Str};

/// The name of one finalizer, such as `example.com/bucket`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalizer {
    name: Str,
}

impl Finalizer {
    /// A finalizer of this name.
    pub fn new(name: impl Into<Str>) -> Self {
        Self { name: name.into() }
    }

    /// Its name.
    pub fn name(&self) -> &Str {
        &self.name
    }

    /// Whether it is on the object.
    pub fn is_present(&self, metadata: &impl Finalizers) -> bool {
        metadata.has_finalizer(&self.name)
    }

    /// Puts it on; says whether it was not there. On an object that is being deleted servers
    /// refuse new finalizers, so then it does nothing.
    pub fn add(&self, metadata: &mut impl Finalizers) -> bool {
        let add = !metadata.is_being_deleted() && !self.is_present(metadata);
        if add {
            metadata.add_finalizer(&self.name);
        }
        add
    }

    /// Takes it off; says whether it was there.
    pub fn remove(&self, metadata: &mut impl Finalizers) -> bool {
        let was_on = self.is_present(metadata);
        metadata.remove_finalizer(&self.name);
        was_on
    }

    /// Whether it is time to clean up: the object is being deleted, and waits for this.
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
