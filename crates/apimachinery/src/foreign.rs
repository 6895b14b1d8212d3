//! Support for types of k8s-openapi and kube: they work in caches, informers and the client,
//! without a wrapper.
//!
//! The feature `k8s-openapi` adds its types. The feature `kube` adds every type with kube's
//! `Resource` and a kind known at compile time: custom resources, and structs that inherit a kind.
//!
//! They have no protobuf form, so servers are asked for JSON; and no schema, so encoded objects,
//! field indexes and projections do not work with them.

use crate::wire::{
    Bytes, DecodeContext, Encode, EncodeError, Encoding, Ingest, WireError, WireErrorKind,
};
use crate::{
    ApiResource, ClusterScoped, Finalizers, Generation, HasMetadata, KeyValues, LAST_APPLIED,
    Namespaced, Object, Owner, OwnerReferences, OwnerSource, Owners, Resource, ResourceFacts,
    Scope,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// An object with k8s-openapi's metadata whose kind is known at compile time. The features
/// implement it; do not implement it by hand.
pub trait ForeignObject: Send + Sync + 'static {
    /// The scope.
    type Scope: Scope;
    /// Returns its metadata.
    fn foreign_meta(&self) -> &ObjectMeta;
    /// Returns its metadata for changes.
    fn foreign_meta_mut(&mut self) -> &mut ObjectMeta;
    /// Its kind.
    fn foreign_resource() -> ApiResource;
}

/// Conversion of the other crates' scopes.
pub trait ForeignScope {
    /// The scope.
    type Scope: Scope;
}

impl ForeignScope for k8s_openapi::NamespaceResourceScope {
    type Scope = Namespaced;
}

impl ForeignScope for k8s_openapi::ClusterResourceScope {
    type Scope = ClusterScoped;
}

fn resource<S: Scope>(group: &str, version: &str, kind: &str, plural: &str) -> ApiResource {
    ApiResource {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
        plural: plural.into(),
        singular: kind.to_lowercase().into(),
        namespaced: S::NAMESPACED,
    }
}

/// kube implements its `Resource` for k8s-openapi's types too, so this covers both.
#[cfg(feature = "kube")]
impl<K> ForeignObject for K
where
    K: kube_core::Resource<DynamicType = (), Scope: ForeignScope> + Send + Sync + 'static,
{
    type Scope = <<K as kube_core::Resource>::Scope as ForeignScope>::Scope;

    fn foreign_meta(&self) -> &ObjectMeta {
        self.meta()
    }
    fn foreign_meta_mut(&mut self) -> &mut ObjectMeta {
        self.meta_mut()
    }
    fn foreign_resource() -> ApiResource {
        resource::<Self::Scope>(
            &K::group(&()),
            &K::version(&()),
            &K::kind(&()),
            &K::plural(&()),
        )
    }
}

#[cfg(not(feature = "kube"))]
impl<K> ForeignObject for K
where
    K: k8s_openapi::Metadata<Ty = ObjectMeta> + Send + Sync + 'static,
    <K as k8s_openapi::Resource>::Scope: ForeignScope,
{
    type Scope = <<K as k8s_openapi::Resource>::Scope as ForeignScope>::Scope;

    fn foreign_meta(&self) -> &ObjectMeta {
        self.metadata()
    }
    fn foreign_meta_mut(&mut self) -> &mut ObjectMeta {
        self.metadata_mut()
    }
    fn foreign_resource() -> ApiResource {
        resource::<Self::Scope>(K::GROUP, K::VERSION, K::KIND, K::URL_PATH_SEGMENT)
    }
}

/// The kind of a foreign type, for [`Ingest::Kind`].
#[derive(Debug)]
pub struct ForeignKind<K>(PhantomData<fn() -> K>);

impl<K: ForeignObject> ResourceFacts for ForeignKind<K> {
    type Scope = K::Scope;

    fn api_resource() -> ApiResource {
        K::foreign_resource()
    }
}

impl<K: ForeignObject> Object for K {
    fn name(&self) -> &str {
        self.foreign_meta().name.as_deref().unwrap_or_default()
    }
    fn namespace(&self) -> &str {
        self.foreign_meta().namespace.as_deref().unwrap_or_default()
    }
    fn uid(&self) -> &str {
        self.foreign_meta().uid.as_deref().unwrap_or_default()
    }
    fn resource_version(&self) -> &str {
        let version = &self.foreign_meta().resource_version;
        version.as_deref().unwrap_or_default()
    }
    fn labels(&self) -> KeyValues<'_> {
        let labels = &self.foreign_meta().labels;
        labels.as_ref().map_or(KeyValues::Empty, KeyValues::Strings)
    }
    fn annotations(&self) -> KeyValues<'_> {
        let annotations = &self.foreign_meta().annotations;
        annotations
            .as_ref()
            .map_or(KeyValues::Empty, KeyValues::Strings)
    }
    fn owners(&self) -> Owners<'_> {
        match &self.foreign_meta().owner_references {
            Some(owners) => Owners::Dyn(owners),
            None => Owners::List(&[]),
        }
    }
    fn is_terminating(&self) -> bool {
        self.foreign_meta().deletion_timestamp.is_some()
    }
}

impl<K: ForeignObject> Generation for K {
    fn generation(&self) -> i64 {
        self.foreign_meta().generation.unwrap_or(0)
    }
}

impl<K: ForeignObject> HasMetadata for K {
    type Metadata = ObjectMeta;

    fn object_metadata(&self) -> &ObjectMeta {
        self.foreign_meta()
    }
    fn object_metadata_mut(&mut self) -> &mut ObjectMeta {
        self.foreign_meta_mut()
    }
}

