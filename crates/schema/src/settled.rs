//! Finds out from the text of an object that a read would leave it as it is, without building a
//! tree of it.
//!
//! The text is walked beside the schema, once. An answer of no only means that it is not known:
//! rare forms are left to [`prune`](crate::prune), [`remove_nulls`](crate::remove_nulls),
//! [`apply_defaults`](crate::apply_defaults) and [`coerce_metadata`](crate::coerce_metadata).

use crate::schema::{AdditionalProperties, Schema};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The members of an object that no schema changes.
const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];
/// Objects that nest more levels are left to the steps of a read.
const DEPTH_MAX: u32 = 64;

/// Reports whether the steps of a read certainly leave an object as it is: its members are sorted
/// by name, the schema specifies all of them unless `keeps_unknown_fields`, none is a null that is
/// replaced or removed, and no default is missing.
pub fn is_settled(text: &[u8], schema: &Schema, keeps_unknown_fields: bool) -> bool {
    let walk = Walk {
        schema: Some(schema),
        is_root: true,
        keeps_unknown_fields,
        depth: 0,
    };
    let mut json = serde_json::Deserializer::from_slice(text);
    walk.deserialize(&mut json).is_ok() && json.end().is_ok()
}

/// The walk over one value; without a schema, any value is left as it is.
#[derive(Clone, Copy)]
struct Walk<'a> {
    schema: Option<&'a Schema>,
    is_root: bool,
    keeps_unknown_fields: bool,
    depth: u32,
}

/// What a read does with a member.
enum Member<'a> {
    /// It keeps it unless its schema says otherwise.
    Of(Option<&'a Schema>),
    /// It may change it.
    Unsettled,
}

impl<'a> Walk<'a> {
    fn into(self, schema: Option<&'a Schema>) -> Self {
        Self {
            schema,
            is_root: false,
            depth: self.depth + 1,
            ..self
        }
    }

    fn unsettled<E: Error>() -> E {
        E::custom("a read may change it")
    }

    /// Returns what happens to a member that no property names.
    fn unnamed(self, schema: &'a Schema) -> Member<'a> {
        match &schema.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Member::Of(Some(schema)),
            None if schema.preserves_unknown_fields || self.keeps_unknown_fields => {
                Member::Of(None)
            }
            // The contents of members that a boolean allows are removed.
            Some(AdditionalProperties::Bool(_)) | None => Member::Unsettled,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a settled value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        match self.schema {
            Some(schema) if !schema.nullable => Err(Self::unsettled()),
            _ => Ok(()),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.depth > DEPTH_MAX {
            return Err(Self::unsettled());
        }
        let of_items = match self.schema {
            None => None,
            Some(schema) => match (&schema.items, schema.preserves_unknown_fields) {
                (Some(items), _) => Some(&**items),
                (None, true) => None,
                (None, false) => return Err(Self::unsettled()),
            },
        };
        while items.next_element_seed(self.into(of_items))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let is_embedded = self.schema.is_some_and(|it| it.is_embedded_resource);
        if self.depth > DEPTH_MAX || is_embedded {
            return Err(Self::unsettled());
        }
        // Both members and properties are sorted by name.
        let mut properties = self.schema.map_or(&[][..], |it| &it.properties).iter();
        let mut next = properties.next();
        let mut last = String::new();
        let mut is_first = true;
        while members
            .next_key_seed(Name(&mut last, &mut is_first))?
            .is_some()
        {
            let Some(schema) = self.schema else {
                members.next_value_seed(self.into(None))?;
                continue;
            };
            while let Some((other, property)) = next
                && other.as_str() < last.as_str()
            {
                if property.default.is_some() {
                    return Err(Self::unsettled());
                }
                next = properties.next();
            }
            let of_member = match next {
                Some((other, property)) if *other == *last => {
                    next = properties.next();
                    Member::Of(Some(property))
                }
                _ => self.unnamed(schema),
            };
            if self.is_root && META_FIELDS.contains(&last.as_str()) {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            match of_member {
                Member::Of(schema) => members.next_value_seed(self.into(schema))?,
                Member::Unsettled => return Err(Self::unsettled()),
            }
        }
        let has_default = |it: &Schema| it.default.is_some();
        if next.is_some_and(|(_, it)| has_default(it)) || properties.any(|(_, it)| has_default(it))
        {
            return Err(Self::unsettled());
        }
        Ok(())
    }
}

/// Reads the name of a member into a buffer that has the one before it, which must be less.
struct Name<'a>(&'a mut String, &'a mut bool);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name after the one before")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        if !*self.1 && self.0.as_str() >= name {
            return Err(E::custom("the members are not sorted"));
        }
        *self.1 = false;
        self.0.clear();
        self.0.push_str(name);
        Ok(())
    }
}
