//! `Generation` and `Finalizers`: what controllers read and change of metadata, whosever type it
//! is.
//!
//! Built-in types, custom resources that derive kube's traits and objects held as metadata have
//! them alike. They are not all of metadata: that is each type's own.

use crate::{Object, ObjectMeta, Unstructured};

/// An object that knows the generation of its desired state.
pub trait Generation: Object {
    /// `metadata.generation`; 0 if the server counts none.
    fn generation(&self) -> i64;
}

/// Metadata with finalizers: [`ObjectMeta`], or that of k8s-openapi.
pub trait Finalizers {
    /// Whether this finalizer is on.
    fn has_finalizer(&self, name: &str) -> bool;
    /// Puts it on, as the last.
    fn add_finalizer(&mut self, name: &str);
    /// Takes it off, however often it is there.
    fn remove_finalizer(&mut self, name: &str);
    /// Whether the object is being deleted.
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
