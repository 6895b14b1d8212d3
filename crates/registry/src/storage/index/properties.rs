//! `PropertyReader`: reads the labels and the indexed fields of stored objects.
//!
//! Objects are not decoded for it, except those that are stored in another form than the bare
//! protobuf message.

use super::postings::Property;
use crate::storage::predicate::wanted::Origin;
use crate::stored::codec::StoredCodec;
use crate::strategy::object_fields::text_at;
use kubist_apimachinery::wire::{DecodeContext, Encoding, ScalarField};
use kubist_storage::KeyValue;
use std::borrow::Cow;
use std::sync::Arc;

/// Reads the properties of the objects of one resource.
#[derive(Debug)]
pub(super) struct PropertyReader {
    codec: StoredCodec,
    fields: Vec<(&'static str, ScalarField)>,
}

impl PropertyReader {
    /// Creates a reader. Fields that the kind does not have as scalars are left out.
    pub(super) fn new(codec: StoredCodec, fields: &[&'static str]) -> Self {
        let schema = codec.kind().kind.schema();
        let resolved = fields.iter().filter_map(|field| {
            let resolved = ScalarField::new(schema, field).ok()?;
            Some((*field, resolved))
        });
        Self {
            fields: resolved.collect(),
            codec,
        }
    }

    /// Reports whether stored values may be read ahead of a request: encrypted ones may not, and
    /// whether those can be read changes with the keys.
    pub(super) fn may_read(&self) -> bool {
        self.codec.is_plain()
    }

    /// Reports whether a field is indexed.
    pub(super) fn has_field(&self, field: &str) -> bool {
        self.fields.iter().any(|it| it.0 == field)
    }

    /// Reads the properties of an object; `None` if it is unreadable.
    pub(super) fn read<T>(
        &self,
        kv: &Arc<KeyValue>,
        cx: &mut DecodeContext,
        take: impl FnOnce(Option<&[Property<'_>]>) -> T,
    ) -> T {
        let stored = self.codec.stored_uncached(kv);
        let is_new = !stored.is_sound();
        if stored.failure().or_else(|| stored.check(cx)).is_some() {
            return take(None);
        }
        if is_new && stored.is_as_stored() {
            self.codec.note(kv);
        }
        let mut values: Vec<(&str, Cow<'_, str>)> = Vec::with_capacity(self.fields.len());
        if !self.fields.is_empty() {
            if stored.is_as_stored()
                && let Ok(raw) = stored.raw()
            {
                let found = self.fields.iter();
                values.extend(found.map(|(name, it)| (*name, it.find(raw, Encoding::Protobuf))));
            } else if let Ok(object) = stored.object() {
                let found = self.fields.iter();
                values.extend(found.map(|(name, _)| (*name, text_at(&**object, name))));
            } else {
                return take(None);
            }
        }
        let mut take = Some(take);
        let read = stored.with_labels(|_, labels| {
            let mut all: Vec<Property<'_>> = Vec::new();
            all.extend(labels.iter().map(|(name, value)| Property {
                origin: Origin::Label,
                name,
                value,
            }));
            all.extend(values.iter().map(|(name, value)| Property {
                origin: Origin::Field,
                name,
                value,
            }));
            take.take().map(|take| take(Some(&all)))
        });
        match (read, take) {
            (Ok(Some(taken)), _) => taken,
            (_, Some(take)) => take(None),
            (_, None) => unreachable!("it was taken with a result"),
        }
    }
}
