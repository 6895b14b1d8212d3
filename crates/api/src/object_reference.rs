//! References to objects of any kind.

use crate::core::v1::ObjectReference;
use kubist_apimachinery::wire::Ingest;
use kubist_apimachinery::{ApiResource, Object};

impl ObjectReference {
    /// Returns a reference to an object, in whatever form: a built-in type, an encoded object, a
    /// projection, metadata alone, or a type of k8s-openapi or kube. client-go's
    /// `reference.GetReference`.
    ///
    /// ```
    /// # use kubist_api::core::v1::{ObjectReference, Pod};
    /// let mut pod = Pod::default();
    /// pod.metadata.name = "web".into();
    /// let reference = ObjectReference::of(&pod);
    /// assert_eq!((&*reference.kind, &*reference.api_version), ("Pod", "v1"));
    /// assert_eq!(reference.name, "web");
    /// ```
    pub fn of<K: Ingest>(object: &K) -> Self {
        Self::of_kind(&ApiResource::of::<K::Kind>(), object)
    }

    /// Returns a reference to an object of a kind that is known at run time.
    pub fn of_kind(kind: &ApiResource, object: &impl Object) -> Self {
        Self {
            kind: kind.kind.clone(),
            namespace: object.namespace().into(),
            name: object.name().into(),
            uid: object.uid().into(),
            api_version: kind.group_version().to_string().into(),
            resource_version: object.resource_version().into(),
            ..Self::default()
        }
    }
}