impl OwnerReferences for ObjectMeta {
    fn owner_references(&self) -> Vec<crate::OwnerReference> {
        let owners = self.owner_references.iter().flatten();
        let ours = owners.map(|it| crate::OwnerReference {
            api_version: it.api_version.as_str().into(),
            kind: it.kind.as_str().into(),
            name: it.name.as_str().into(),
            uid: it.uid.as_str().into(),
            controller: it.controller,
            block_owner_deletion: it.block_owner_deletion,
        });
        ours.collect()
    }

    fn set_owner_references(&mut self, owners: Vec<crate::OwnerReference>) {
        let theirs = owners.into_iter().map(|it| OwnerReference {
            api_version: it.api_version.to_string(),
            kind: it.kind.to_string(),
            name: it.name.to_string(),
            uid: it.uid.to_string(),
            controller: it.controller,
            block_owner_deletion: it.block_owner_deletion,
        });
        let theirs: Vec<_> = theirs.collect();
        self.owner_references = (!theirs.is_empty()).then_some(theirs);
    }
}

impl Finalizers for ObjectMeta {
    fn finalizer_names(&self) -> Vec<&str> {
        let finalizers = self.finalizers.iter().flatten();
        finalizers.map(String::as_str).collect()
    }

    fn has_finalizer(&self, name: &str) -> bool {
        let finalizers = self.finalizers.iter().flatten();
        finalizers.into_iter().any(|it| it == name)
    }

    fn add_finalizer(&mut self, name: &str) {
        let finalizers = self.finalizers.get_or_insert_default();
        finalizers.push(name.to_owned());
    }

    fn remove_finalizer(&mut self, name: &str) {
        if let Some(finalizers) = &mut self.finalizers {
            finalizers.retain(|it| it != name);
        }
    }

    fn is_being_deleted(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

impl OwnerSource for Vec<OwnerReference> {
    fn owner(&self, index: usize) -> Option<Owner<'_>> {
        self.get(index).map(|owner| Owner {
            api_version: &owner.api_version,
            kind: &owner.kind,
            name: &owner.name,
            uid: &owner.uid,
            controller: owner.controller == Some(true),
        })
    }
}

/// JSON only.
impl<K: ForeignObject + DeserializeOwned> Ingest for K {
    type Kind = ForeignKind<K>;
    const PROTOBUF: bool = false;

    fn ingest(bytes: Bytes, encoding: Encoding, cx: &mut DecodeContext) -> Result<Self, WireError> {
        let (length, max) = (bytes.len(), cx.limits().bytes_max);
        if length > max {
            return Err(WireErrorKind::TooLong { length, max }.into());
        }
        if encoding != Encoding::Json {
            let reason = "protobuf for a type that reads JSON alone".to_owned();
            return Err(WireErrorKind::Invalid { reason }.into());
        }
        serde_json::from_slice(&bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let mut reason = error.to_string();
            if let Some(end) = reason.rfind(" at line ") {
                reason.truncate(end);
            }
            WireErrorKind::Syntax {
                reason,
                line,
                column,
            }
            .into()
        })
    }

    fn drop_managed_fields(&mut self) {
        let meta = self.foreign_meta_mut();
        meta.managed_fields = None;
        if let Some(annotations) = &mut meta.annotations {
            annotations.remove(LAST_APPLIED);
            if annotations.is_empty() {
                meta.annotations = None;
            }
        }
    }
}

/// Adds `apiVersion` and `kind` where the type does not write them itself.
impl<K: ForeignObject + Serialize> Encode for K {
    const PROTOBUF: bool = false;

    fn encode(&self, _encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
        let serde_json::Value::Object(mut object) = serde_json::to_value(self)? else {
            return Err(EncodeError {
                reason: "its JSON form is no object".to_owned(),
            });
        };
        let resource = K::foreign_resource();
        let version = resource.group_version().to_string();
        object.entry("apiVersion").or_insert(version.into());
        object
            .entry("kind")
            .or_insert(resource.kind.as_str().into());
        Ok(serde_json::to_vec(&object)?)
    }
}

/// The constants of k8s-openapi, which kube's own types lack.
impl<K> Resource for K
where
    K: ForeignObject
        + k8s_openapi::ListableResource
        + k8s_openapi::Metadata<Ty = ObjectMeta>
        + k8s_openapi::Resource<Scope: ForeignScope>,
{
    const GROUP: &'static str = <K as k8s_openapi::Resource>::GROUP;
    const VERSION: &'static str = <K as k8s_openapi::Resource>::VERSION;
    const KIND: &'static str = <K as k8s_openapi::Resource>::KIND;
    const LIST_KIND: &'static str = <K as k8s_openapi::ListableResource>::LIST_KIND;
    const PLURAL: &'static str = <K as k8s_openapi::Resource>::URL_PATH_SEGMENT;
    const SINGULAR: &'static str = Lower::<K>::TEXT;
    const API_VERSION: &'static str = <K as k8s_openapi::Resource>::API_VERSION;
    type Scope = <<K as k8s_openapi::Resource>::Scope as ForeignScope>::Scope;
}

/// The longest kind name; a longer one does not compile.
const KIND_LENGTH_MAX: usize = 64;

/// Converts a kind name to lower case at compile time.
struct Lower<K>(PhantomData<K>);

impl<K: k8s_openapi::Resource> Lower<K> {
    const BYTES: [u8; KIND_LENGTH_MAX] = {
        let kind = K::KIND.as_bytes();
        let mut bytes = [0; KIND_LENGTH_MAX];
        let mut i = 0;
        while i < kind.len() {
            bytes[i] = kind[i].to_ascii_lowercase();
            i += 1;
        }
        bytes
    };

    const TEXT: &'static str = match std::str::from_utf8(Self::BYTES.split_at(K::KIND.len()).0) {
        Ok(text) => text,
        Err(_) => "",
    };
}
