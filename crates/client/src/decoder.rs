//! `Decoder`: makes the objects of one list or watch.
//!
//! An item that is no object is reported with its name, as far as that can be read; it is not the
//! end of the stream that it came in.

use std::sync::Arc;

use bytes::Bytes;
use kubist_apimachinery::wire::{
    DecodeContext, Encoding, Interner, WireError, WireErrorKind, scan,
};
use kubist_apimachinery::{ApiResource, Object, Str};
use kubist_cache::InvalidItem;
use parking_lot::Mutex;

use crate::endpoint::Form;

/// A decode context that the lists and watches of one informer share, so that strings which repeat
/// are the same in all of them. Locked while one batch is made, never across an await.
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
        // A second handle, because the bytes are gone once they were tried.
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

/// Nothing can be kept under an empty name; an object of another kind usually has none.
fn no_name() -> WireError {
    WireError {
        path: "metadata.name".to_owned(),
        kind: WireErrorKind::Invalid {
            reason: "an object without a name".to_owned(),
        },
    }
}
