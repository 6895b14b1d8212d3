//! `ConversionMemo`: the conversions that the field ownership of one write needs.
//!
//! Field ownership is computed without I/O, but a conversion may call a webhook. A computation that
//! lacks a conversion notes it here and fails; the caller converts, and computes again with the
//! result. The same steps lead to the same conversions, so each round gets further.

use kubist_apimachinery::Str;
use parking_lot::Mutex;
use serde_json::Value;
use std::fmt;

/// The known and the missing conversions.
#[derive(Default)]
pub(crate) struct ConversionMemo(Mutex<Content>);

#[derive(Default)]
struct Content {
    known: Vec<(Wanted, Result<Value, String>)>,
    missing: Vec<Wanted>,
}

/// An object, and the version to convert it to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) object: Value,
    pub(crate) to: Str,
}

impl ConversionMemo {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.0.lock() = Content::default();
    }

    /// Returns a known conversion, or notes that it is missing.
    pub(crate) fn find(&self, object: &Value, to: &str) -> Option<Result<Value, String>> {
        let mut content = self.0.lock();
        let mut known = content.known.iter();
        let found = known.find(|(wanted, _)| wanted.to == *to && wanted.object == *object);
        if let Some((_, converted)) = found {
            return Some(converted.clone());
        }
        content.missing.push(Wanted {
            object: object.clone(),
            to: to.into(),
        });
        None
    }

    /// Takes the missing conversions.
    pub(crate) fn take_missing(&self) -> Vec<Wanted> {
        std::mem::take(&mut self.0.lock().missing)
    }

    /// Adds a conversion.
    pub(crate) fn add(&self, wanted: Wanted, converted: Result<Value, String>) {
        self.0.lock().known.push((wanted, converted));
    }
}

impl fmt::Debug for ConversionMemo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversionMemo").finish_non_exhaustive()
    }
}
