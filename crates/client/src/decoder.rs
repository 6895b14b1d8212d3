//! `Decoder`: decodes the objects of one list or watch.
//!
//! An item that cannot be decoded is reported with its name, as far as that can be read, and does
//! not end the stream.

use crate::endpoint::Form;
use bytes::Bytes;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, Interner, WireError, WireErrorKind, scan,
};
use kubist_apimachinery::{ApiResource, Object, Str};
use kubist_cache::InvalidItem;
use parking_lot::Mutex;
use std::sync::Arc;

/// A decode context shared by the lists and watches of one informer, so that they share repeated
/// strings. It is locked while one batch is decoded, never across an await.
#[derive(Clone, Debug)]
pub(crate) struct SharedContext(Arc<Mutex<DecodeContext>>);

impl SharedContext {
    pub(crate) fn new() -> Self {
        let cx = DecodeContext::new().with_interner(Interner::default());
        Self(Arc::new(Mutex::new(cx)))
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, DecodeContext> {
        self.0.lock()
    }
}

pub(crate) struct Decoder<K> {
    pub(crate) form: Form<K>,
    pub(crate) kind: Arc<ApiResource>,
    pub(crate) cx: SharedContext,
    /// Method and path, for errors.
    pub(crate) request: Str,
}

impl<K: Object> Decoder<K> {
    pub(crate) fn object(
        &self,
        bytes: Bytes,
        encoding: Encoding,
        cx: &mut DecodeContext,
    ) -> Result<K, InvalidItem> {
        // A second handle: decoding consumes the bytes.
        let copy = bytes.clone();
        let object = (self.form.decode)(bytes, encoding, &self.kind, cx);
        let object = object.and_then(|object| {
            if object.name().is_empty() {
                Err(no_name())
            } else {
                Ok(object)
            }
        });
        object.map_err(|error| InvalidItem {
            name: scan::name_in(&copy, encoding),
            error,
        })
    }
}

/// An object without a name cannot be stored; usually it is of another kind.
fn no_name() -> WireError {
    WireError {
        path: "metadata.name".to_owned(),
        kind: WireErrorKind::Invalid {
            reason: "an object without a name".to_owned(),
        },
    }
}
