//! A transformer that marks its values, with a switch to report stored values as stale.

use bytes::Bytes;
use kubist_registry::transformer::{TransformError, Transformed, Transformer};
use std::sync::atomic::{AtomicBool, Ordering};

const MARK: &[u8] = b"mark!";

/// A transformer that marks its values. Values without the mark cannot be read.
#[derive(Debug, Default)]
pub(crate) struct Marked {
    stale: AtomicBool,
}

impl Marked {
    pub(crate) fn set_stale(&self, stale: bool) {
        self.stale.store(stale, Ordering::Relaxed);
    }
}

/// Returns a value with the mark.
pub(crate) fn marked(value: &[u8]) -> Vec<u8> {
    [MARK, value].concat()
}

impl Transformer for Marked {
    fn seal(&self, value: Bytes, _key: &[u8]) -> Result<Bytes, TransformError> {
        Ok(marked(&value).into())
    }

    fn open(&self, value: &Bytes, _key: &[u8]) -> Result<Transformed, TransformError> {
        if !value.starts_with(MARK) {
            return Err(TransformError::UnknownForm);
        }
        Ok(Transformed {
            value: value.slice(MARK.len()..),
            stale: self.stale.load(Ordering::Relaxed),
        })
    }
}
