//! `Generation` and `Finalizers`: the metadata that controllers read and change, for any type.
//!
//! Built-in types, types with kube's derive and metadata-only objects all implement them. They
//! cover no other metadata.

use crate::{Object, ObjectMeta, Unstructured};

/// An object with a generation of its desired state.
pub trait Generation: Object {
    /// Returns `metadata.generation`; 0 if the server does not count it.
    fn generation(&self) -> i64;
}

/// Metadata with finalizers: [`ObjectMeta`] or k8s-openapi's.
pub trait Finalizers {
    /// Returns the finalizers, in their order.
    fn finalizer_names(&self) -> Vec<&str>;
    /// Reports whether a finalizer is present.
    fn has_finalizer(&self, name: &str) -> bool;
    /// Appends a finalizer.
    fn add_finalizer(&mut self, name: &str);
    /// Removes every occurrence of a finalizer.
    fn remove_finalizer(&mut self, name: &str);
    /// Reports whether the object is being deleted.
    fn is_being_deleted(&self) -> bool;
}

impl Generation for ObjectMeta {
    fn generation(&self) -> i64 {
        self.generation
    }
}

impl Generation for Unstructured {
    fn generation(&self) -> i64 {
        let generation = self
            .object
            .get("metadata")
            .and_then(|it| it.get("generation"));
        generation.and_then(serde_json::Value::as_i64).unwrap_or(0)
    }
}

impl Finalizers for ObjectMeta {
    fn finalizer_names(&self) -> Vec<&str> {
        self.finalizers.iter().map(|it| &**it).collect()
    }

    fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers.iter().any(|it| **it == *name)
    }

    fn add_finalizer(&mut self, name: &str) {
        self.finalizers.push(name.into());
    }

    fn remove_finalizer(&mut self, name: &str) {
        self.finalizers.retain(|it| **it != *name);
    }

    fn is_being_deleted(&self) -> bool {
        self.is_terminating()
    }
}
