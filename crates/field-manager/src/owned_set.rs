//! `OwnedSet`: a field set that managers share: its text is made once, and it is adapted once to a
//! schema.

use crate::field_set::FieldSet;
use crate::fields_v1::FieldsV1Error;
use crate::schema::Schema;
use hashbrown::HashMap;
use kubist_apimachinery::Str;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// An immutable field set; clones share it.
#[derive(Clone, Default)]
pub struct OwnedSet(Arc<Shared>);

#[derive(Default)]
struct Shared {
    fields: FieldSet,
    text: OnceLock<Str>,
    /// The schema that it was last found to fit.
    fits: Mutex<Weak<Schema>>,
}

impl OwnedSet {
    /// Returns the set as `FieldsV1`. The text is made once.
    pub fn text(&self) -> Str {
        let text = self.0.text.get_or_init(|| self.0.fields.to_json().into());
        text.clone()
    }

    /// Returns the set itself.
    pub(crate) fn into_fields(self) -> FieldSet {
        match Arc::try_unwrap(self.0) {
            Ok(shared) => shared.fields,
            Err(shared) => shared.fields.clone(),
        }
    }

    /// Reports whether it is known to fit a schema.
    pub(crate) fn fits(&self, schema: &Arc<Schema>) -> bool {
        let fits = self.0.fits.lock().unwrap_or_else(PoisonError::into_inner);
        std::ptr::eq(fits.as_ptr(), Arc::as_ptr(schema))
    }

    /// Notes that it fits a schema.
    pub(crate) fn set_fits(&self, schema: &Arc<Schema>) {
        // The weak reference keeps the address from being used for another schema.
        *self.0.fits.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(schema);
    }
}

impl Deref for OwnedSet {
    type Target = FieldSet;

    fn deref(&self) -> &FieldSet {
        &self.0.fields
    }
}

impl From<FieldSet> for OwnedSet {
    fn from(fields: FieldSet) -> Self {
        Self(Arc::new(Shared {
            fields,
            ..Shared::default()
        }))
    }
}

impl PartialEq for OwnedSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.fields == other.0.fields
    }
}

impl fmt::Debug for OwnedSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fields.fmt(f)
    }
}

/// Sets that were read lately, by their text: many objects of a kind have the same.
#[derive(Default)]
pub(crate) struct SetCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    sets: HashMap<Str, OwnedSet>,
    /// The length of all texts.
    bytes: usize,
}

impl SetCache {
    /// The maximum length of all texts, in bytes. Sets take about ten times as much.
    const BYTES_MAX: usize = 64 << 10;
    /// The maximum length of a text that is kept, in bytes.
    const TEXT_BYTES_MAX: usize = 8 << 10;

    /// Reads a set.
    pub(crate) fn read(&self, text: &Str) -> Result<OwnedSet, FieldsV1Error> {
        if let Some(known) = self.lock().sets.get(text) {
            return Ok(known.clone());
        }
        let read = OwnedSet::from(FieldSet::from_json(text)?);
        if text.len() <= Self::TEXT_BYTES_MAX {
            let mut cached = self.lock();
            if cached.bytes + text.len() > Self::BYTES_MAX {
                *cached = Cached::default();
            }
            cached.bytes += text.len();
            cached.sets.insert(text.clone(), read.clone());
        }
        Ok(read)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for SetCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cached = self.lock();
        f.debug_struct("SetCache")
            .field("sets", &cached.sets.len())
            .field("bytes", &cached.bytes)
            .finish()
    }
}
