//! `StoredObject`: one version of an object, as its bytes in the store.
//!
//! The tree is made when somebody asks for it, and shared by all worlds that hold this version.

use crate::story::title;
use bytes::Bytes;
use kubist::api::find_kind_by_api_version;
use kubist::apimachinery::wire::{DecodeContext, Encoding, merge_protobuf, scan, to_json_value};
use kubist::apimachinery::{GroupKind, ObjectName};
use kubist::codec::envelope::Envelope;
use kubist::storage::KeyValue;
use serde_json::{Map, Value};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// The first bytes of a stored protobuf object.
const PROTOBUF: &[u8] = b"k8s\0";

/// One version of an object.
#[derive(Debug)]
pub(crate) struct StoredObject {
    pub(crate) kind: GroupKind,
    pub(crate) name: ObjectName,
    pub(crate) revision: u64,
    value: Bytes,
    tree: OnceLock<Value>,
    typed: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl StoredObject {
    /// Reads the kind and the name of a stored value. None for what is no object, such as the
    /// allocation of addresses.
    pub(crate) fn read(kv: &KeyValue) -> Option<Self> {
        let (api_version, kind, name) = if kv.value.starts_with(PROTOBUF) {
            let envelope = Envelope::open(&kv.value).ok()?;
            let name = scan::name_in(envelope.raw, Encoding::Protobuf)?;
            (
                envelope.api_version.to_owned(),
                envelope.kind.to_owned(),
                name,
            )
        } else {
            let head: Head = serde_json::from_slice(&kv.value).ok()?;
            let name = scan::name_in(&kv.value, Encoding::Json)?;
            (head.api_version, head.kind, name)
        };
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        Some(Self {
            kind: GroupKind::new(group, kind),
            name,
            revision: kv.mod_revision.0,
            value: kv.value.clone(),
            tree: OnceLock::new(),
            typed: OnceLock::new(),
        })
    }

    /// Returns the object as a tree, with its resource version. Null if it cannot be decoded.
    pub(crate) fn tree(&self) -> &Value {
        self.tree.get_or_init(|| {
            let mut tree = self.decode().unwrap_or_default();
            if let Some(metadata) = tree.pointer_mut("/metadata").and_then(Value::as_object_mut) {
                let version = self.revision.to_string();
                metadata.insert("resourceVersion".to_owned(), version.into());
            }
            tree
        })
    }

    fn decode(&self) -> Option<Value> {
        if !self.value.starts_with(PROTOBUF) {
            return serde_json::from_slice(&self.value).ok();
        }
        let envelope = Envelope::open(&self.value).ok()?;
        let kind = find_kind_by_api_version(envelope.api_version, envelope.kind)?;
        let mut message = kind.new_message();
        merge_protobuf(&mut *message, envelope.raw, &mut DecodeContext::new()).ok()?;
        Some(to_json_value(&*message))
    }

    /// Returns the object as a type; the first type that is asked for is kept.
    pub(crate) fn typed<K>(&self) -> Option<Arc<K>>
    where
        K: serde::de::DeserializeOwned + Send + Sync + 'static,
    {
        let decode = || K::deserialize(self.tree()).ok().map(Arc::new);
        if let Some(kept) = self.typed.get() {
            return Arc::clone(kept).downcast().ok().or_else(decode);
        }
        let object = decode()?;
        // Another thread may have kept one meanwhile.
        drop(self.typed.set(Arc::clone(&object) as _));
        Some(object)
    }

    /// Returns a text in `metadata`; empty if there is none.
    pub(crate) fn metadata(&self, field: &str) -> &str {
        let metadata = self.tree().get("metadata");
        metadata
            .and_then(|it| it.get(field))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Returns `metadata.uid`.
    pub(crate) fn uid(&self) -> &str {
        self.metadata("uid")
    }

    /// Returns `metadata.ownerReferences`.
    pub(crate) fn owners(&self) -> impl Iterator<Item = &Map<String, Value>> {
        let owners = self.tree().pointer("/metadata/ownerReferences");
        let owners = owners.and_then(Value::as_array).into_iter().flatten();
        owners.filter_map(Value::as_object)
    }

    /// Returns the kind and the name: `Pod shop/web`.
    pub(crate) fn title(&self) -> String {
        title(&self.kind, &self.name)
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    api_version: String,
    kind: String,
}
